// SPDX-License-Identifier: BSL-1.0

#pragma once

// Gives up a context for a summary of it (engine §7). The old context goes only for a summary that passed its
// check; whatever else happens it stays as it was (R-ENG-79, H-42).
//
//     compaction_begin → request to the model, with retries → compaction_end
//
// The stream gets those two and the usage of each attempt; the attempts themselves are for the trace. Used by
// a run between two turns and by session::compact(); both hand over what they owe the model, and get back
// what is left of it.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/model_run.hpp>
#include <thalweg/engine/retry_wait.hpp>
#include <thalweg/engine/session_state.hpp>

#include <optional>
#include <string>
#include <vector>

namespace thalweg {

/// Why a compaction is due after a completed request (R-ENG-70); empty if it is not.
[[nodiscard]] std::optional<compaction_reason> compaction_due(const session_state& session);

class compaction {
public:
    /// `owed`: what the next request would submit. It is kept up to date: when it was committed with an
    /// attempt, only the answers to that attempt's calls are left. All outlive the compaction, and the
    /// session has settings for it.
    compaction(session_state& session, merge<message>::producer& out, retry_wait& pause,
               std::vector<message>& owed, token_counts& used) noexcept
        : session_(session), out_(out), pause_(pause), owed_(owed), used_(used) {}
    compaction(const compaction&) = delete;

    /// On success the session has a new context, and its pending_summary. May be destroyed while suspended;
    /// `owed` is right then, too.
    [[nodiscard]] task<void> run(compaction_reason why);

    [[nodiscard]] stop_reason status() const noexcept { return status_; } ///< completed, failed or aborted
    [[nodiscard]] const std::string& why() const noexcept { return why_; }

private:
    [[nodiscard]] task<void> summarize();
    [[nodiscard]] task<void> ask_program();
    [[nodiscard]] task<bool> attempt(std::vector<message>& input, const message& prompt);
    [[nodiscard]] task<bool> reject(const model_run& request, std::vector<message>& input,
                                    const message& prompt);
    [[nodiscard]] task<bool> pause_before_retry(std::optional<std::chrono::milliseconds> wish);
    [[nodiscard]] task<void> send(message m);
    [[nodiscard]] bool has_attempts_left() const;
    [[nodiscard]] const compaction_settings& settings() const { return *session_.options.compaction; }

    session_state& session_;
    merge<message>::producer& out_;
    retry_wait& pause_;
    std::vector<message>& owed_;
    token_counts& used_;
    int ordinal_ = 0; // of the attempt, from 1
    stop_reason status_ = stop_reason::failed;
    std::string why_;
    std::string summary_;
};

} // namespace thalweg
