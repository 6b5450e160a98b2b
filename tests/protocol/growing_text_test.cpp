// SPDX-License-Identifier: BSL-1.0

#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/growing_text.hpp>

#include <string>
#include <utility>
#include <vector>

using thalweg::growing_text;
using thalweg::text;

TEST_CASE("a look at a growing text never changes, whatever comes later") {
    growing_text grows;
    std::string whole;
    std::vector<std::pair<text, std::string>> looks;
    for (int i = 0; i < 2000; ++i) {
        const std::string piece(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26));
        grows.append(piece);
        whole += piece;
        looks.emplace_back(grows.look(), whole);
    }
    for (const auto& [look, expected] : looks) {
        CHECK(look == expected);
        CHECK(look.empty() == expected.empty());
    }
    CHECK(grows.size() == whole.size());
}

TEST_CASE("clearing a growing text does not touch what was looked at") {
    growing_text grows;
    grows.append("a text that is too long to lie in a text object");
    const text kept = grows.look();
    grows.clear();
    CHECK(grows.look().empty());
    grows.append("another one that is also too long to lie inside");
    CHECK(kept == "a text that is too long to lie in a text object");
    CHECK(grows.look() == "another one that is also too long to lie inside");
}

TEST_CASE("a growing text allocates a few times for thousands of pieces, however many looks are kept") {
    growing_text grows;
    std::vector<text> looks;
    looks.reserve(10'000);
    const std::size_t allocations = thalweg::testing::allocations_of([&] {
        for (int i = 0; i < 10'000; ++i) {
            grows.append("four");
            looks.push_back(grows.look());
        }
    });
    CHECK(looks.back().size() == 40'000);
    if (thalweg::testing::allocations_are_counted) CHECK(allocations <= 12);
}

TEST_CASE("a block that nobody looks at is used again") {
    growing_text grows;
    grows.append(std::string(200, 'x'));
    grows.clear();
    const std::size_t allocations = thalweg::testing::allocations_of(
        [&] { grows.append(std::string_view("again, and long enough to matter")); });
    if (thalweg::testing::allocations_are_counted) CHECK(allocations == 0);
    CHECK(grows.look() == "again, and long enough to matter");
}

TEST_CASE("a look that is brought up to date is the text so far, whatever it was before") {
    growing_text grows;
    growing_text other;
    other.append("something else that is long enough to be shared");
    text seen = other.look();
    text early;
    for (int i = 0; i < 200; ++i) {
        grows.append("piece ");
        if (i == 20) early = grows.look();
        grows.look_into(seen);
        CHECK(seen == grows.look());
        const text copy = seen;
        seen = early;
        CHECK(seen == early);
        seen = copy;
    }
    CHECK(early.size() == 21 * 6);
    CHECK(other.look() == "something else that is long enough to be shared");
}
