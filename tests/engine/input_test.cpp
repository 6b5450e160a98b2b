// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include "support/last_words.hpp"

#include <memory>
#include <stdexcept>
#include <system_error>
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

CO_TEST_CASE(
    "an environment that cannot list its tools ends a run before it begins, and a later run asks again") {
    struct moody {
        std::vector<tool_definition> tools() const {
            if ((*faults)-- > 0) throw std::runtime_error("the server is down");
            return {};
        }
        stream<chunk, tool_result> execute(tool_call, tool_context) { co_return tool_result::completed(); }
        int* faults;
    };
    int faults = 1;
    trace::memory_sink sink;
    scripted_model model{answer().text("fine"), answer().text("never")};
    session_options options;
    options.trace = &sink;
    options.meta.emplace().session_id = "s";
    options.compaction.emplace();
    session chat(std::ref(model), moody{&faults}, std::move(options));
    auto refused = co_await collect(chat.run("go"));
    CHECK(refused.items.empty());
    CHECK(refused.result.how() == run_outcome::end::environment_failed);
    CHECK(refused.result.why().find("the server is down") != std::string::npos);
    CHECK(sink.files().empty());
    CHECK_FALSE(chat.is_running());

    auto taken = co_await collect(chat.run("again"));
    CHECK(taken.result.ok());
    CHECK(sink.files().front().front().kind() == kind::session_meta);

    faults = 1;
    auto compaction = co_await collect(chat.compact());
    CHECK(compaction.items.empty());
    CHECK(compaction.result.how() == compaction_outcome::end::failed);
    CHECK(compaction.result.why().find("the server is down") != std::string::npos);
    CHECK(chat.context().size() == 2);
    CHECK(model.requests() == 1);
}

CO_TEST_CASE("a session of a model alone has no tools") {
    scripted_model model{answer().call("1", "t"), answer().text("fine"), answer().text("so")};
    session chat(std::ref(model));
    auto seen = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    CHECK(outputs(seen).front().content() == "Unknown tool: t");
    trace::memory_sink sink;
    session recorded(std::ref(model), {.trace = &sink});
    auto other = co_await collect(recorded.run("go"));
    CHECK(other.result.ok());
    CHECK(sink.files().size() == 1);
}

CO_TEST_CASE("a session is restored once, before it has run, and says why not otherwise") {
    scripted_model model{answer().text("so")};
    session chat(std::ref(model));
    resumed_state from;
    from.history.push_back(message::user_text(text("before")));
    CHECK(chat.restore(from));
    const auto again = chat.restore(from);
    REQUIRE_FALSE(again);
    CHECK(again.error().code() == std::errc::operation_not_permitted);
    auto run = chat.run("go");
    auto first = co_await run.next();
    CHECK(first.has_value());
    const auto meanwhile = chat.restore(from);
    REQUIRE_FALSE(meanwhile);
    CHECK(meanwhile.error().code() == std::errc::device_or_resource_busy);
    CHECK(meanwhile.error().message().find("going on") != std::string::npos);
    CHECK(chat.context().front().content() == "before");
}

#ifndef NDEBUG
TEST_CASE("a session that is destroyed before its run was read says so in a debug build") {
    const std::string said = last_words([] {
        scripted_model model{answer().text("never")};
        auto chat = std::make_unique<session<scripted_model&>>(std::ref(model));
        auto run = chat->run("go");
        chat.reset();
    });
    CHECK(said.find("a session outlives the streams of its runs") != std::string::npos);
}
#endif
