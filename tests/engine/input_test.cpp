// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

CO_TEST_CASE("input that no run can take is refused with its place, and nothing is recorded or sent") {
    const std::pair<message, const char*> wrong[] = {
        {message::assistant_text(text("I said")), "message 1 of the input is a text of the assistant"},
        {message::tool_call(text("t"), text("{}"), text("a")),
         "message 1 of the input is a tool_call of the assistant"},
        {message::tool_call_output(text("out"), text("a")), "message 1 of the input is a tool_call_output"},
        {message::request_begin(), "message 1 of the input is a request_begin"},
        {message::partial_text(frame::delta, text("x")), "message 1 of the input is a partial_text"},
    };
    for (const auto& [m, sentence] : wrong) {
        trace::memory_sink sink;
        scripted_model model{answer().text("no")};
        session_options options;
        options.trace = &sink;
        session chat(std::ref(model), scripted_tools{}, std::move(options));
        std::vector<message> input;
        input.push_back(message::user_text(text("good")));
        input.push_back(m);
        auto seen = co_await collect(chat.run(std::move(input)));
        CHECK(seen.items.empty());
        CHECK(seen.result.how() == run_outcome::end::input_failed);
        CHECK(seen.result.why().starts_with(sentence));
        CHECK(model.requests() == 0);
        CHECK(sink.files().empty());
    }
}

CO_TEST_CASE("a run without input needs something that was left over") {
    scripted_model model{answer().text("so")};
    session chat(std::ref(model), scripted_tools{});
    auto nothing = co_await collect(chat.run(std::vector<message>()));
    CHECK(nothing.result.how() == run_outcome::end::input_failed);
    chat.notify(text("the build is done"));
    auto something = co_await collect(chat.run(std::vector<message>()));
    CHECK(something.result.ok());
    CHECK(model.requests() == 1);
}

CO_TEST_CASE("a context that the provider refuses as too long is told with ways on, once a request") {
    scripted_model model{answer().ends(model_outcome::failed("too many tokens").context_too_long()),
                         answer().text("fine")};
    session_options options;
    options.retry.fail_fast = true;
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    auto seen = co_await collect(chat.run("go"));
    CHECK(seen.result.how() == run_outcome::end::model_failed);
    const auto told = of_kind(seen, kind::notice);
    REQUIRE(told.size() == 1);
    CHECK(told.front().event_if<notice>()->code == "context_refused");
    auto after = co_await collect(chat.run("again"));
    CHECK(after.result.ok());
    CHECK(of_kind(after, kind::notice).empty());
}
