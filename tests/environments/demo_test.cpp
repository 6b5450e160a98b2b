// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/demo.hpp>

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include "support/run_tool.hpp"

using namespace thalweg;
using testing::run_tool;

namespace {

task<void> run_into(environments::functions& tools, std::string name, std::string arguments,
                    testing::tool_seen& into) {
    auto seen = co_await run_tool(tools, std::move(name), std::move(arguments));
    into = std::move(seen);
}

} // namespace

CO_TEST_CASE("the demo's forecast streams a line per day, always the same") {
    auto tools = environments::demo();
    const auto here = co_await this_coroutine();
    const auto before = here.loop().now();
    const auto seen = co_await run_tool(tools, "forecast", R"({"city":"Oslo"})");
    REQUIRE(here.loop().now() - before == std::chrono::milliseconds(600));
    REQUIRE(seen.pieces.size() == 3);
    REQUIRE(seen.progress.back() == "day 3 of 3");
    REQUIRE(seen.output() ==
            "Oslo, day 1: some clouds, 23 C\nOslo, day 2: drizzle, 17 C\nOslo, day 3: some clouds, 21 C\n");
    const auto again = co_await run_tool(tools, "forecast", R"({"city":"Oslo"})");
    REQUIRE(again.output() == seen.output());
    const auto too_far = co_await run_tool(tools, "forecast", R"({"city":"Oslo","days":15})");
    REQUIRE(too_far.failed());
}

CO_TEST_CASE("the demo's forecast ends at once when it is interrupted") {
    auto tools = environments::demo();
    testing::tool_seen seen;
    scope work(co_await this_coroutine());
    work.spawn(run_into(tools, "forecast", R"({"city":"Rome"})", seen));
    work.cancel(cancel_reason::user);
    co_await work.join();
    REQUIRE(seen.stop == stop_reason::aborted);
    REQUIRE(seen.pieces.empty());
}

CO_TEST_CASE("the demo's other tools answer at once and harm nothing") {
    auto tools = environments::demo();
    const auto dice = co_await run_tool(tools, "roll_dice", R"({"dice":3})");
    REQUIRE(dice.output() == R"({"rolled":[2,2,6],"total":10})");
    const auto odd = co_await run_tool(tools, "roll_dice", R"({"sides":1})");
    REQUIRE(odd.note == "sides: expected 2 to 1000");
    const auto words = co_await run_tool(tools, "count_words", R"({"text":" one  two\nthree "})");
    REQUIRE(words.output() == "3 words");
    const auto nothing = co_await run_tool(tools, "delete_everything", "{}");
    REQUIRE(nothing.output() == "Deleted nothing below /: this is a demo.");
    for (const auto& each : tools.tools())
        REQUIRE_FALSE(each.label.empty());
}
