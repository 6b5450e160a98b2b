// SPDX-License-Identifier: BSL-1.0

// Who does not listen to a stop request does not hold a run: the bounds of docs/reference/stopping.md.

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;

namespace {

constexpr milliseconds grace = 2000ms;

task<decision> deaf_approver(const tool_call&) {
    co_await sleep_through(1h);
    co_return decision::allow;
}

struct scene {
    scripted_model model;
    scripted_model child_model;
    family child_tools;
    slow_sink child_sink{0, 1h};
    session_options child_options;
    family tools;
    session_options options;
    approver asks = allow_all;
    std::vector<message> steered;
};

struct deaf_party {
    const char* name;
    void (*set)(scene&);
};

tool_script deaf_tool() {
    return tool_script().output("x").wait_through(1h);
}

task<std::string> deaf_adapter(message) {
    co_await sleep_through(1h);
    co_return "never";
}

task<result<std::string>> deaf_summarizer(std::span<const message>, std::span<const message>) {
    co_await sleep_through(1h);
    result<std::string> words = std::string("never");
    co_return words;
}

void with_compaction(scene& on) {
    on.tools.tool("t", after(1ms, "out"));
    on.options.compaction.emplace().max_context_length = 10;
    on.model.add(answer().call("c", "t").usage({.total = 20}));
}

void with_child(scene& on) {
    on.model.add(answer().call("c", "kid"));
}

const deaf_party parties[] = {
    {"model before its first word", [](scene& on) { on.model.add(answer().deaf()); }},
    {"model in thinking", [](scene& on) { on.model.add(answer().thinking("a").left_open().deaf()); }},
    {"model mid text", [](scene& on) { on.model.add(answer().text("a").left_open().deaf()); }},
    {"model mid arguments",
     [](scene& on) { on.model.add(answer().call_pieces("c", "t", {"{"}).left_open().deaf()); }},
    {"model with a tool running",
     [](scene& on) {
         on.tools.tool("t", tool_script().hang());
         on.model.add(answer().call("c", "t").deaf());
     }},
    {"approver, answer goes on",
     [](scene& on) {
         on.asks = deaf_approver;
         on.tools.tool("t", after(1ms, "out"));
         on.model.add(answer().call("c", "t").text("x"));
     }},
    {"approver, answer delivered with the call",
     [](scene& on) {
         on.asks = deaf_approver;
         on.tools.tool("t", after(1ms, "out"));
         on.model.add(answer().text("x").call("c", "t").left_open());
     }},
    {"tool, request open",
     [](scene& on) {
         on.tools.tool("t", deaf_tool());
         on.model.add(answer().call("c", "t").hang());
     }},
    {"tools, request ended",
     [](scene& on) {
         on.tools.tool("t", deaf_tool());
         on.model.add(answer().call("c", "t").call("d", "t"));
     }},
    {"tool and model",
     [](scene& on) {
         on.tools.tool("t", deaf_tool());
         on.model.add(answer().call("c", "t").deaf());
     }},
    {"model of a compaction",
     [](scene& on) {
         with_compaction(on);
         on.model.add(answer().text("a").left_open().deaf());
     }},
    {"own summarizer",
     [](scene& on) {
         with_compaction(on);
         on.options.compaction->summarize_with = deaf_summarizer;
     }},
    {"image adapter",
     [](scene& on) {
         on.tools.tool("t", after(50ms, "out"));
         on.model.add(answer().call("c", "t"));
         on.options.adapt_image = deaf_adapter;
         on.steered.push_back(message::image_url("data:x"));
     }},
    {"model of a child",
     [](scene& on) {
         with_child(on);
         on.child_model.add(answer().text("a").left_open().deaf());
     }},
    {"tool of a child",
     [](scene& on) {
         with_child(on);
         on.child_tools.tool("t", deaf_tool());
         on.child_model.add(answer().call("k", "t").text("x"));
     }},
    {"approver of a child",
     [](scene& on) {
         with_child(on);
         on.asks = [](const tool_call& call) -> task<decision> {
             if (!call.origin().empty()) co_await sleep_through(1h);
             co_return decision::allow;
         };
         on.child_tools.tool("t", after(1ms, "out"));
         on.child_model.add(answer().call("k", "t").text("x"));
     }},
    {"trace of a child",
     [](scene& on) {
         with_child(on);
         on.child_options.trace = &on.child_sink;
         on.child_model.add(answer().text("x"));
     }},
};

/// Stops a run after 100 ms and reads it to its end; `took` is the time from the one to the other.
template <class Chat>
task<collected<message, run_outcome>> stopped(Chat& chat, approver asks, milliseconds& took) {
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(100ms, [&chat] { CHECK(chat.interrupt()); }));
    const auto begin = co_await now();
    auto all = co_await collect(chat.run("go", {.approve = asks}));
    const auto end = co_await now();
    took = end - begin - 100ms;
    co_return all;
}

} // namespace

