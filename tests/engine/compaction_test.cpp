// SPDX-License-Identifier: BSL-1.0

// Contexts that are given up for a summary, beyond what the recorded scenarios play (engine §7).

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/engine/resume.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <stdexcept>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;
using compacted = compaction_outcome::end;

namespace {

const std::string summary_text = "text:[context_summary]\ns\n[/context_summary]";

task<result<std::string>> own_summary(std::span<const message>, std::span<const message>) {
    result<std::string> words = std::string(" s ");
    co_return words;
}

providers::scripted_answer good_summary() {
    return answer().text("[summary]s[/summary]").usage({.total = 30});
}

/// A session whose context is too big at 50 tokens.
struct stage {
    stage() { options.compaction.emplace().max_context_length = 50; }
    scripted_model model;
    scripted_tools tools{{"t", after(10ms, "out")}};
    trace::memory_sink sink;
    session_options options;
};

std::size_t count(std::span<const message> messages, kind wanted) {
    return of_kind(messages, wanted).size();
}

words events_of(const std::vector<message>& all) {
    words found;
    for (const message& m : all) {
        if (m.is_event()) found.push_back(word_of(m));
    }
    return found;
}

} // namespace

CO_TEST_CASE("a program's own summarizer sees what is given up and what is owed, and its summary begins the "
             "next context") {
    stage on;
    on.options.trace = &on.sink;
    words given;
    words owed;
    on.options.compaction->summarize_with = [&](std::span<const message> context,
                                                std::span<const message> next) -> task<result<std::string>> {
        given = words_of(context);
        owed = words_of(next);
        co_await sleep_for(10ms);
        result<std::string> words = std::string(" s ");
        co_return words;
    };
    on.model.add(answer().call("c", "t").usage({.total = 60}));
    on.model.add(answer().text("done").usage({.total = 5}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    CHECK(given == words{"text:go", "tool_call:t:{}:c"});
    CHECK(owed == words{"tool_call_output:out:c"});
    CHECK(on.model.requests() == 2);
    CHECK(words_of_request(on.model, 1) == words{summary_text});
    CHECK(chat.context_number() == 1);
    CHECK(chat.usage().total == 65);
    CHECK(count(all, kind::token_usage) == 2);

    REQUIRE(on.sink.files().size() == 2);
    const resumed_state closed = resume(on.sink.files()[0]);
    CHECK(closed.context_closed);
    REQUIRE(closed.pending_summary);
    CHECK(word_of(*closed.pending_summary) == summary_text);
    CHECK(closed.usage.total == 60);
    CHECK(word_of(on.sink.files()[1].front()) == summary_text);
}

CO_TEST_CASE("a summarizer that fails, throws or has nothing to say leaves everything as it was") {
    struct {
        summarizer ask;
        const char* why;
    } const cases[] = {
        {[](std::span<const message>, std::span<const message>) -> task<result<std::string>> {
             result<std::string> none = failure(std::make_error_code(std::errc::io_error), "no paper");
             co_return none;
         },
         "no paper"},
        {[](std::span<const message>, std::span<const message>) -> task<result<std::string>> {
             co_await yield();
             throw std::runtime_error("no ink");
         },
         "the summarizer threw: no ink"},
        {[](std::span<const message>, std::span<const message>) -> task<result<std::string>> {
             result<std::string> blank = std::string(" [summary]\n[/summary] ");
             co_return blank;
         },
         "the summarizer gave a blank text"},
    };
    for (const auto& each : cases) {
        stage on;
        on.options.compaction->summarize_with = each.ask;
        on.model.add(answer().text("x").usage({.total = 5}));
        on.model.add(answer().call("c", "t").usage({.total = 60}));
        on.model.add(answer().text("done"));
        session chat(std::ref(on.model), std::ref(on.tools), on.options);
        auto first = co_await collect(chat.run("go"));
        auto manual = co_await collect(chat.compact());
        CHECK(manual.result.how() == compacted::failed);
        CHECK(manual.result.why() == each.why);
        CHECK(chat.context_number() == 0);
        CHECK(chat.context().size() == 2);

        auto second = co_await collect(chat.run("on", {.approve = allow_all}));
        CHECK(second.result.how() == how::compaction_failed);
        CHECK(word_of(second.items.back()) == "abort:compaction failed");
        CHECK(words_of(chat.carry_over()) == words{"tool_call_output:out:c"});
    }
}

CO_TEST_CASE("a summary that was cut off is refused, and the model is told why") {
    stage on;
    on.model.add(answer().text("x").usage({.total = 60}));
    on.model.add(answer().text("[summary]hal").left_open().ends(model_outcome::completed(finish::length)));
    on.model.add(good_summary());
    on.model.add(answer().text("next"));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await collect(chat.run("go"));
    CHECK(all.result.ok());
    REQUIRE(on.model.requests() == 3);
    CHECK(words_of_request(on.model, 2).front().find("the summary is cut off") != std::string::npos);
    CHECK(chat.context_number() == 1);
    auto next = co_await collect(chat.run("on"));
    CHECK(words_of_request(on.model, 3) == words{summary_text, "text:on"});
}

CO_TEST_CASE("a context of so many turns is due however small it is") {
    stage on;
    on.options.compaction->max_context_length = -1;
    on.options.compaction->max_session_turns = 2;
    on.options.compaction->summarize_with = own_summary;
    for (int n = 0; n < 4; ++n)
        on.model.add(answer().text("x").usage({.total = 1}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    for (const std::size_t expected : {0, 1, 0, 1}) {
        auto all = co_await collect(chat.run("go"));
        const auto begins = of_kind(all, kind::compaction_begin);
        REQUIRE(begins.size() == expected);
        if (expected == 0) continue;
        CHECK(begins.front().event_if<compaction_begin>()->reason == compaction_reason::turns);
        CHECK(begins.front().event_if<compaction_begin>()->turns == 2);
    }
    CHECK(chat.context_number() == 2);
}

CO_TEST_CASE("a compaction that brings nothing is said once and not repeated until the context has grown") {
    stage on;
    on.options.compaction->summarize_with = own_summary;
    for (const int total : {100, 100, 100, 105, 106, 100})
        on.model.add(answer().call({}, "t").usage({.total = total}));
    on.model.add(answer().text("done").usage({.total = 100}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    const words events = events_of(all.items);
    CHECK(count(all, kind::compaction_begin) == 2); // at the first 100 and at 106
    std::vector<std::string> order;
    for (const message& m : all.items) {
        if (m.kind() == kind::compaction_end) order.push_back("compacted");
        if (const auto* n = m.event_if<notice>()) order.push_back(n->code.str());
        if (const auto* u = m.event_if<token_usage>()) order.push_back(std::to_string(u->request.total));
    }
    CHECK(order == std::vector<std::string>{"100", "compacted", "100", "compaction_without_progress", "100",
                                            "105", "106", "compacted", "100", "compaction_without_progress",
                                            "100"});
}

CO_TEST_CASE("one run or one compaction at a time, and the refusal says which goes on") {
    stage on;
    on.model.add(answer().text("x").usage({.total = 5}));
    on.model.add(answer().wait(100ms).text("[summary]s[/summary]"));
    on.model.add(answer().wait(100ms).text("y").usage({.total = 5}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto first = co_await collect(chat.run("go"));
    auto compaction = chat.compact();
    auto begun = co_await compaction.next();
    CHECK(begun->kind() == kind::compaction_begin);
    CHECK(chat.is_compacting());
    auto refused = co_await collect(chat.run("on"));
    CHECK(refused.items.empty());
    CHECK(refused.result.how() == how::busy);
    CHECK(refused.result.why().starts_with("a compaction of this session is going on"));
    CHECK_FALSE(chat.steer("x"));
    CHECK_FALSE(chat.stop_after_answer());
    auto again = co_await collect(chat.compact());
    CHECK(again.result.how() == compacted::busy);
    while (auto m = co_await compaction.next())
        CHECK(m->origin().empty());
    CHECK(compaction.result().ok());

    auto run = chat.run("on");
    auto asked = co_await run.next();
    CHECK(asked->kind() == kind::request_begin);
    auto late = co_await collect(chat.compact());
    CHECK(late.items.empty());
    CHECK(late.result.how() == compacted::busy);
    CHECK(late.result.why().starts_with("another run of this session is going on"));
    while (auto m = co_await run.next())
        CHECK(m->origin().empty());
    CHECK(run.result().ok());
}

CO_TEST_CASE("a compaction that is dropped gives back what it had taken") {
    stage on;
    on.model.add(answer().text("x").usage({.total = 5}));
    on.model.add(answer().text("half").hang());
    on.model.add(answer().wait(1s).text("[summary]s[/summary]"));
    on.model.add(answer().text("next"));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto first = co_await collect(chat.run("go"));
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(10ms, [&] { CHECK(chat.interrupt()); }));
    auto second = co_await collect(chat.run("more"));
    const words kept = words_of(chat.carry_over());
    CHECK(kept.size() == 1);
    {
        auto compaction = chat.compact();
        auto begun = co_await compaction.next();
        CHECK(begun->kind() == kind::compaction_begin);
        CHECK(chat.carry_over().empty());
    }
    CHECK_FALSE(chat.is_compacting());
    CHECK(words_of(chat.carry_over()) == kept);
    auto third = co_await collect(chat.run("on"));
    CHECK(third.result.ok());
    CHECK(times_asked(on.model, "more") ==
          3); // as a prompt, in the block for the summary, in the block again
}

CO_TEST_CASE(
    "a compaction that is dropped behind an unusable answer leaves the answers to its calls, all of them") {
    stage on;
    on.model.add(answer().text("x").usage({.total = 5}));
    on.model.add(answer().call("p", "t").call("q", "t").usage({.total = 6}));
    on.model.add(answer().text("next"));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto first = co_await collect(chat.run("go"));
    {
        auto compaction = chat.compact();
        for (;;) {
            auto m = co_await compaction.next();
            if (!m || m->kind() == kind::token_usage) break;
        }
    }
    co_await sleep_for(10ms);
    CHECK(call_ids(chat.carry_over()) == ids{"p", "q"});
    auto next = co_await collect(chat.run("on"));
    CHECK(next.result.ok());
    CHECK(call_ids(on.model.request(2).input) == ids{"p", "q"});
}

CO_TEST_CASE("a permanent failure of the summary request ends the compaction at once with fail_fast") {
    for (const bool fast : {true, false}) {
        stage on;
        on.options.retry.fail_fast = fast;
        on.options.retry.most = 1;
        on.model.add(answer().text("x").usage({.total = 5}));
        on.model.add(answer().ends(model_outcome::failed("too big").permanent()));
        on.model.add(good_summary());
        session chat(std::ref(on.model), std::ref(on.tools), on.options);
        auto first = co_await collect(chat.run("go"));
        auto all = co_await collect(chat.compact());
        CHECK(all.result.how() == (fast ? compacted::failed : compacted::compacted));
        CHECK(all.result.why() == (fast ? "too big" : ""));
        CHECK(on.model.requests() == (fast ? 2 : 3));
    }
}

CO_TEST_CASE("the wait before a compaction's retry can be skipped, in a run and on request") {
    stage on;
    on.options.compaction->most = 1;
    for (int round = 0; round < 2; ++round) {
        on.model.add(answer().text("x").usage({.total = round == 0 ? 60 : 5}));
        on.model.add(answer().ends(model_outcome::failed("busy")));
        on.model.add(good_summary());
    }
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    const context here = co_await this_coroutine();
    scope timers(here);
    const auto begin = co_await now();
    timers.spawn(do_at(10ms, [&] { CHECK(chat.skip_retry_wait()); }));
    auto run = co_await collect(chat.run("go"));
    CHECK(chat.context_number() == 1);
    auto small = co_await collect(chat.run("on"));
    timers.spawn(do_at(10ms, [&] { CHECK(chat.skip_retry_wait()); }));
    auto manual = co_await collect(chat.compact());
    CHECK(manual.result.ok());
    const auto end = co_await now();
    CHECK(end - begin == 20ms);
}

CO_TEST_CASE("a compaction has a budget of its own and reports what failed last") {
    stage on;
    on.options.compaction->most = 1;
    on.model.add(answer().text("x").usage({.total = 60}));
    on.model.add(answer().ends(model_outcome::failed("first")));
    on.model.add(answer().ends(model_outcome::timeout("second")));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await collect(chat.run("go"));
    CHECK(all.result.ok()); // the answer was given
    const auto* end = of_kind(all, kind::compaction_end).at(0).event_if<compaction_end>();
    CHECK(end->status == stop_reason::failed);
    CHECK(end->attempt == 2);
    CHECK(end->error_message == text("second"));
    CHECK(chat.context().size() == 2);
}

CO_TEST_CASE("many compactions in the middle of turns with tools keep each call with its output") {
    stage on;
    on.options.trace = &on.sink;
    constexpr int rounds = 8;
    for (int n = 0; n < rounds; ++n) {
        on.model.add(answer().call("c", "t").call("d", "t").usage({.total = 200 - 1}));
        on.model.add(good_summary());
        on.model.add(answer().call("c", "t").usage({.total = 10}));
    }
    on.model.add(answer().text("done").usage({.total = 10}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    CHECK(chat.context_number() == rounds);
    CHECK(count(all, kind::tool_call_output) == 3 * rounds);
    CHECK(on.sink.files().size() == rounds + 1);
    for (const auto& file : on.sink.files()) {
        const resumed_state state = resume(file);
        CHECK(state.repairs == 0);
    }
}

CO_TEST_CASE("a run that is stopped behind a summary leaves a file that a resume can go on from") {
    stage on;
    on.options.trace = &on.sink;
    on.model.add(answer().call("c", "t").usage({.total = 60}));
    on.model.add(answer().wait(100ms).text("[summary]s[/summary]"));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto run = chat.run("go", {.approve = allow_all});
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::compaction_begin) CHECK(chat.stop_after_answer());
    }
    CHECK(run.result().how() == how::stopped);
    REQUIRE(on.sink.files().size() == 2);
    CHECK(words_of(on.sink.files()[1]) == words{summary_text, "abort:stopped after answer"});
    const resumed_state state = resume(on.sink.files()[1]);
    CHECK(words_of(state.carry_over) == words{summary_text});
    CHECK(words_of(chat.carry_over()) == words{summary_text});
}

CO_TEST_CASE("what a trace lost at the end of a run is not recorded in front of the summary") {
    stage on;
    on.options.trace = &on.sink;
    on.model.add(answer().text("x").usage({.total = 60}));
    on.model.add(answer().wait(10ms).text("[summary]s[/summary]"));
    on.model.add(answer().text("y").usage({.total = 5}));
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto run = chat.run("go");
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::request_end) {
            on.sink.fail_writes(1, error(std::make_error_code(std::errc::no_space_on_device), "full"));
        }
    }
    CHECK(run.result().ok());
    CHECK(on.sink.files().size() == 1);
    auto next = co_await collect(chat.run("on"));
    CHECK(of_kind(next, kind::trace_fault).size() == 1);
    REQUIRE(on.sink.files().size() == 2);
    CHECK(word_of(on.sink.files()[1].front()) == summary_text);
}
