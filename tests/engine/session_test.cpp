// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include "engine/framing.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

template <class Messages>
std::string objections(const Messages& messages) {
    stream_checker checker;
    for (const message& m : messages)
        checker.feed(m);
    checker.finish();
    return checker.report();
}

task<void> stop_later(cancel_source& stop, std::chrono::milliseconds wait) {
    co_await sleep_for(wait);
    stop.request(cancel_reason::user);
}

/// Reads a run to its end while a stop request comes after `wait`.
template <class Run>
task<collected<message, run_outcome>> collect_interrupted(Run run, std::chrono::milliseconds wait) {
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context under(here.loop(), stop);
    scope timer(here);
    timer.spawn(stop_later(stop, wait));
    std::vector<message> items;
    while (auto m = co_await run.next_under(under))
        items.push_back(std::move(*m));
    run_outcome result = std::move(run.result());
    collected<message, run_outcome> all(std::move(items), std::move(result));
    co_return all;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type" // clang sees the mistake, g++ does not
struct forgetful_model {
    stream<delta, model_outcome> generate(model_request) { co_yield delta::text("and then"); }
};
struct forgetful_tools {
    std::vector<tool_definition> tools() const { return {{"t", "d", "{}", {}}}; }
    stream<chunk, tool_result> execute(tool_call, tool_context) { co_yield chunk::text("half"); }
};
#pragma GCC diagnostic pop

bool ends_with_abort(const std::vector<message>& messages) {
    return !messages.empty() && messages.back().kind() == kind::abort;
}

} // namespace

CO_TEST_CASE("outputs reach the reader as they finish and the model in call order") {
    scripted_model model{answer().call("a", "slow").call("b", "fast"), answer().text("done")};
    scripted_tools tools{{"slow", after(300ms, "late")}, {"fast", after(20ms, "early")}};
    session chat(std::ref(model), std::ref(tools));

    auto seen = co_await collect(chat.run("go", {.approve = allow_all}));

    REQUIRE(call_ids(outputs(seen)) == ids{"b", "a"});
    REQUIRE(call_ids(model.request(1).input) == ids{"a", "b"});
    REQUIRE(seen.result.ok());
    REQUIRE(seen.result.turns() == 2);
    REQUIRE(objections(seen.items) == "");
}

CO_TEST_CASE("without an approver every call is denied, with one that throws as well") {
    for (const bool throws : {false, true}) {
        scripted_model model{answer().call("a", "t"), answer().text("done")};
        scripted_tools tools{{"t", after(1ms, "must not run")}};
        session chat(std::ref(model), std::ref(tools));
        const auto thrower = [](const tool_call&) -> decision { throw std::runtime_error("no idea"); };
        run_options options;
        if (throws) options.approve = thrower;
        auto seen = co_await collect(chat.run("go", options));
        CHECK(tools.executed().empty());
        CHECK(outputs(seen).front().content() == "Tool call denied by user.");
        CHECK(objections(seen.items) == "");
    }
}

CO_TEST_CASE("approvals are asked one at a time, once each, in call order") {
    scripted_model model{answer().call("a", "t").call("b", "t").call("c", "t"), answer().text("done")};
    scripted_tools tools{{"t", after(1ms, "out")}};
    session chat(std::ref(model), std::ref(tools));
    std::vector<std::string> asked;
    int open = 0;
    const auto slow = [&](const tool_call& call) -> task<decision> {
        CHECK(open++ == 0);
        asked.push_back(call.id().str());
        co_await sleep_for(50ms);
        --open;
        co_return decision::allow;
    };
    auto seen = co_await collect(chat.run("go", {.approve = std::ref(slow)}));
    CHECK(asked == std::vector<std::string>{"a", "b", "c"});
    CHECK(objections(seen.items) == "");
}

CO_TEST_CASE("a second run while one is going is refused by name and changes nothing") {
    scripted_model model{answer().wait(100ms).text("first"), answer().text("second")};
    session chat(std::ref(model), scripted_tools{});
    auto first = chat.run("one");
    auto begun = co_await first.next();
    CHECK(begun.has_value());
    auto second = co_await collect(chat.run("two"));
    CHECK(second.items.empty());
    CHECK(second.result.how() == run_outcome::end::busy);
    while (auto m = co_await first.next())
        CHECK(m->origin().empty());
    CHECK(first.result().ok());
    CHECK(model.requests() == 1);
}

