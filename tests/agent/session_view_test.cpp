// SPDX-License-Identifier: BSL-1.0

// A session's run seen by both views: with the facts on, its public messages are what they are without, and
// the facts give agent events that keep their promises.

#include <thalweg/agent/agent_event_checker.hpp>
#include <thalweg/agent/agent_view.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <algorithm>
#include <functional>

using namespace thalweg;
using namespace std::chrono_literals;
using testing::after;
using testing::answer;
using testing::scripted_model;
using testing::scripted_tools;

namespace {

using words = std::vector<std::string>;

struct script {
    std::function<scripted_model()> model;
    scripted_tools tools;
    std::function<void(session<scripted_model&, scripted_tools&>&)> nudge = {}; ///< after 100 ms
};

struct seen {
    words published; ///< the public messages, without their time
    words recorded;
    words events; ///< names without those of updates; of executions with the call's id
    std::string complaints;
};

std::string name_of(const agent_event& e) {
    std::string name(to_string(e.kind()));
    if (const auto* end = e.get_if<agent_event::tool_execution_end>()) name += ":" + end->tool_call_id.str();
    if (const auto* start = e.get_if<agent_event::tool_execution_start>())
        name += ":" + start->tool_call_id.str();
    if (const agent_message* m = e.message(); m != nullptr && e.kind() != agent_event::type::turn_end)
        name += ":" + std::string(m->role());
    return name;
}

std::ptrdiff_t count_of(std::string_view name, const seen& in) {
    return std::count(in.events.begin(), in.events.end(), name);
}

std::string timeless(message m) {
    std::string line = to_json(m);
    const auto at = line.find("\"timestamp\"");
    return at == std::string::npos ? line : line.substr(0, at) + line.substr(line.find(',', at) + 1);
}

template <class Session>
task<void> nudge_later(Session& chat, std::function<void(Session&)> how) {
    const bool slept = co_await sleep_for(100ms);
    if (slept && how) how(chat);
}

task<seen> look(script what, bool facts) {
    scripted_model model = what.model();
    trace::memory_sink trace;
    session_options options;
    options.trace = &trace;
    options.retry.base = 10ms;
    session<scripted_model&, scripted_tools&> chat(std::ref(model), std::ref(what.tools), options);
    run_options around;
    around.approve = [](const tool_call& call) {
        return call.name() == "forbidden" ? decision::deny : decision::allow;
    };
    around.facts = facts;
    auto run = chat.run("go", around);
    scope nudges(co_await this_coroutine());
    nudges.spawn(nudge_later(chat, what.nudge));
    auto all = co_await testing::collect(std::move(run));
    nudges.drop();
    seen made;
    agent_view view;
    agent_event_checker checker;
    for (const message& m : all.items) {
        if (!m.is_fact()) made.published.push_back(timeless(m));
        for (const agent_event& e : view.feed(m)) {
            checker.feed(e);
            const bool is_update = e.kind() == agent_event::type::message_update ||
                                   e.kind() == agent_event::type::tool_execution_update;
            if (!is_update) made.events.push_back(name_of(e));
        }
    }
    if (facts) checker.finish();
    made.complaints = checker.report();
    for (const auto& file : trace.files()) {
        for (const message& m : file)
            made.recorded.push_back(timeless(m));
    }
    co_return std::move(made);
}

script two_tools() {
    return {
        [] {
            return scripted_model{
                answer().text("look").call("a", "slow").call("b", "fast").call("c", "forbidden"),
                answer().thinking("hm").text("done")};
        },
        {{"slow", after(300ms, "late")}, {"fast", after(20ms, "early")}, {"forbidden", after(0ms, "no")}}};
}

script interrupted() {
    script made = two_tools();
    made.nudge = [](auto& chat) { chat.interrupt(); };
    return made;
}

script steered() {
    script made = two_tools();
    made.nudge = [](auto& chat) { chat.steer("and hurry"); };
    return made;
}

script repeated() {
    return {[] {
                return scripted_model{answer().text("ha").ends(model_outcome::failed("overloaded")),
                                      answer().text("fine")};
            },
            {{"unused", after(0ms, "")}}};
}

script given_up() {
    return {[] { return scripted_model{answer().ends(model_outcome::auth("wrong key"))}; },
            {{"unused", after(0ms, "")}}};
}

} // namespace

CO_TEST_CASE(
    "facts change nothing about what is public or recorded, and give events that keep their promises") {
    const std::vector<std::pair<std::string, script (*)()>> scripts = {
        {"two tools", two_tools}, {"interrupted", interrupted}, {"steered", steered},
        {"repeated", repeated},   {"given up", given_up},
    };
    for (const auto& each : scripts) {
        INFO(each.first);
        const seen without = co_await look(each.second(), false);
        const seen with = co_await look(each.second(), true);
        CHECK(with.published == without.published);
        CHECK(with.recorded == without.recorded);
        CHECK(without.events.empty());
        CHECK(with.events.front() == "agent_start");
        CHECK(with.events.back() == "agent_end");
        CHECK(with.complaints.empty());
    }
}

CO_TEST_CASE("the agent view of a session shows executions behind the answer, and results in call order") {
    const seen all = co_await look(two_tools(), true);
    const words expected = {
        "agent_start",
        "turn_start",
        "message_start:user",
        "message_end:user",
        "message_start:assistant",
        "message_end:assistant",
        "tool_execution_start:a",
        "tool_execution_start:b",
        "tool_execution_start:c",
        "tool_execution_end:c",
        "tool_execution_end:b",
        "tool_execution_end:a",
        "message_start:toolResult",
        "message_end:toolResult",
        "message_start:toolResult",
        "message_end:toolResult",
        "message_start:toolResult",
        "message_end:toolResult",
        "turn_end",
        "turn_start",
        "message_start:assistant",
        "message_end:assistant",
        "turn_end",
        "agent_end",
    };
    CHECK(all.events == expected);
}

CO_TEST_CASE("a repeated request shows as auto_retry_start and auto_retry_end") {
    const seen all = co_await look(repeated(), true);
    CHECK(count_of("auto_retry_start", all) == 1);
    CHECK(count_of("auto_retry_end", all) == 1);
    CHECK(count_of("agent_end", all) == 1);
}

CO_TEST_CASE("what is steered shows as an input of the turn that it opens or joins") {
    const seen all = co_await look(steered(), true);
    CHECK(count_of("message_end:user", all) == 2);
}
