// SPDX-License-Identifier: BSL-1.0

#pragma once

// What can be set about a session and about one run.

#include <thalweg/engine/command_policy.hpp>
#include <thalweg/protocol/approver.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/trace/sink.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace thalweg {

/// Limits of one tool call (R-ENV-05, R-ENV-06).
struct tool_limits {
    std::chrono::milliseconds timeout{120'000}; ///< zero or less: none
    std::int64_t max_output = 16'000;           ///< Unicode code points; zero or less: none
};

/// When a failed model request is tried again (R-ENG-50…52).
struct retry_policy {
    int most = 5;                          ///< retries per turn
    std::chrono::milliseconds base{2'000}; ///< wait before the first; doubles each time
    std::chrono::milliseconds ceiling{
        30'000};            ///< and never exceeds this, whatever the provider wishes (D-05)
    bool fail_fast = false; ///< a permanent failure ends the run at once
};

/// A program's own way to sum up a context, instead of asking the model: `context` is what is to be given up,
/// `owed` what would have been submitted next; both live until the task has ended. Gives the summary as
/// UTF-8; an error or a blank text leaves everything as it was. Exceptions count as errors.
using summarizer = std::function<task<result<std::string>>(std::span<const message> context,
                                                           std::span<const message> owed)>;

/// When and how a context is given up for a summary of it (engine §7). Without these settings nothing is
/// compacted.
struct compaction_settings {
    std::int64_t
        max_context_length = -1; ///< tokens of one request; at or above it is due; zero or less: never
    int max_session_turns = -1;  ///< completed requests of one context; zero or less: never
    compaction_mode mode = compaction_mode::summarize;
    std::string
        prompt = "Sum up this conversation so that the work can go on from the summary alone: the task, "
                 "what was decided and why, the state of the work, open questions, names and paths "
                 "that are needed. Write the summary between [summary] and [/summary]. Call no tools.";
    bool forward_summary = false;   ///< the summary's text is streamed, too (R-ENG-71)
    std::optional<int> most = {};   ///< retries; without it those of retry_policy
    summarizer summarize_with = {}; ///< instead of a request to the model
};

/// Turns an image into a line of text for a model that takes none (R-ENG-65). An empty text or an exception
/// is an error that ends the run.
using image_adapter = std::function<task<std::string>(message image)>;

/// What is kept of a run that nobody watches (D-21); the oldest goes first.
struct tail_limits {
    std::size_t messages = 4096;
    std::size_t bytes = std::size_t(4) << 20; ///< of content
};

/// Options of a session. Write them in the declaration of the session, not inside an awaited expression: they
/// own strings, and g++ 12 destroys such temporaries twice there.
struct session_options {
    std::string system = {};
    std::string thinking_level = {}; ///< handed to the provider; empty = its default
    int max_turns = -1; ///< model requests of one run, retries not counted; zero or less: no limit (R-ENG-38)
    retry_policy retry = {};
    tool_limits tools = {}; ///< for tools whose definition has no time-out of its own
    std::map<std::string, tool_limits, std::less<>> tool_overrides =
        {}; ///< by tool name; before what the definition says
    command_policy commands = {};
    std::optional<compaction_settings> compaction = {};
    image_adapter adapt_image = {}; ///< for images in steered input
    int max_depth = 1;              ///< of sessions below this one (D-14)
    tail_limits tail = {};
    std::function<void(message)> on_background =
        {};                                   ///< a message of a background run that no stream can take
    std::function<void()> when_notified = {}; ///< a notice came while no run could take it (R-ENG-92)
    bool start_on_entry = false; ///< a tool's start frame comes at dispatch instead of with its first output
                                 ///< (R-ENV-01)
    std::chrono::milliseconds interrupt_grace{
        2'000};                   ///< what a deaf party gets after a stop request (R-ENG-35)
    trace::sink* trace = nullptr; ///< outlives the session
    /// With it the session writes it as first record and announces its tools on the first run (R-ENG-90).
    std::optional<session_meta> meta = {};
};

/// Options of one run. Trivially destructible on purpose: they may stand inside an awaited expression.
struct run_options {
    approver approve = {};             ///< none: every tool call is denied
    std::optional<int> max_turns = {}; ///< instead of the session's
    std::string_view thinking_level =
        {}; ///< instead of the session's (R-ENG-58); lives until the run has begun

    /// The stream has the facts, too (message::is_fact(), R-EVT-101): what agent_view makes agent events of.
    /// They are neither recorded nor part of the public stream.
    bool facts = false;

    // For a session that runs under a tool call of another one, see session::run_under().
    int depth = 0;                                       ///< sessions above this one
    std::optional<int> max_depth = {};                   ///< instead of the session's
    std::optional<std::chrono::milliseconds> grace = {}; ///< instead of the session's
};
static_assert(std::is_trivially_destructible_v<run_options>);

} // namespace thalweg