CO_TEST_CASE(
    "an answer that a limit cut is committed and its last segment failed, unless it was over long before") {
    const auto last_text = [](const std::vector<message>& seen) {
        message last = message::assistant_text("none");
        for (const message& m : seen) {
            if (m.kind() == kind::text) last = m;
        }
        return last;
    };
    for (const bool waits : {false, true}) {
        auto script = answer().text("cut he");
        if (waits) script = std::move(script).wait(10ms);
        scripted_model model{std::move(script).ends(model_outcome::completed(finish::length))};
        session chat(std::ref(model), scripted_tools{});
        auto seen = co_await collect(chat.run("go"));
        CHECK(seen.result.ok());
        CHECK(last_text(seen.items).content() == "cut he");
        CHECK(last_text(seen.items).stop() == (waits ? stop_reason::completed : stop_reason::failed));
        CHECK(chat.context().size() == 2);
        CHECK(objections(seen.items) == "");
    }
}

CO_TEST_CASE(
    "a provider that forgets co_return is a failed request with a sentence, and is not asked again") {
    session_options options;
    options.retry.fail_fast = true;
    session chat(forgetful_model(), scripted_tools{}, std::move(options));
    auto seen = co_await collect(chat.run("go"));
    CHECK(seen.result.how() == run_outcome::end::model_failed);
    CHECK(seen.result.why().find("lacks a co_return") != std::string::npos);
    CHECK(objections(seen.items) == "");
}

CO_TEST_CASE("a tool that forgets co_return is a failed call with a sentence") {
    scripted_model model{answer().call("a", "t"), answer().text("done")};
    session chat(std::ref(model), forgetful_tools());
    auto seen = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    REQUIRE(outputs(seen).size() == 1);
    CHECK(outputs(seen).front().stop() == stop_reason::failed);
    CHECK(outputs(seen).front().content().view().find("lacks a co_return") != std::string::npos);
    CHECK(objections(seen.items) == "");
}

CO_TEST_CASE("a provider that throws is a failed request and not the end of the program") {
    struct broken {
        stream<delta, model_outcome> generate(model_request) {
            co_yield delta::text("half");
            throw std::runtime_error("socket on fire");
        }
    };
    session_options options;
    options.retry.most = 0;
    session chat(broken(), scripted_tools{}, std::move(options));
    auto seen = co_await collect(chat.run("go"));
    CHECK(seen.result.how() == run_outcome::end::model_failed);
    CHECK(seen.result.why().find("socket on fire") != std::string::npos);
    CHECK(objections(seen.items) == "");
}

CO_TEST_CASE("a tool may throw, hang, flood, give nothing or broken text: there is always one good output") {
    struct {
        const char* name;
        tool_script script;
        const char* expected;
    } cases[] = {
        {"throws", tool_script().output("x").throws("bad luck"), "x\n[tool error] bad luck"},
        {"hangs", tool_script().output("x").hang(), "x\n[tool timeout: exceeded 500ms]"},
        {"deaf", tool_script().wait_through(1h), "[tool timeout: exceeded 500ms]"},
        {"floods", tool_script().output(text(std::string(1000, 'y'))),
         "yyyyyyyyyy\n[output truncated: exceeded 10 chars]"},
        {"silent", tool_script(), "[no output]"},
        {"binary", tool_script().output("a\xff"), "a\xef\xbf\xbd"},
        {"breaks", tool_script().breaks("sandbox gone"), "[tool error] sandbox gone"},
    };
    for (auto& each : cases) {
        INFO(each.name);
        scripted_model model{answer().call("a", "t"), answer().text("done")};
        scripted_tools tools{{"t", std::move(each.script)}};
        session_options options;
        options.tools.timeout = 500ms;
        options.tools.max_output = 10;
        session chat(std::ref(model), std::ref(tools), std::move(options));
        auto seen = co_await collect(chat.run("go", {.approve = allow_all}));
        CHECK(outputs(seen).size() == 1);
        CHECK(outputs(seen).front().content() == each.expected);
        CHECK(seen.result.ok());
        CHECK(objections(seen.items) == "");
    }
}

CO_TEST_CASE("an interrupt ends the run in bounded time whoever is deaf, with abort as the last message") {
    const auto deaf_approver = [](const tool_call&) -> task<decision> {
        co_await sleep_through(1h);
        co_return decision::allow;
    };
    struct {
        const char* name;
        providers::scripted_answer script;
        tool_script tool;
        bool deaf_approval;
    } cases[] = {
        {"model hangs", answer().text("a").hang(), tool_script(), false},
        {"model deaf", answer().text("a").deaf(), tool_script(), false},
        {"model deaf inside a block", answer().text("a").left_open().deaf(), tool_script(), false},
        {"tool hangs", answer().call("c", "t"), tool_script().output("x").hang(), false},
        {"tool deaf", answer().call("c", "t"), tool_script().output("x").wait_through(1h), false},
        {"approver deaf", answer().call("c", "t"), tool_script(), true},
    };
    const auto& loop = static_cast<virtual_loop&>((co_await this_coroutine()).loop());
    for (auto& each : cases) {
        INFO(each.name);
        scripted_model model{std::move(each.script), answer().text("again")};
        scripted_tools tools{{"t", std::move(each.tool)}};
        session chat(std::ref(model), std::ref(tools));
        run_options options{.approve = allow_all};
        if (each.deaf_approval) options.approve = deaf_approver;
        const auto start = loop.elapsed();
        auto seen = co_await collect_interrupted(chat.run("go", options), 100ms);
        CHECK(loop.elapsed() - start <= 100ms + 2 * 2000ms);
        CHECK(ends_with_abort(seen.items));
        CHECK(seen.result.how() == run_outcome::end::interrupted);
        CHECK(objections(seen.items) == "");

        auto next = co_await collect(chat.run("on", {.approve = allow_all}));
        CHECK(next.result.ok());
        CHECK(model.request(1).input.size() >= 2);
    }
}

