// SPDX-License-Identifier: BSL-1.0

#include "agent/logs.hpp"
#include "support/catch.hpp"

#include <thalweg/agent/agent_state.hpp>

#include <algorithm>

using namespace agent_logs;
using thalweg::agent_event;
using thalweg::agent_message;
using thalweg::agent_state;
using thalweg::finish;
using thalweg::message;
using thalweg::run_ending;
using thalweg::stop_reason;

namespace {

// As the conformance recordings list it: messages, open message, pending calls, error.
std::string line_of(const agent_state& state) {
    std::string made = std::to_string(state.messages.size()) + ' ';
    made += state.stream_message ? state.stream_message->role() : "-";
    for (const auto& id : state.pending_tool_calls)
        made += ' ' + id.str();
    if (state.error) made += " | " + state.error->str();
    return made;
}

lines states(agent_state& state, const fact_log& facts) {
    lines made;
    for (const agent_event& event : events(facts)) {
        state.apply(event);
        CHECK(state.is_streaming);
        made.push_back(line(event) + " => " + line_of(state));
    }
    return made;
}

} // namespace

TEST_CASE("the state changes with each event before anybody sees it") {
    agent_state state;
    const fact_log facts = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), done(finish::tool_use),
                                 begun("c1", "read"), output("c1", "A"), settled({"c1"}), answer(),
                                 words({"B"}), broken(stop_reason::failed, "boom"),
                                 run_end(run_ending::failed, "boom")});
    CHECK(states(state, facts) == lines{"agent_start => 0 -",
                                        "turn_start => 0 -",
                                        "start user Go => 0 user",
                                        "end user Go => 1 -",
                                        "start assistant => 1 assistant",
                                        "toolcall_start 0 => 1 assistant",
                                        "toolcall_delta 0 {} => 1 assistant",
                                        "toolcall_end 0 {} => 1 assistant",
                                        "end assistant toolCall c1:{} => 2 -",
                                        "tool_start c1 read {} => 2 - c1",
                                        "tool_end c1 A => 2 -",
                                        "start toolResult c1 A => 2 toolResult",
                                        "end toolResult c1 A => 3 -",
                                        "turn_end toolUse c1 => 3 -",
                                        "turn_start => 3 -",
                                        "start assistant => 3 assistant",
                                        "text_start 0 => 3 assistant",
                                        "text_delta 0 B => 3 assistant",
                                        "text_end 0 B => 3 assistant",
                                        "end assistant text:B | error: boom => 4 -",
                                        "turn_end error => 4 - | boom",
                                        "agent_end user assistant toolResult assistant => 4 - | boom"});
    state.settle();
    CHECK_FALSE(state.is_streaming);
    CHECK(state.error == thalweg::text("boom"));
}

TEST_CASE("a new run clears the error of the last one and keeps its messages") {
    agent_state state;
    states(state,
           join({prompt("Hi"), answer(), broken(stop_reason::failed, "boom"), run_end(run_ending::failed)}));
    state.settle();
    state.apply(agent_event::of(agent_event::agent_start{}));
    CHECK_FALSE(state.error);
    CHECK(state.messages.size() == 2);
    CHECK(state.is_streaming);
}

TEST_CASE("an attempt that is repeated is no longer in the transcript") {
    thalweg::request_end end;
    end.status = stop_reason::failed;
    end.error_message = thalweg::text("overloaded");
    end.retry_in_ms = 2'000;
    agent_state state;
    const lines all = states(state, join({prompt("Hi"),
                                          answer(),
                                          call("c1", "read", {"{}"}),
                                          {message::event(end)},
                                          answer(),
                                          words({"A"}),
                                          done(),
                                          run_end()}));
    CHECK(std::count(all.begin(), all.end(), "retry_start 1 of 0 in 2000: overloaded => 1 -") == 1);
    REQUIRE(state.messages.size() == 2);
    CHECK(state.messages[1].content().joined_text() == "A");
    CHECK_FALSE(state.error);
}

TEST_CASE("the messages of a run are what its end lists") {
    agent_state state;
    for (const agent_event& event : events(join({prompt("Hi"), answer(), words({"A"}), done(), run_end()}))) {
        state.apply(event);
        if (const auto* end = event.get_if<agent_event::agent_end>()) CHECK(end->messages == state.messages);
    }
    CHECK(state.messages.size() == 2);
}

TEST_CASE("a reset empties what runs have left and keeps what the host has set") {
    agent_state state;
    state.system_prompt = "be brief";
    state.messages.push_back(agent_message::user("Hi"));
    state.stream_message = agent_message::user("x");
    state.pending_tool_calls.emplace_back("c1");
    state.error = thalweg::text("boom");
    state.reset();
    CHECK(state.messages.empty());
    CHECK_FALSE(state.stream_message);
    CHECK(state.pending_tool_calls.empty());
    CHECK_FALSE(state.error);
    CHECK(state.system_prompt == "be brief");
}
