// SPDX-License-Identifier: BSL-1.0

// The three gestures in each phase of a run: the table of docs/reference/stopping.md.

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;

namespace {

enum class gesture { stop_now, stop_after_answer, detach };

/// Everything that a run needs.
struct scene {
    scripted_model model;
    scripted_model child_model;
    scripted_tools no_tools{};
    session<scripted_model&, scripted_tools&> child{std::ref(child_model), std::ref(no_tools)};
    family tools;
    session_options options;
    approver asks = allow_all;
};
using chat_type = session<scripted_model&, family&>;

struct phase {
    const char* name;
    void (*set)(scene&);
    bool (*reached)(const message&); // the last message before the gesture
    milliseconds later;              // and how long after it
    words now_keeps;                 // the carry-over of a stop now
    const char* now_says;            // and the reason of its abort
    how soft;                        // how a stop after this answer ends
    words soft_keeps;
    void (*meanwhile)(chat_type&) = nullptr; // at `reached`
};

struct seen {
    std::vector<message> items;
    run_outcome outcome;
    bool was_taken = false;
    milliseconds at{0};
    milliseconds took{0}; // from the gesture to the end
};

task<void> press(chat_type& chat, gesture which, milliseconds later, seen& all) {
    if (later > 0ms) co_await sleep_through(later);
    all.at = co_await now();
    all.was_taken = which == gesture::stop_now ? chat.interrupt() : chat.stop_after_answer();
}

task<seen> play(scene& on, chat_type& chat, const phase& where, gesture which) {
    const context here = co_await this_coroutine();
    seen all;
    scope timers(here);
    bool is_pressed = false;
    auto run = chat.run("go", {.approve = on.asks});
    while (auto m = co_await run.next()) {
        const bool is_here = !is_pressed && where.reached(*m);
        all.items.push_back(std::move(*m));
        if (!is_here) continue;
        is_pressed = true;
        if (where.meanwhile != nullptr) where.meanwhile(chat);
        if (which != gesture::detach && where.later == 0ms) {
            co_await press(chat, which, where.later, all);
            continue;
        }
        if (which != gesture::detach) {
            timers.spawn(press(chat, which, where.later, all));
            continue;
        }
        all.was_taken = chat.detach(std::move(run));
        while (chat.is_running())
            co_await sleep_for(50ms);
        run = chat.attach();
    }
    all.took = co_await now();
    all.took -= all.at;
    all.outcome = std::move(run.result());
    co_return all;
}

task<decision> slow_allow(const tool_call&) {
    co_await sleep_for(100ms);
    co_return decision::allow;
}

/// A turn with a tool, behind which the context is too big.
void set_compaction(scene& on) {
    on.tools.tool("t", after(10ms, "out"));
    on.options.compaction.emplace().max_context_length = 10;
    on.model.add(answer().call("c", "t").usage({.total = 20}));
}

template <kind Kind>
bool is(const message& m) {
    return m.kind() == Kind;
}
template <kind Kind>
bool is_delta(const message& m) {
    return m.kind() == Kind && m.frame() == frame::delta;
}

std::string block(const std::string& lines) {
    return "text:[turn_aborted]\n  [user_input]go[/user_input]\n" + lines + "[/turn_aborted]";
}

const std::string aborted_call = "  [tool_call name=\"t\" id=\"c\"]{}[/tool_call]\n";
const std::string placeholder = "[interrupted: tool aborted by user]";
const words out = {"tool_call_output:out:c"};
const words summary = {"text:[context_summary]\ns\n[/context_summary]"};
constexpr const char* by_user = "aborted by user";

std::vector<phase> phases_of_a_request() {
    return {
        {"before the request",
         [](scene& on) {
             on.options.meta = meta_of("s");
             on.model.add(answer().text("x"));
         },
         is<kind::tool_list_ready>,
         0ms,
         {"text:go"},
         by_user,
         how::answered,
         {}},
        {"in thinking",
         [](scene& on) { on.model.add(answer().thinking("a", "b").with_gap(100ms).text("x")); },
         is_delta<kind::partial_thinking>,
         10ms,
         {block("  [thinking]a[/thinking]\n")},
         by_user,
         how::answered,
         {}},
        {"mid text",
         [](scene& on) { on.model.add(answer().text("a", "b").with_gap(100ms)); },
         is_delta<kind::partial_text>,
         10ms,
         {block("  [text]a[/text]\n")},
         by_user,
         how::answered,
         {}},
        {"mid arguments",
         [](scene& on) {
             on.tools.tool("t", after(10ms, "out"));
             on.model.add(answer().text("x").call_pieces("c", "t", {"{\"a\"", ":1}"}).with_gap(100ms));
         },
         is_delta<kind::partial_tool_call>,
         10ms,
         {block("  [text]x[/text]\n")},
         by_user,
         how::stopped,
         out},
        {"decision open, answer goes on",
         [](scene& on) {
             on.asks = slow_allow;
             on.tools.tool("t", after(10ms, "out"));
             on.model.add(answer().call("c", "t").text("x"));
         },
         is<kind::tool_call>,
         10ms,
         {block(aborted_call)},
         by_user,
         how::stopped,
         out},
        {"decision open, answer delivered",
         [](scene& on) {
             on.asks = slow_allow;
             on.tools.tool("t", after(10ms, "out"));
             on.model.add(answer().call("c", "t"));
         },
         is<kind::tool_call>,
         10ms,
         {"tool_call_output:" + placeholder + ":c:aborted"},
         by_user,
         how::stopped,
         out},
        {"retry wait",
         [](scene& on) {
             on.model.add(answer().text("par").ends(model_outcome::failed("busy")));
             on.model.add(answer().text("x"));
         },
         is<kind::request_end>,
         500ms,
         {"text:go", "text:[turn_retried]\n  [text]par[/text]\n[/turn_retried]"},
         "aborted during reconnect backoff",
         how::stopped,
         {"text:go", "text:[turn_retried]\n  [text]par[/text]\n[/turn_retried]"}},
    };
}

std::vector<phase> phases_of_tools() {
    return {
        {"tool running, request open",
         [](scene& on) {
             on.tools.tool("t", after(100ms, "out"));
             on.model.add(answer().call("c", "t").wait(300ms).text("x"));
         },
         is<kind::approval_decision>,
         10ms,
         {block(aborted_call + "  [tool_call_output id=\"c\" status=\"aborted\"]" + placeholder +
                "[/tool_call_output]\n")},
         by_user,
         how::stopped,
         out},
        {"tool running, request ended",
         [](scene& on) {
             on.tools.tool("t", after(500ms, "late")).tool("u", after(1ms, "early"));
             on.model.add(answer().call("c", "t").call("d", "u"));
         },
         is<kind::request_end>,
         10ms,
         {"tool_call_output:" + placeholder + ":c:aborted", "tool_call_output:early:d"},
         by_user,
         how::stopped,
         {"tool_call_output:late:c", "tool_call_output:early:d"}},
        {"between turns, an image is being described",
         [](scene& on) {
             on.tools.tool("t", after(10ms, "out"));
             on.model.add(answer().call("c", "t"));
             on.options.adapt_image = [](message) -> task<std::string> {
                 co_await sleep_for(100ms);
                 co_return "a cat";
             };
         },
         is<kind::request_end>,
         50ms,
         out,
         by_user,
         how::stopped,
         {out.front(), "text:[user_steering]\na cat\n[/user_steering]"},
         [](chat_type& chat) {
             const auto ticket = chat.steer(std::vector<message>{message::image_url("data:cat")});
             CHECK(ticket);
         }},
        {"child running",
         [](scene& on) {
             script(on.child_model, answer().wait(10ms).text("he", "llo").with_gap(200ms));
             on.tools.child("kid", on.child);
             on.model.add(answer().call("c", "kid"));
         },
         [](const message& m) { return !m.origin().empty() && is_delta<kind::partial_text>(m); },
         10ms,
         {"tool_call_output:he\n[subagent aborted: aborted by user]\n" + placeholder + ":c:aborted"},
         by_user,
         how::stopped,
         {"tool_call_output:hello:c"}},
    };
}

std::vector<phase> phases_of_a_compaction() {
    return {
        {"compaction request",
         [](scene& on) {
             set_compaction(on);
             on.model.add(answer().wait(200ms).text("[summary]s[/summary]"));
         },
         is<kind::compaction_begin>, 10ms, out, "aborted during compaction", how::stopped, summary},
        {"compaction retry wait",
         [](scene& on) {
             set_compaction(on);
             on.model.add(answer().ends(model_outcome::failed("busy")));
             on.model.add(answer().text("[summary]s[/summary]"));
         },
         is<kind::compaction_begin>, 500ms, out, "aborted during compaction", how::stopped, out},
        {"own summarizer",
         [](scene& on) {
             set_compaction(on);
             on.options.compaction->summarize_with =
                 [](std::span<const message>, std::span<const message>) -> task<result<std::string>> {
                 co_await sleep_for(200ms);
                 result<std::string> words = std::string("s");
                 co_return words;
             };
         },
         is<kind::compaction_begin>, 10ms, out, "aborted during compaction", how::stopped, summary},
    };
}

words joined(words all, const words& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// Plays one phase with one gesture and says what is not as the table has it.
task<void> check(const phase& where, gesture which) {
    INFO(where.name);
    scene on;
    where.set(on);
    for (int spare = 0; spare < 2; ++spare)
        on.model.add(answer().text("next"));
    chat_type chat(std::ref(on.model), std::ref(on.tools), on.options);
    seen all = co_await play(on, chat, where, which);

    const bool is_soft = which == gesture::stop_after_answer;
    CHECK(all.was_taken);
    CHECK(objections(all.items) == "");
    const words kept = words_of(chat.carry_over());
    words next;
    if (which == gesture::stop_now) {
        CHECK(all.took == 0ms);
        CHECK(all.outcome.how() == how::interrupted);
        CHECK(word_of(all.items.back()) == std::string("abort:") + where.now_says);
        CHECK(kept == where.now_keeps);
        next = joined(where.now_keeps, {"text:on"});
    } else if (is_soft) {
        CHECK(all.outcome.how() == where.soft);
        const std::string last = word_of(all.items.back());
        CHECK((last == "abort:stopped after answer") == (where.soft == how::stopped));
        CHECK(kept == where.soft_keeps);
        next = joined(where.soft_keeps, {"text:on"});
    } else {
        CHECK(all.outcome.how() == how::answered);
        CHECK_FALSE(is_aborted(all.items));
        CHECK(kept.empty());
        next = {"text:on"};
    }

    const std::size_t before = on.model.requests();
    auto second = co_await collect(chat.run("on", {.approve = allow_all}));
    CHECK(second.result.ok());
    CHECK(words_of_request(on.model, before) == next);
}

task<void> check_all(std::vector<phase> phases) {
    for (const phase& each : phases) {
        for (const gesture which : {gesture::stop_now, gesture::stop_after_answer, gesture::detach})
            co_await check(each, which);
    }
}

} // namespace

CO_TEST_CASE(
    "stop now, stop after this answer and detach keep what the table says in each phase of a request") {
    co_await check_all(phases_of_a_request());
}

CO_TEST_CASE("stop now, stop after this answer and detach keep what the table says while tools run and "
             "between turns") {
    co_await check_all(phases_of_tools());
}

CO_TEST_CASE("stop now, stop after this answer and detach keep what the table says in a compaction") {
    co_await check_all(phases_of_a_compaction());
}

CO_TEST_CASE("a gesture that no run can take is refused") {
    scripted_model model{answer().text("x")};
    session chat(std::ref(model), scripted_tools{});
    CHECK_FALSE(chat.interrupt());
    CHECK_FALSE(chat.stop_after_answer());
    CHECK_FALSE(chat.skip_retry_wait());
    auto run = chat.run("go");
    std::vector<message> items;
    while (auto m = co_await run.next())
        items.push_back(std::move(*m));
    CHECK_FALSE(chat.interrupt());
    CHECK_FALSE(chat.stop_after_answer());
    CHECK(objections(items) == "");
}

CO_TEST_CASE("a stop now after a stop after this answer wins") {
    scripted_model model{answer().text("a").call("c", "t"), answer().text("next")};
    scripted_tools tools{{"t", tool_script().hang()}};
    session chat(std::ref(model), std::ref(tools));
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(10ms, [&] { CHECK(chat.stop_after_answer()); }));
    timers.spawn(do_at(20ms, [&] {
        CHECK(chat.interrupt());
        CHECK_FALSE(chat.interrupt());
    }));
    auto seen = co_await collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.how() == how::interrupted);
    CHECK(word_of(seen.items.back()) == "abort:aborted by user");
}