CO_TEST_CASE("a stop now ends the run within the grace, whoever is deaf, and nothing of the input is lost") {
    for (const deaf_party& each : parties) {
        INFO(each.name);
        scene on;
        each.set(on);
        on.model.add(answer().text("next"));
        session child(std::ref(on.child_model), std::ref(on.child_tools), on.child_options);
        on.tools.child("kid", child);
        session chat(std::ref(on.model), std::ref(on.tools), on.options);

        const context here = co_await this_coroutine();
        scope timers(here);
        if (!on.steered.empty()) timers.spawn(do_at(10ms, [&] { CHECK(chat.steer(on.steered)); }));
        milliseconds took{0};
        auto all = co_await stopped(chat, on.asks, took);
        CHECK(took <= grace);
        CHECK(took >= grace / 2); // it was deaf indeed
        CHECK(all.result.how() == how::interrupted);
        CHECK(is_aborted(all.items));
        CHECK_FALSE(child.is_running());

        const std::size_t before = on.model.requests();
        auto second = co_await collect(chat.run("on", {.approve = allow_all}));
        CHECK(second.result.ok());
        const auto& request = on.model.request(before);
        int asked = 0;
        for (const auto* part : {&request.history, &request.input}) {
            for (const message& m : *part)
                asked += m.content().view().find("go") != std::string_view::npos ? 1 : 0;
        }
        CHECK(asked == 1);
    }
}

CO_TEST_CASE(
    "an answer that was delivered is committed although the decision about its last call never comes") {
    scripted_model model{answer().text("x").call("c", "t").left_open(), answer().text("next")};
    scripted_tools tools{{"t", after(1ms, "must not run")}};
    session chat(std::ref(model), std::ref(tools));
    milliseconds took{0};
    auto all = co_await stopped(chat, deaf_approver, took);
    CHECK(took == grace);
    CHECK(tools.executed().empty());
    CHECK(words_of(chat.carry_over()) ==
          words{"tool_call_output:[interrupted: tool aborted by user]:c:aborted"});
    CHECK(outputs(all).size() == 1);
}

CO_TEST_CASE("a deaf trace holds a stopped run for twice the grace at most, and what it lost is said once") {
    for (std::size_t from = 0; from < 6; ++from) {
        INFO("deaf from write " << from);
        scripted_model model{answer().text("a").call("c", "t").wait(50ms).text("b"),
                             answer().text("x").wait(1h), answer().text("next"), answer().text("next")};
        scripted_tools tools{{"t", after(10ms, "out")}};
        slow_sink sink(from, 1h);
        session_options options;
        options.trace = &sink;
        session chat(std::ref(model), std::ref(tools), options);
        milliseconds took{0};
        auto first = co_await stopped(chat, allow_all, took);
        CHECK(took <= 2 * grace);
        CHECK(first.result.how() == how::interrupted);
        CHECK(is_aborted(first.items));
        CHECK(sink.writes() == from + 1); // a trace that was given up is not asked again

        sink.get_well();
        auto second = co_await collect(chat.run("on", {.approve = allow_all}));
        CHECK(second.result.ok());
        std::vector<message> faults = of_kind(first, kind::trace_fault);
        const std::vector<message> later = of_kind(second, kind::trace_fault);
        faults.insert(faults.end(), later.begin(), later.end());
        REQUIRE(faults.size() == 1);
        const auto* fault = faults.front().event_if<trace_fault>();
        CHECK(fault->error.view().find("did not answer within 2000 ms") != std::string_view::npos);
        CHECK(fault->lost > 0);
        CHECK(word_of(sink.kept.files().at(0).back()) == "request_end:completed");
    }
}

