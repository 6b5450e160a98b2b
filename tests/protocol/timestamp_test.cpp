// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/timestamp.hpp>

#include <random>
#include <string>

namespace {

std::string formatted(std::int64_t ms) {
    std::string out(thalweg::timestamp_length, '?');
    thalweg::format_timestamp(out.data(), ms);
    return out;
}

} // namespace

TEST_CASE("instants have one written form") {
    CHECK(formatted(0) == "1970-01-01T00:00:00.000Z");
    CHECK(formatted(1) == "1970-01-01T00:00:00.001Z");
    CHECK(formatted(951827696789) == "2000-02-29T12:34:56.789Z");
    CHECK(formatted(253402300799999) == "9999-12-31T23:59:59.999Z");
}

TEST_CASE("every written instant is read back") {
    std::mt19937_64 random(7);
    for (int i = 0; i < 10000; ++i) {
        const auto ms = static_cast<std::int64_t>(random() % 253402300800000);
        REQUIRE(thalweg::parse_timestamp(formatted(ms)) == ms);
    }
}

TEST_CASE("other forms of time are refused") {
    for (const auto written :
         {"", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000+00:00", "2024-01-01 00:00:00.000Z",
          "2024-01-01T00:00:00.000z", "2024-13-01T00:00:00.000Z", "2023-02-29T00:00:00.000Z",
          "2024-00-10T00:00:00.000Z", "2024-01-01T24:00:00.000Z", "2024-01-01T00:60:00.000Z",
          "2024-01-01T00:00:60.000Z", "2024-01-01T00:00:00.00Z", "+024-01-01T00:00:00.000Z",
          "2024-01-01T00:00:00.0000Z", " 2024-01-01T00:00:00.00Z"}) {
        INFO(written);
        CHECK_FALSE(thalweg::parse_timestamp(written));
    }
}