CO_TEST_CASE("a run that is dropped leaves what it owes to the next one") {
    scripted_model model{answer().call("a", "t").call("b", "t"), answer().text("done")};
    scripted_tools tools{{"t", tool_script().hang()}};
    session chat(std::ref(model), std::ref(tools));
    {
        auto run = chat.run("go", {.approve = allow_all});
        for (;;) {
            auto m = co_await run.next();
            if (!m || m->kind() == kind::request_end) break;
        }
    }
    CHECK_FALSE(chat.is_running());
    auto seen = co_await collect(chat.run("and now?", {.approve = allow_all}));
    CHECK(seen.result.ok());
    CHECK(call_ids(model.request(1).input) == ids{"a", "b"});
    CHECK(model.request(1).input.back().content() == "and now?");
}

CO_TEST_CASE("the trace has the stream's records in the stream's order, each before it is seen") {
    scripted_model model{answer().text("x").call("a", "t"), answer().text("done")};
    scripted_tools tools{{"t", after(5ms, "out")}};
    trace::memory_sink sink;
    session_options options;
    options.trace = &sink;
    session chat(std::ref(model), std::ref(tools), std::move(options));
    words streamed;
    auto run = chat.run("go", {.approve = allow_all});
    while (auto m = co_await run.next()) {
        if (!m->is_recordable()) continue;
        streamed.push_back(word_of(*m));
        const words recorded = words_of(sink.files().at(0));
        REQUIRE(recorded.size() >= streamed.size() + 1);
        CHECK(recorded.at(streamed.size()) == streamed.back());
    }
    words recorded = words_of(sink.files().at(0));
    CHECK(recorded.front() == "text:go");
    recorded.erase(recorded.begin());
    CHECK(recorded == streamed);
    CHECK(sink.write_count() < recorded.size());
}

CO_TEST_CASE("a trace that cannot be written is said once on the stream and stops nothing") {
    scripted_model model{answer().text("x"), answer().text("y")};
    trace::memory_sink sink;
    sink.fail_writes(1000, error(std::make_error_code(std::errc::no_space_on_device), "disk full"));
    session_options options;
    options.trace = &sink;
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    auto seen = co_await collect(chat.run("go"));
    CHECK(seen.result.ok());
    const auto faults = of_kind(seen, kind::trace_fault);
    CHECK(faults.size() == 1);
    CHECK(faults.front().event_if<trace_fault>()->error == "disk full");
    CHECK(objections(seen.items) == "");
}

CO_TEST_CASE("usage adds up over runs, and failed attempts count with the next report") {
    scripted_model model{
        answer().ends(model_outcome::failed("busy").with_usage({.total = 5})),
        answer().text("x").usage({.total = 7}),
        answer().text("y").usage({.total = 10}),
    };
    session chat(std::ref(model), scripted_tools{});
    auto first = co_await collect(chat.run("go"));
    CHECK(first.result.usage().total == 12);
    auto second = co_await collect(chat.run("on"));
    CHECK(chat.usage().total == 22);
    const auto reports = of_kind(first, kind::token_usage);
    CHECK(reports.size() == 1);
    CHECK(reports.front().event_if<token_usage>()->session.total == 12);
    CHECK(reports.front().event_if<token_usage>()->request.total == 7);
}

CO_TEST_CASE("a provider's wish to wait is a lower bound, cut to the ceiling") {
    const std::pair<std::chrono::milliseconds, std::int64_t> wishes[] = {
        {1ms, 2000}, {9s, 9000}, {10min, 30000}};
    for (const auto& [wish, announced] : wishes) {
        scripted_model model{answer().ends(model_outcome::failed("busy").with_wait(wish)),
                             answer().text("x")};
        session chat(std::ref(model), scripted_tools{});
        auto seen = co_await collect(chat.run("go"));
        const auto ends = of_kind(seen, kind::request_end);
        CHECK(ends.front().event_if<request_end>()->retry_in_ms == announced);
        CHECK(seen.result.ok());
    }
}
