// SPDX-License-Identifier: BSL-1.0

#pragma once

// The words that messages are made of (roles, stop reasons, frames) and the payloads of events: what
// message::event() takes and message::event_if() gives.
//
// Plain values: copied freely, no thread rule. Optional members are absent on the wire where they are empty,
// never null (R-PRO-03).

#include <thalweg/protocol/text.hpp>
#include <thalweg/protocol/tool.hpp>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace thalweg {

enum class role : std::uint8_t { user, assistant };

/// How a model message or a request ended (protocol §4). `none` = the field is absent on the wire.
enum class stop_reason : std::uint8_t { none, completed, aborted, timeout, malformed, failed, auth };

/// Which frame of a segment a partial message is (R-PRO-20). `none` on everything that is not partial.
enum class frame : std::uint8_t { none, start, delta, stop };

enum class decision : std::uint8_t { allow, deny, forbidden };

/// Why the model stopped, in words of ours; the provider's own word is kept in its outcome.
enum class finish : std::uint8_t { end, tool_use, length, filtered, pause, other };

/// Token counts, all in tokens (R-PRO-06).
struct token_counts {
    std::int64_t cache_read = 0;
    std::int64_t cache_write = 0;
    std::int64_t output = 0;
    std::int64_t total = 0;

    token_counts& operator+=(const token_counts& more) noexcept;
    friend bool operator==(const token_counts&, const token_counts&) = default;
};

// Payloads of events: what message::event_if<T>() gives.

struct request_end {
    stop_reason status = stop_reason::completed;
    std::optional<text> error_message;       ///< only on a status other than completed (R-PRO-30)
    std::optional<int> attempt;              ///< 1-based, inside the turn's retries (R-PRO-31)
    std::optional<std::int64_t> retry_in_ms; ///< only if a retry will follow (R-PRO-32)

    // Facts: part of a fact log, never of the wire form (R-EVT-101).
    finish why = finish::end;        ///< of a completed request
    std::optional<int> max_attempts; ///< how many repeats the run would make at most
    bool is_outside = false;         ///< the fault was the provider's own, not one of its stream (R-EVT-74)
};

struct token_usage {
    token_counts session;
    token_counts request;
};

/// The event `abort`, last message of an interrupted or given-up run (R-ENG-37). Not called `abort`, because
/// that name is ambiguous with the C library's wherever somebody writes `using namespace thalweg`.
struct run_abort {
    std::optional<text> reason; ///< written as null when absent (R-PRO-03)
};

enum class compaction_reason : std::uint8_t { context, turns, manual };
enum class compaction_mode : std::uint8_t { summarize, discard };

struct compaction_begin {
    compaction_reason reason = compaction_reason::manual;
    compaction_mode mode = compaction_mode::summarize;
    std::int64_t context = 0; ///< tokens of the last request
    std::int64_t turns = 0;
};

struct compaction_end {
    compaction_reason reason = compaction_reason::manual;
    compaction_mode mode = compaction_mode::summarize;
    stop_reason status = stop_reason::completed;
    std::optional<int> attempt;
    std::optional<text> error_message;
};

struct subagent {
    text session_id;
};

struct tool_list_ready {
    std::vector<tool_definition> tools;
};

struct mcp_connect_begin {
    std::vector<text> servers;
};

struct mcp_connect_result {
    text server;
    text transport; ///< stdio | http | sse
    text status;    ///< completed | failed | aborted
    std::int64_t duration_ms = 0;
    std::optional<std::int64_t> tools;
    std::optional<text> error;
};

struct mcp_connect_end {
    text status; ///< completed | failed | aborted
    std::vector<mcp_connect_result> results;
};

struct goal_finished {
    text outcome; ///< complete | blocked | budget_limited | aborted
    std::int64_t rounds = 0;
    std::int64_t tokens_used = 0;
};

/// The trace could not be written; once, then counted (D-24).
struct trace_fault {
    text path;
    text error;
    std::int64_t lost = 0; ///< records not written so far
};

/// Something the user should know that is no failure (D-24).
struct notice {
    text code;
    text body; ///< `text` on the wire
};

/// How a run came to its end, as the fact `run_end` says it.
enum class run_ending : std::uint8_t {
    finished, ///< nothing was left to do, or a limit or a hook ended it between two turns
    aborted,  ///< somebody asked it to stop
    failed,   ///< by a fault; of the model, or of what surrounds the model (R-EVT-74)
};

/// A fact, the last of its run (R-EVT-101). It never leaves the process.
struct run_end {
    run_ending how = run_ending::finished;
    text reason; ///< a sentence for people; empty = the view words it
};

/// Invariants of one session; first record of every trace file (R-PRO-40, R-PRO-41).
struct session_meta {
    text session_id;
    text provider;
    text model_id;
    std::variant<std::int64_t, text> model_context_window = std::int64_t(0);
    text system_prompt;
    text agent_state;           ///< absolute path
    text workspace;             ///< absolute path
    std::optional<text> source; ///< subagent | schedule
};

} // namespace thalweg
