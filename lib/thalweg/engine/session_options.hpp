// SPDX-License-Identifier: BSL-1.0

#pragma once

// What can be set about a session and about one run.

#include <thalweg/engine/approver.hpp>
#include <thalweg/engine/command_policy.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/trace/sink.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>

namespace thalweg {

/// Limits of one tool call (R-ENV-05, R-ENV-06).
struct tool_limits {
    std::chrono::milliseconds timeout{120'000}; ///< zero or less: none
    std::int64_t max_output = 16'000;           ///< Unicode code points; zero or less: none
};

/// When a failed model request is tried again (R-ENG-50…52).
struct retry_policy {
    int most = 5;                              ///< retries per turn
    std::chrono::milliseconds base{2'000};     ///< wait before the first; doubles each time
    std::chrono::milliseconds ceiling{30'000}; ///< and never exceeds this, whatever the provider wishes (D-05)
    bool fail_fast = false;                    ///< a permanent failure ends the run at once
};

/// Options of a session. Write them in the declaration of the session, not inside an awaited expression: they own
/// strings, and g++ 12 destroys such temporaries twice there.
struct session_options {
    std::string system = {};
    std::string thinking_level = {}; ///< handed to the provider; empty = its default
    int max_turns = -1;              ///< model requests of one run, retries not counted; zero or less: no limit (R-ENG-38)
    retry_policy retry = {};
    tool_limits tools = {};
    std::map<std::string, tool_limits, std::less<>> tool_overrides = {}; ///< by tool name
    command_policy commands = {};
    bool start_on_entry = false; ///< a tool's start frame comes at dispatch instead of with its first output (R-ENV-01)
    std::chrono::milliseconds interrupt_grace{2'000}; ///< what a deaf party gets after a stop request (R-ENG-35)
    trace::sink* trace = nullptr;                     ///< outlives the session
    /// With it the session writes it as first record and announces its tools on the first run (R-ENG-90).
    std::optional<session_meta> meta = {};
};

/// Options of one run. Trivially destructible on purpose: they may stand inside an awaited expression.
struct run_options {
    approver approve = {};            ///< none: every tool call is denied
    std::optional<int> max_turns = {}; ///< instead of the session's
};
static_assert(std::is_trivially_destructible_v<run_options>);

} // namespace thalweg
