// SPDX-License-Identifier: BSL-1.0

// What the records are worth when a run does not end as it should: its stream is dropped, its trace is deaf
// or fails, a compaction stands at its end. Each of these was found by the simulation.

#include "support/catch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/engine/resume.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/fault_points.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <algorithm>
#include <system_error>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

session_options recorded(trace::sink& to) {
    session_options options;
    options.trace = &to;
    options.meta.emplace().session_id = "s";
    options.compaction.emplace().max_session_turns = 1;
    return options;
}

template <class Session>
task<void> interrupt_later(Session& chat, std::chrono::milliseconds wait) {
    co_await sleep_for(wait);
    chat.interrupt();
}

template <class Session>
task<void> stop_after_answer_later(Session& chat, std::chrono::milliseconds wait) {
    co_await sleep_for(wait);
    chat.stop_after_answer();
}

/// The kinds of a file's records.
std::vector<kind> kinds(const std::vector<message>& file) {
    std::vector<kind> all;
    for (const message& m : file)
        all.push_back(m.kind());
    return all;
}

bool has_text(std::span<const message> messages, std::string_view what) {
    return std::any_of(messages.begin(), messages.end(), [what](const message& m) {
        return m.content().view().find(what) != std::string_view::npos;
    });
}

} // namespace

CO_TEST_CASE("a trace that is deaf holds no run that was interrupted, and the next run tries again") {
    const context here = co_await this_coroutine();
    scripted_model model{answer().text("one"), answer().text("two")};
    trace::memory_sink kept;
    fault_plan plan;
    plan.at(fault_point::trace_write, 2, fault_action::deaf);
    faulty_sink records(kept, plan);
    session_options options;
    options.trace = &records;
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    scope person(here);
    person.spawn(interrupt_later(chat, 1s));
    const auto begin = here.loop().now();
    auto first = co_await collect(chat.run("go"));
    CHECK(here.loop().now() - begin == 3s);
    const std::size_t before = plan.passes(fault_point::trace_write);
    CHECK(before == 2);
    auto second = co_await collect(chat.run("on"));
    CHECK(second.result.ok());
    CHECK(plan.passes(fault_point::trace_write) > before);
    CHECK(of_kind(first, kind::trace_fault).size() == 1);
    co_await person.join();
}

CO_TEST_CASE("a run that is dropped with its first message owes its input, and what was owed before") {
    scripted_model model{answer().hang(), answer().text("one")};
    trace::memory_sink records;
    session_options options = recorded(records);
    options.compaction.reset();
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    {
        auto run = chat.run("first");
        auto head = co_await run.next();
        REQUIRE(head.has_value());
        CHECK(head->kind() == kind::tool_list_ready);
    }
    REQUIRE(chat.carry_over().size() == 1);
    CHECK(chat.carry_over()[0].content() == "first");
    {
        auto run = chat.run("second");
        auto begun = co_await run.next();
        CHECK(begun.has_value());
    }
    CHECK(has_text(chat.carry_over(), "first"));
    CHECK(has_text(chat.carry_over(), "second"));
}

CO_TEST_CASE("a compaction that is dropped is ended in the trace before anything else is recorded") {
    scripted_model model{answer().text("one"), answer().hang(), answer().text("two"),
                         answer().text("[summary]all[/summary]")};
    trace::memory_sink records;
    session chat(std::ref(model), scripted_tools{}, recorded(records));
    {
        auto run = chat.run("first");
        bool compacts = false;
        while (!compacts) {
            auto m = co_await run.next();
            REQUIRE(m.has_value());
            compacts = m->kind() == kind::compaction_begin;
        }
    }
    auto next = co_await collect(chat.run("second"));
    CHECK(next.result.ok());
    const std::vector<message>& file = records.files().front();
    const auto begin = std::find_if(file.begin(), file.end(),
                                    [](const message& m) { return m.kind() == kind::compaction_begin; });
    const auto end = std::find_if(begin, file.end(),
                                  [](const message& m) { return m.kind() == kind::compaction_end; });
    REQUIRE(end != file.end());
    CHECK(end->event_if<compaction_end>()->status == stop_reason::failed);
    CHECK(end->has_timestamp());
    REQUIRE(end + 1 != file.end());
    CHECK((end + 1)->content() == "second");
}

