// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace std::string_view_literals;
namespace utf8 = thalweg::utf8;

namespace {

#define FFFD "\xef\xbf\xbd"

struct repair_case {
    std::string_view bytes;
    std::string_view repaired;
};

const std::vector<repair_case> repair_cases = {
    {"", ""},
    {"plain", "plain"},
    {"\x00 NUL stays"sv, "\x00 NUL stays"sv},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, // the last code point
    {"\x80", FFFD},                           // continuation alone
    {"a\xff"
     "b",
     "a" FFFD "b"},                            // no lead byte
    {"\xc0\xaf", FFFD FFFD},                   // overlong
    {"\xe0\x80\x80", FFFD FFFD FFFD},          // overlong
    {"\xf0\x80\x80\x80", FFFD FFFD FFFD FFFD}, // overlong
    {"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD}, // beyond the last code point
    {"\xf5\x80", FFFD FFFD},                   // no lead byte
    {"\xe2\x82", FFFD},                        // cut short at the end: one piece
    {"\xe2\x82"
     "A",
     FFFD "A"}, // cut short by something else: one piece
    {"\xf0\x9f\x98"
     "A",
     FFFD "A"},
    {"\xf0\x9f\x98\xf0\x9f\x98\x80", FFFD "\xf0\x9f\x98\x80"},
    {"\xe2\xe2\x82\xac", FFFD "\xe2\x82\xac"},
    {"\xed\xa0\x80", FFFD}, // a surrogate is one piece
    {"x\xed\xbf\xbfy", "x" FFFD "y"},
    {"\xed\xa0"
     "A",
     FFFD FFFD "A"}, // half of one is two
    {"\xed\xa0", FFFD FFFD},
    {"\xed\x9f\xbf", "\xed\x9f\xbf"}, // the last character before them
};

std::string repair_in_pieces(std::string_view bytes, std::size_t size) {
    utf8::repairer repairer;
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += size)
        repairer.feed(bytes.substr(at, size), out);
    repairer.flush(out);
    CHECK(repairer.is_empty());
    return out;
}

// Bytes that often belong together, so that random strings hit every branch.
std::string random_bytes(std::mt19937& random) {
    static constexpr std::string_view pool[] = {"a",
                                                "\x7f",
                                                "\x80",
                                                "\xbf",
                                                "\xc2",
                                                "\xc3\xa9",
                                                "\xe0",
                                                "\xe2\x82\xac",
                                                "\xed",
                                                "\xa0",
                                                "\x9f",
                                                "\xf0",
                                                "\xf0\x9f\x98\x80",
                                                "\xf4",
                                                "\x90",
                                                "\xff"};
    std::string made;
    const auto pieces = random() % 12;
    for (unsigned i = 0; i < pieces; ++i)
        made += pool[random() % std::size(pool)];
    return made;
}

} // namespace

TEST_CASE("invalid bytes become one replacement character per maximal piece") {
    for (const auto& [bytes, repaired] : repair_cases) {
        INFO("bytes: " << Catch::Detail::stringify(bytes));
        CHECK(utf8::make_valid(bytes) == repaired);
        CHECK(utf8::is_valid(bytes) == (bytes == repaired));
        CHECK(utf8::is_valid(repaired));
    }
}

TEST_CASE("repaired text does not depend on where the bytes were cut") {
    for (const auto& [bytes, repaired] : repair_cases) {
        for (std::size_t size = 1; size <= 5; ++size)
            CHECK(repair_in_pieces(bytes, size) == repaired);
    }
    std::mt19937 random(20240607);
    for (int round = 0; round < 20000; ++round) {
        const std::string bytes = random_bytes(random);
        const std::string whole = utf8::make_valid(bytes);
        REQUIRE(utf8::is_valid(whole));
        REQUIRE(utf8::is_valid(bytes) == (whole == bytes));
        REQUIRE(repair_in_pieces(bytes, 1 + random() % 4) == whole);
    }
}

TEST_CASE("a repairer holds an unfinished character back and nothing else") {
    utf8::repairer repairer;
    std::string out;
    repairer.feed("price: \xe2\x82", out);
    CHECK(out == "price: ");
    CHECK_FALSE(repairer.is_empty());
    repairer.feed("\xac!", out);
    CHECK(out == "price: \xe2\x82\xac!");
    CHECK(repairer.is_empty());
    repairer.feed("\xf0", out);
    repairer.flush(out);
    CHECK(out == "price: \xe2\x82\xac!" FFFD);
}

TEST_CASE("the valid prefix ends at the first broken sequence") {
    CHECK(utf8::valid_prefix("abc") == 3);
    CHECK(utf8::valid_prefix("ab\xff") == 2);
    CHECK(utf8::valid_prefix("\xc3\xa9\xe2\x82") == 2);
    CHECK(utf8::valid_prefix("ab\xed\xa0\x80") == 2);
}

TEST_CASE("a cut character is told from a broken one") {
    CHECK(utf8::is_cut_short("ab\xe2\x82"));
    CHECK(utf8::is_cut_short("\xf0"));
    CHECK_FALSE(utf8::is_cut_short("whole"));
    CHECK_FALSE(utf8::is_cut_short("ab\xff"));
    CHECK_FALSE(utf8::is_cut_short("ab\xed\xa0"));
    CHECK_FALSE(utf8::is_cut_short("\xff\xe2\x82"));
}

TEST_CASE("text is counted and cut in code points") {
    const std::string_view text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    CHECK(utf8::count(text) == 4);
    CHECK(utf8::count("") == 0);
    const std::size_t ends[] = {0, 1, 3, 6, 10, 10, 10};
    for (std::size_t points = 0; points < std::size(ends); ++points) {
        CHECK(utf8::truncate(text, points) == text.substr(0, ends[points]));
    }
}
