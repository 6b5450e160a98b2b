// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"
#include "support/last_words.hpp"

#include <thalweg/protocol/result.hpp>

using namespace thalweg;

namespace {

result<int> failing(std::string why) {
    return failure(std::make_error_code(std::errc::no_such_file_or_directory), std::move(why));
}

} // namespace

TEST_CASE("value() of a failed result ends the program with the error's own sentence") {
    REQUIRE(last_words([] { static_cast<void>(failing("a.txt: cannot be read").value()); }) ==
            "thalweg: result::value() of a failed result: a.txt: cannot be read\n");
    REQUIRE(last_words([] { static_cast<void>(failing("").value()); }) ==
            "thalweg: result::value() of a failed result: generic 2\n");
}

TEST_CASE("error() of a good result ends the program, too") {
    REQUIRE(last_words([] { static_cast<void>(result<int>(1).error()); }) ==
            "thalweg: result::error() of a result that has a value\n");
}

TEST_CASE("a result that is asked first ends nothing") {
    REQUIRE(result<int>(1).value() == 1);
    REQUIRE(failing("why").error().message() == "why");
}
