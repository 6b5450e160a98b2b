// SPDX-License-Identifier: BSL-1.0

#pragma once

// What an agent is at a moment (R-EVT-76), and how its events change it: a pure function of the state and the
// event, the same for the agent itself, for a remote view and for a test.
//
// A plain value; whoever owns it says which thread.

#include <thalweg/agent/agent_event.hpp>
#include <thalweg/protocol/tool.hpp>

#include <optional>
#include <vector>

namespace thalweg {

struct agent_state {
    // What the host sets; no event changes it.
    text system_prompt;
    text model;
    text thinking_level;
    std::vector<tool_definition> tools;

    std::vector<agent_message> messages; ///< complete ones only (R-EVT-78)
    /// A run is going: from the call that begins it until settle(), agent_end and its listeners included
    /// (R-EVT-54, R-EVT-79).
    bool is_streaming = false;
    std::optional<agent_message> stream_message; ///< the message that is open (D-43)
    std::vector<text> pending_tool_calls;        ///< ids of executions without an end, in order of start
    std::optional<text> error;                   ///< of the last turn that had one; set at its end (D-42)

    /// The change that `event` makes; to be applied before any listener sees it (R-EVT-77).
    void apply(const agent_event& event);
    /// The run is over and its agent_end has been dealt with: not busy any more.
    void settle();
    /// Transcript, partial, pending calls and error are emptied (R-EVT-81).
    void reset();
};

} // namespace thalweg
