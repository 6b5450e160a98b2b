// SPDX-License-Identifier: BSL-1.0

#pragma once

// One model request: request_begin, the answer framed and sent as it comes, token_usage and request_end in
// one step. A run's turn and a compaction are made of these; they differ in who gets to see it.
//
// Bounded: a model that does not answer a stop request is destroyed where it is suspended when the grace is
// over (R-ENG-35). Everything that must survive that is a member here and not a local of a coroutine.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/answer_framer.hpp>
#include <thalweg/engine/session_state.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <vector>

namespace thalweg {

/// Who gets what a request says.
enum class audience : std::uint8_t {
    everyone,          ///< the stream and the trace
    trace,             ///< the trace; the stream gets token_usage only (R-ENG-71)
    trace_and_summary, ///< the same, and the stream the answer's text
};

/// Is told of each complete call, before anything that follows it is sent; the model waits meanwhile
/// (R-ENG-21).
class call_handler {
public:
    [[nodiscard]] virtual task<void> on_call(message call) = 0;

protected:
    ~call_handler() = default;
};

class model_run {
public:
    /// `session` and `out` outlive it.
    model_run(session_state& session, merge<message>::producer& out, audience to) noexcept
        : session_(session), out_(out), to_(to), framer_(session.ids) {}
    model_run(const model_run&) = delete;

    /// Sends request_begin and pulls the answer to its end. `input` and `calls` outlive the task; without
    /// `calls` the answer's calls are only collected.
    [[nodiscard]] task<void> pull(std::span<const message> input, text thinking_level, call_handler* calls);

    // Once pull() has ended.

    [[nodiscard]] const answer_framer::verdict& verdict() const noexcept { return *verdict_; }
    [[nodiscard]] bool is_completed() const noexcept { return verdict_->status == stop_reason::completed; }
    /// `unknown` where the model gave no reason.
    [[nodiscard]] std::string detail() const { return verdict_->why.empty() ? "unknown" : verdict_->why; }
    /// It failed in a way that may pass (R-ENG-50), and the session wants to try again (D-05).
    [[nodiscard]] bool may_be_retried() const;
    /// The same request can never succeed, and the session wants to know at once.
    [[nodiscard]] bool is_hopeless() const;
    [[nodiscard]] std::optional<std::chrono::milliseconds> wish_to_wait() const;
    /// The provider itself threw, before or inside its stream.
    [[nodiscard]] bool has_thrown() const noexcept { return has_thrown_; }
    /// Other words, or another verdict, for what close() is going to say.
    void reword(stop_reason status, std::string why) {
        verdict_ = answer_framer::verdict{status, std::move(why)};
    }
    /// The provider says that the context is too long for the model.
    [[nodiscard]] bool is_too_long() const noexcept { return outcome_ && outcome_->is_context_too_long(); }

    /// Sends token_usage and request_end, whatever the budget (D-04). A completed request's input and answer
    /// become the context (R-PRO-50). `retry_in`: the wait before the next attempt, if it is announced.
    /// `used` grows by what was used. `most` is how many repeats there would be at most.
    void close(std::span<const message> input, int ordinal, std::optional<std::chrono::milliseconds> retry_in,
               token_counts& used, std::optional<int> most = std::nullopt);

    /// The complete messages of the answer so far.
    [[nodiscard]] const std::vector<message>& segments() const noexcept { return framer_.segments(); }

private:
    [[nodiscard]] task<void> drive(std::span<const message> input, text thinking_level, call_handler* calls);
    [[nodiscard]] task<void> flush();
    [[nodiscard]] model_outcome thrown(const char* what);
    class settling_peek;
    void settle();
    [[nodiscard]] bool address(message& m);
    void commit(std::span<const message> input);

    session_state& session_;
    merge<message>::producer& out_;
    audience to_;
    answer_framer framer_;
    std::optional<model_outcome> outcome_;
    std::optional<answer_framer::verdict> verdict_;
    loop* loop_ = nullptr;         // since pull()
    std::size_t sent_ = 0;         // of the framer's pending messages
    bool text_was_framed_ = false; // the stream has got the answer's text as frames
    bool has_begun_ = false;       // the model has begun to answer, and it was said
    bool has_thrown_ = false;
};

} // namespace thalweg
