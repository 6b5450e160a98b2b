// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_state.hpp>

#include <algorithm>

namespace thalweg {

namespace {

/// Takes an attempt that will be repeated out of the transcript: the failed message and the results that were
/// made up for its calls (R-EVT-71).
void drop_failed_attempt(std::vector<agent_message>& messages) {
    auto last = messages.size();
    while (last > 0 && messages[last - 1].kind() == agent_message::type::tool_result)
        --last;
    if (last == 0 || messages[last - 1].stop() != agent_stop::error) return;
    messages.resize(last - 1);
}

struct reducer {
    agent_state& state;

    void operator()(const agent_event::agent_start&) const {
        state.is_streaming = true;
        state.error.reset();
        state.stream_message.reset();
    }
    void operator()(const agent_event::agent_end&) const { state.stream_message.reset(); }
    void operator()(const agent_event::turn_start&) const {}
    void operator()(const agent_event::turn_end& e) const {
        if (e.message.is_broken()) state.error = e.message.error();
    }
    void operator()(const agent_event::message_start& e) const { state.stream_message = e.message; }
    void operator()(const agent_event::message_update& e) const { state.stream_message = e.message; }
    void operator()(const agent_event::message_end& e) const {
        state.stream_message.reset();
        state.messages.push_back(e.message);
    }
    void operator()(const agent_event::tool_execution_start& e) const {
        state.pending_tool_calls.push_back(e.tool_call_id);
    }
    void operator()(const agent_event::tool_execution_update&) const {}
    void operator()(const agent_event::tool_execution_end& e) const {
        auto& pending = state.pending_tool_calls;
        const auto found = std::find(pending.begin(), pending.end(), e.tool_call_id);
        if (found != pending.end()) pending.erase(found);
    }
    void operator()(const agent_event::auto_retry_start&) const {
        drop_failed_attempt(state.messages);
        state.error.reset();
    }
    void operator()(const agent_event::auto_retry_end&) const {}
};

} // namespace

void agent_state::apply(const agent_event& event) {
    event.visit(reducer{*this});
}

void agent_state::settle() {
    is_streaming = false;
    stream_message.reset();
    pending_tool_calls.clear();
}

void agent_state::reset() {
    messages.clear();
    stream_message.reset();
    pending_tool_calls.clear();
    error.reset();
}

} // namespace thalweg
