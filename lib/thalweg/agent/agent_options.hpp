// SPDX-License-Identifier: BSL-1.0

#pragma once

// What can be set about an agent. Every hook may be left out.
//
// Hooks are called on the loop's thread, in the run's context: a coroutine hook sees the run's stop request
// and is destroyed where it is suspended when it has been deaf for `interrupt_grace`. What a hook refers to
// outlives the agent. A hook that throws ends the run (R-EVT-74) unless said otherwise.

#include <thalweg/agent/agent_message.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/session_options.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

/// How the calls of one answer run (R-EVT-30, R-EVT-33). A tool whose definition says `sequential` makes its
/// whole batch so (R-EVT-34).
enum class tool_execution : std::uint8_t { parallel, sequential };

/// What one poll takes out of a queue (R-EVT-47).
enum class queue_mode : std::uint8_t { one_at_a_time, all };

/// A call that is about to run, or has run, and the answer that made it. Valid while the hook runs.
struct hooked_call {
    const tool_call& call; ///< its arguments fit the tool's schema already, converted where they had to be
    const agent_message& answer;
};

/// What a tool gave, for after_tool_call to change.
struct executed_tool {
    content_list content;
    text details = {}; ///< any JSON; empty = none
    bool is_error = false;
    bool terminates = false; ///< see tool_result::terminating()
};

/// Empty: the call may run. A text blocks it; the model gets the text as an error, or a stock sentence if it
/// is blank. A hook that throws blocks with what it says.
using before_tool_call_hook = std::function<task<std::optional<std::string>>(hooked_call)>;
/// May change what the model and the views get. With this hook set, what a tool streams is shown as progress
/// and is not final. One that throws makes an error of the result.
using after_tool_call_hook = std::function<task<void>(hooked_call, executed_tool&)>;
/// Before each request, on a copy of the transcript (R-EVT-90): leave out, sum up, add.
using transform_context_hook = std::function<task<std::vector<agent_message>>(std::vector<agent_message>)>;
/// Behind it: what the model sees. Only messages of the user, the model and of tool results may be left
/// (convert_standard() drops all others).
using convert_to_llm_hook = std::function<task<std::vector<agent_message>>(std::vector<agent_message>)>;
/// Asked after each turn that was neither an error nor aborted; true ends the run before any queue is looked
/// at (R-EVT-98).
using should_stop_hook = std::function<bool(const agent_message& answer,
                                            std::span<const agent_message> tool_results)>;
/// Messages that enter the run at its polling points (R-EVT-25).
using poll_hook = std::function<std::vector<agent_message>()>;

/// Write them in the declaration of the agent, not inside an awaited expression: they own strings, and g++ 12
/// destroys such temporaries twice there.
struct agent_options {
    std::string system = {};
    std::string model = {}; ///< for people; the provider knows its own
    std::string thinking_level = {};
    std::vector<agent_message> messages = {}; ///< the transcript to begin with
    text id = {}; ///< as origin of its messages in other streams (R-PRO-60); empty = one is made

    thalweg::tool_execution tool_execution = thalweg::tool_execution::parallel;
    queue_mode steering_mode = queue_mode::one_at_a_time;
    queue_mode follow_up_mode = queue_mode::one_at_a_time;
    int max_turns = -1; ///< of one run; zero or less: no limit
    /// Repeats of a failed request inside the run: none by default (R-EVT-71). With `most` above zero each
    /// shows as auto_retry_start and auto_retry_end.
    retry_policy retry = {.most = 0};
    tool_limits tools = {};
    std::map<std::string, tool_limits, std::less<>> tool_overrides = {}; ///< by tool name
    int max_depth = 1;                                                   ///< of agents below this one (D-14)
    std::chrono::milliseconds interrupt_grace{2'000}; ///< what a deaf party gets after an abort (R-ENG-35)

    approver approve = {};        ///< none: every call is allowed (D-12)
    command_policy commands = {}; ///< what it forbids is not asked about (R-ENG-26)
    before_tool_call_hook before_tool_call = {};
    after_tool_call_hook after_tool_call = {};
    transform_context_hook transform_context = {};
    convert_to_llm_hook convert_to_llm = {};
    should_stop_hook should_stop_after_turn = {};
    poll_hook poll_steering = {};   ///< beside agent::steer()
    poll_hook poll_follow_ups = {}; ///< beside agent::follow_up()
    /// A listener threw: what it said. Without this hook it is written to std::clog.
    std::function<void(std::string_view)> on_listener_fault = {};
};

/// The messages of user, model and tool results; all others are dropped (R-EVT-90).
[[nodiscard]] std::vector<agent_message> convert_standard(std::vector<agent_message> messages);

} // namespace thalweg
