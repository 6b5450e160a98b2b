// SPDX-License-Identifier: BSL-1.0

#define CATCH_CONFIG_MAIN
#include <thalweg/environments/functions.hpp>
#include <thalweg/providers/any_provider.hpp>
#include <thalweg/providers/recording.hpp>
#include <thalweg/providers/replay.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <string>

using namespace thalweg;
using namespace thalweg::testing;

const std::string file = "test_from_a_recording.jsonl";

// What you would record is e.g. openai_chat({.model = "gpt-5-mini"}); a script stands for it here.
any_provider real_model() {
    return providers::scripted{answer().call("call_1", "weather", R"({})"),
                               answer().text("Take an umbrella.")};
}

any_provider model(bool record) {
    if (record) return providers::recording(real_model(), file, {.secrets = {"the gateway's password"}});
    return providers::replay(file, {.secrets = {"the gateway's password"}});
}

task<std::string> advice(any_provider from, const char* prompt) { // the agent that is tested
    auto tools = environments::functions(tool("weather", "The weather", [] { return "rain"; }));
    session chat(std::move(from), std::move(tools), {.retry = {.fail_fast = true}});
    const auto run = co_await collect(chat.run(prompt, {.approve = allow_all}));
    if (!run.result.ok())
        co_return "failed: " +
            of_kind(run, kind::request_end).back().event_if<request_end>()->error_message->str();
    co_return of_kind(run, kind::text).back().content().str();
}

CO_TEST_CASE("an agent gives from a recording what it gave when it was recorded") {
    const std::string live = co_await advice(model(true), "What shall I wear?");   // once, with a network
    const std::string again = co_await advice(model(false), "What shall I wear?"); // ever after, without
    REQUIRE(live == "Take an umbrella.");
    REQUIRE(again == live);
}

CO_TEST_CASE("a prompt that was changed says where it differs from the recording") {
    const std::string said = co_await advice(model(false), "What shall I take?");
    REQUIRE(
        said.find(
            R"(first differs at input[0].text: recorded "What shall I wear?", asked "What shall I take?")") !=
        std::string::npos);
}