CO_TEST_CASE("a slow trace that answers within the grace loses nothing when the run is stopped") {
    scripted_model model{answer().text("a").hang()};
    slow_sink sink(0, 300ms);
    session_options options;
    options.trace = &sink;
    session chat(std::ref(model), scripted_tools{}, options);
    milliseconds took{0};
    auto all = co_await stopped(chat, allow_all, took);
    CHECK(took <= 2 * grace);
    CHECK(of_kind(all, kind::trace_fault).empty());
    CHECK(word_of(sink.kept.files().at(0).back()) == "abort:aborted by user");
}

CO_TEST_CASE("a trace that throws is an error like any other and stops nothing") {
    struct broken final : trace::sink {
        task<result<void>> write(std::span<const message>) override {
            co_await yield();
            throw std::runtime_error("no such luck");
        }
        void rotate() override {}
        std::string_view path() const noexcept override { return "broken"; }
    };
    scripted_model model{answer().text("a")};
    broken sink;
    session_options options;
    options.trace = &sink;
    session chat(std::ref(model), scripted_tools{}, options);
    auto all = co_await collect(chat.run("go"));
    CHECK(all.result.ok());
    const auto faults = of_kind(all, kind::trace_fault);
    REQUIRE(faults.size() == 1);
    CHECK(faults.front().event_if<trace_fault>()->error == "the trace threw: no such luck");
}

CO_TEST_CASE("a compaction on request is stopped within the grace, however deaf model, summarizer or trace") {
    for (const int deaf : {0, 1, 2}) {
        INFO(deaf);
        scripted_model model{answer().text("x")};
        slow_sink sink(0, 0ms);
        session_options options;
        options.compaction.emplace();
        options.trace = &sink;
        if (deaf == 0) model.add(answer().text("a").left_open().deaf());
        if (deaf == 1) options.compaction->summarize_with = deaf_summarizer;
        if (deaf == 2) model.add(answer().wait(1h).text("s"));
        model.add(answer().text("next"));
        session chat(std::ref(model), scripted_tools{}, options);
        auto first = co_await collect(chat.run("go"));
        CHECK(first.result.ok());
        if (deaf == 2) sink.fall_ill(1h);
        const context here = co_await this_coroutine();
        scope timers(here);
        timers.spawn(do_at(100ms, [&] { CHECK(chat.interrupt()); }));
        const auto begin = co_await now();
        auto all = co_await collect(chat.compact());
        const auto end = co_await now();
        CHECK(end - begin - 100ms <= (deaf == 2 ? 2 : 1) * grace);
        CHECK(end - begin - 100ms >= grace);
        CHECK(all.result.how() == compaction_outcome::end::aborted);
        CHECK(word_of(all.items.back()).starts_with("compaction_end"));
        CHECK(chat.context().size() == 2);
        sink.get_well();
        auto next = co_await collect(chat.run("on"));
        CHECK(next.result.ok());
    }
}

CO_TEST_CASE("a stop request belongs to its run and does not reach the next one") {
    scripted_model model{answer().text("a", "b").with_gap(50ms), answer().text("a", "b").with_gap(50ms),
                         answer().text("done")};
    session chat(std::ref(model), scripted_tools{});
    for (int run = 0; run < 2; ++run) {
        const context here = co_await this_coroutine();
        scope timers(here);
        timers.spawn(do_at(10ms, [&] { chat.interrupt(); }));
        auto seen = co_await collect(chat.run("go"));
        CHECK(seen.result.how() == how::interrupted);
    }
    auto seen = co_await collect(chat.run("go"));
    CHECK(seen.result.ok());
    CHECK(times_asked(model, "[turn_aborted]") == 2); // once in each later request: blocks do not nest
}
