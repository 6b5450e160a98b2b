// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <cli/printable.hpp>

#include <thalweg/protocol/utf8.hpp>

#include <string>

using cli::one_line;
using cli::printable;

TEST_CASE("text of people stays as it is") {
    const std::string text = "Grüße, 世界 🌊\n\tindented — and “quoted”";
    REQUIRE(printable(text) == text);
    REQUIRE(printable("").empty());
}

TEST_CASE("no control character gets through but line end and tab") {
    for (int code = 0; code < 0x20; ++code) {
        const char c = static_cast<char>(code);
        const std::string shown = printable(std::string(1, c));
        CAPTURE(code);
        if (c == '\n' || c == '\t') {
            CHECK(shown == std::string(1, c));
        } else {
            CHECK(shown.size() == 3);
            CHECK(shown.find(c) == std::string::npos);
        }
    }
    CHECK(printable("\x1b[2J") == "␛[2J");
    CHECK(printable("\x7f") == "␡");
    CHECK(printable(std::string("a\0b", 3)) == "a␀b");
}

TEST_CASE("the second set of control characters becomes U+FFFD, its neighbors do not") {
    CHECK(printable("\xc2\x9b"
                    "31m") == "\xef\xbf\xbd"
                              "31m");
    CHECK(printable("\xc2\x80\xc2\x9f") == "\xef\xbf\xbd\xef\xbf\xbd");
    CHECK(printable("\xc2\xa0") == "\xc2\xa0"); // no-break space
    CHECK(printable("\xe2\x82\x80") == "\xe2\x82\x80");
}

TEST_CASE("bytes that are no text become U+FFFD") {
    CHECK(printable("\xff") == "\xef\xbf\xbd");
    CHECK(printable("a\xc2") == "a\xef\xbf\xbd");
    CHECK(thalweg::utf8::is_valid(printable("\x9b\xe2\x82\x1b\xf0\x9f")));
}

TEST_CASE("one line is one line and no longer than asked") {
    CHECK(one_line("a\nb\tc\r", 10) == "a b c␍");
    CHECK(one_line("12345", 5) == "12345");
    CHECK(one_line("123456", 5) == "1234…");
    CHECK(one_line("äöüßé", 5) == "äöüßé"); // code points count, not bytes
    CHECK(one_line("äöüßéx", 5) == "äöüß…");
    CHECK(one_line("ab", 1) == "…");
}