CO_TEST_CASE("a stop behind a compaction leaves the summary where a resume finds it") {
    const context here = co_await this_coroutine();
    scripted_model model{answer().call("c", "t"), answer().wait(1s).text("[summary]all of it[/summary]")};
    trace::memory_sink records;
    session chat(std::ref(model), scripted_tools{{"t", after(1ms, "out")}}, recorded(records));
    scope person(here);
    person.spawn(stop_after_answer_later(chat, 500ms));
    auto seen = co_await collect(chat.run("go", {.approve = allow_all}));
    co_await person.join();
    CHECK(seen.result.how() == run_outcome::end::stopped);
    REQUIRE(records.files().size() == 2);
    CHECK(kinds(records.files()[1]) ==
          std::vector{kind::session_meta, kind::tool_list_ready, kind::text, kind::abort});
    const resumed_state state = resume(records.files()[1]);
    CHECK(has_text(state.carry_over, "all of it"));
    CHECK(has_text(chat.carry_over(), "all of it"));
    CHECK(of_kind(seen, kind::text).empty());
}

CO_TEST_CASE("a compaction whose end could not be written gets one with the next run") {
    scripted_model model{answer().text("one"), answer().text(" "), answer().text("two"),
                         answer().text("[summary]all[/summary]")};
    trace::memory_sink records;
    session_options options = recorded(records);
    options.compaction->most = 0;
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    {
        auto run = chat.run("first");
        while (auto m = co_await run.next()) {
            if (m->kind() == kind::compaction_begin)
                records.fail_writes(100, error(std::make_error_code(std::errc::no_space_on_device), "full"));
        }
        records.fail_writes(0, error(std::make_error_code(std::errc::no_space_on_device), "full"));
    }
    auto next = co_await collect(chat.run("second"));
    CHECK(next.result.ok());
    const std::vector<kind> all = kinds(records.files().front());
    const auto begin = std::find(all.begin(), all.end(), kind::compaction_begin);
    const auto end = std::find(begin, all.end(), kind::compaction_end);
    const auto prompt = std::find(end, all.end(), kind::text);
    CHECK(end != all.end());
    CHECK(prompt != all.end());
}

CO_TEST_CASE("a call that ends a completed answer is answered, wherever the reader stops taking") {
    for (std::size_t pieces = 1; pieces < 140; ++pieces) { // somewhere the budget ends right before the call
        const context here = co_await this_coroutine();
        const std::vector<text> words(pieces, text("w"));
        scripted_model model{answer().text_pieces(words).call("c", "t").left_open(), answer().text("done")};
        session chat(std::ref(model), scripted_tools{{"t", tool_script().hang()}});
        scope person(here);
        person.spawn(interrupt_later(chat, 1s));
        {
            run_options options;
            options.approve = allow_all;
            auto run = chat.run("go", options);
            auto begun = co_await run.next();
            CHECK(begun.has_value());
            co_await sleep_through(10s); // the grace is over long before
            while (auto m = co_await run.next())
                CHECK(m->origin().empty());
            CHECK(run.result().how() == run_outcome::end::interrupted);
        }
        auto second = co_await collect(chat.run("on", {.approve = allow_all})); // its context is checked
        CHECK(second.result.ok());
        co_await person.join();
    }
}

CO_TEST_CASE("a refused call has its decision and its output or neither, wherever the reader stops taking") {
    for (std::size_t pieces = 1; pieces < 140; ++pieces) { // somewhere the budget ends between the two
        const context here = co_await this_coroutine();
        const std::vector<text> words(pieces, text("w"));
        scripted_model model{answer().text_pieces(words).call("c", "t").text("so"), answer().text("done")};
        session chat(std::ref(model), scripted_tools{{"t", tool_script()}});
        scope person(here);
        person.spawn(interrupt_later(chat, 1s));
        stream_checker checker;
        auto run = chat.run("go");
        auto begun = co_await run.next();
        checker.feed(*begun);
        co_await sleep_through(10s); // the grace is over long before
        while (auto m = co_await run.next())
            checker.feed(*m);
        checker.finish();
        INFO(pieces << " pieces");
        CHECK(checker.report() == "");
        co_await person.join();
    }
}
