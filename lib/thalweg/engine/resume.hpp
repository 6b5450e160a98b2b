// SPDX-License-Identifier: BSL-1.0

#pragma once

// Rebuilds a session from what its trace says: the context for the model, what is still owed to it, and the
// counters. Only the records count, and of them only their order: nothing is guessed from what a text looks
// like (R-TRC-31). A request is part of the conversation if it was completed; of any other one the input is
// owed again (R-TRC-33).
//
// Whatever the records are, the result can be handed to a model: each call of the history has exactly one
// output behind its answer, in history and carry_over together (R-TRC-32). What the process did not live to
// record is filled with a placeholder; what fits nowhere is left out.
//
// Pure: the same records give the same result (R-TRC-3B), in time linear in their number. Any thread.

#include <thalweg/protocol/message.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace thalweg {

/// The output of a call whose tool was running when the process ended; its stop reason is aborted (R-TRC-30).
inline constexpr std::string_view exited_output = "[interrupted: process exited before the tool finished]";

/// What a session has to know to go on. Messages are those of the trace; made up are only placeholders, which
/// have the time of their call, and the summary, which has none.
struct resumed_state {
    /// Committed, in the order for the model.
    std::vector<message> history;
    /// In front of the next input: outputs of the last calls, in call order, then other user messages.
    std::vector<message> carry_over;

    /// A completed compaction gave this file's context up: the next record begins a new file (R-TRC-38).
    /// Whoever holds the sink rotates it; reopen_session() has done so.
    bool context_closed = false;
    /// The context began with a compaction, or is closed by one: an empty one is `just_compacted`.
    bool came_from_compaction = false;
    /// What stands in front of carry_over in the next input and is recorded then (R-ENG-05, R-ENG-06).
    std::optional<message> pending_summary;

    token_counts usage;                   ///< of the session
    std::int64_t last_request_total = 0;  ///< size of the context, in tokens
    std::int64_t first_request_total = 0; ///< the same of the context's first request of a run
    int session_turns = 0;                ///< completed requests of runs in this context

    /// What a user interface shows: prompts, answers (those of failed requests too), outputs, and how runs
    /// were aborted.
    std::vector<message> render_list;

    std::optional<session_meta> meta;
    /// session_meta and the last tool_list_ready, as far as there are any: what a file begins with after
    /// rotation.
    std::vector<message> head;
    /// The ids of all calls, also of those that were not committed: none of them may be given out again
    /// (R-PRO-13).
    std::vector<text> call_ids;
    /// Calls without a recorded output, which have a placeholder now, and calls that had to be left out.
    std::size_t repairs = 0;
    /// A compaction was going on when the process ended. To be recorded before anything else (R-TRC-37).
    std::optional<compaction_end> dangling;
};

/// `records`: those of the session's newest file, in order. Frames and messages of children are ignored. A
/// file without session_meta gives a state without `meta`; whether one can go on with that is the caller's to
/// say.
[[nodiscard]] resumed_state resume(std::span<const message> records);

} // namespace thalweg
