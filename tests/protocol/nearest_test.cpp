// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/nearest.hpp>

#include <array>

using namespace thalweg;

namespace {

constexpr std::array<std::string_view, 7> models{"gpt-5",       "gpt-5-mini",        "gpt-5-nano", "gpt-4o",
                                                 "gpt-4o-mini", "claude-sonnet-4-5", "o3"};
using names = std::vector<std::string_view>;

} // namespace

TEST_CASE("slips of the keyboard find the name that was meant, the fewest slips first") {
    REQUIRE(nearest("gpt-5-mni", models) == names{"gpt-5-mini", "gpt-5-nano", "gpt-4o-mini"});
    REQUIRE(nearest("gpt-5-imni", models).front() == "gpt-5-mini"); // swapped
    REQUIRE(nearest("gpt5", models).front() == "gpt-5");
    REQUIRE(nearest("GPT-5-Mini", models).front() == "gpt-5-mini");
    REQUIRE(nearest("claude-sonet-4.5", models) == names{"claude-sonnet-4-5"});
    REQUIRE(nearest("o4", models) == names{"o3"});
}

TEST_CASE("a part of a name finds the names that have it, the shortest first") {
    REQUIRE(nearest("sonnet", models) == names{"claude-sonnet-4-5"});
    REQUIRE(nearest("mini", models) == names{"gpt-5-mini", "gpt-4o-mini"});
    REQUIRE(nearest("ni", models).empty());
}

TEST_CASE("what is like nothing finds nothing") {
    REQUIRE(nearest("llama", models).empty());
    REQUIRE(nearest("", models).empty());
    REQUIRE(nearest("xy", models).empty());
    REQUIRE(nearest(std::string(200, 'g'), models).empty());
    REQUIRE(nearest("gpt", {}).empty());
    const std::string long_name(150, 'a');
    const std::array<std::string_view, 1> long_names{long_name};
    REQUIRE(nearest(long_name.substr(0, 100), long_names).empty());
}

TEST_CASE("no more are given than asked for, and none twice") {
    REQUIRE(nearest("gpt-5", models, 1) == names{"gpt-5"});
    REQUIRE(nearest("gpt-5", models, 0).empty());
    const std::array<std::string_view, 2> twice{"abc", "abc"};
    REQUIRE(nearest("abd", twice) == names{"abc"});
}

TEST_CASE("the question names what may have been meant") {
    REQUIRE(did_you_mean("claude-sonet", models) == "");
    REQUIRE(did_you_mean("sonnet", models) == "; did you mean \"claude-sonnet-4-5\"?");
    REQUIRE(did_you_mean("mini", models) == "; did you mean \"gpt-5-mini\" or \"gpt-4o-mini\"?");
    REQUIRE(did_you_mean("gpt-5-mni", models) ==
            "; did you mean \"gpt-5-mini\", \"gpt-5-nano\" or \"gpt-4o-mini\"?");
}
