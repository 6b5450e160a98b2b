// SPDX-License-Identifier: BSL-1.0

#pragma once

// One run: the turn state machine (engine §2–§7). It is the producer of the model's messages at the merge
// point and starts the tools, which are the others.
//
//     limit check → request (model_run) with [tool_call → approve → dispatch]* → wait for all tools
//                 → outcome handling → compaction check → injections → next input
//
// Everything that must survive an interrupt or a dropped stream is a member here and not a local of a
// coroutine, so that a deaf party can be destroyed where it is suspended and the rest is still settled.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/engine/carry_over.hpp>
#include <thalweg/engine/model_run.hpp>
#include <thalweg/engine/retry_wait.hpp>
#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/engine/session_state.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace thalweg {

class run_conductor final : private call_handler {
public:
    run_conductor(session_state& session, background_host& host, run_options options,
                  const thalweg::context& parent);
    run_conductor(const run_conductor&) = delete;
    /// A run that is dropped before its end leaves what it owes to the next one, as an interrupt does.
    ~run_conductor();

    /// What the first request gets beside the history; owed from now on.
    void submit(std::vector<message> input) { next_input_ = std::move(input); }
    /// The whole run.
    [[nodiscard]] task<void> conduct();

    [[nodiscard]] merge<message>& point() noexcept { return point_; }
    [[nodiscard]] const thalweg::context& context() const noexcept { return context_; }
    [[nodiscard]] run_outcome& outcome() noexcept { return outcome_; }
    /// `abort` is, or is going to be, its last message.
    [[nodiscard]] bool has_aborted() const noexcept { return has_aborted_; }

    // Nudges, at any time while the run goes on.

    /// False when the run is about to end anyway; a trace that holds it up has the grace from then on, too.
    bool interrupt(cancel_reason why) {
        const bool is_first = cancel_.request(why);
        return is_first && !is_settled_;
    }
    /// The request and its tools finish; then the run ends (D-21). False when it is about to end anyway.
    bool stop_after_answer();
    bool skip_retry_wait() { return pause_.skip(); }
    [[nodiscard]] steering_ticket steer(std::vector<message> input);
    /// Puts a message of a background run on the stream; false, and `m` untouched, when the run is about to
    /// end.
    bool pass(message& m);
    /// From now on the run does not stop any more when its reader is asked to.
    void detach() noexcept { cancel_.unfollow(); }

private:
    struct call_record {
        message call;
        std::optional<message> output;
    };
    /// One model request and the tools it started.
    struct attempt {
        attempt(session_state& session, merge<message>::producer& out)
            : request(session, out, audience::everyone) {}
        model_run request;
        std::deque<call_record> calls; // addresses stay: tools write their outputs here
        bool is_committed = false;
    };
    enum class next : std::uint8_t { turn, end };

    [[nodiscard]] task<void> end_between_turns();
    [[nodiscard]] task<next> turn();
    [[nodiscard]] task<bool> request_until_completed();
    [[nodiscard]] task<void> request(int ordinal);
    [[nodiscard]] task<void> on_call(message call) override;
    [[nodiscard]] task<decision> ask(const tool_call& call);
    void dispatch(call_record& record, tool_call call);
    [[nodiscard]] task<void> announce(const tool_call& call);
    [[nodiscard]] task<void> settle_calls();
    [[nodiscard]] const tool_definition* find_tool(const text& name) const;

    [[nodiscard]] task<next> after_answer();
    [[nodiscard]] task<next> compact(compaction_reason why, bool is_mid_run);
    [[nodiscard]] bool has_injections() const;
    [[nodiscard]] task<bool> inject();
    [[nodiscard]] task<void> deliver_notices();
    [[nodiscard]] task<void> adapt(std::vector<message>& input, std::string& fault);
    [[nodiscard]] task<void> steer_in(std::vector<message> input);

    [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before_retry(int ordinal) const;
    [[nodiscard]] std::string exhausted_reason() const;
    [[nodiscard]] std::vector<message> outputs() const;
    [[nodiscard]] std::vector<message> owed() const;
    [[nodiscard]] task<void> place_holders();
    [[nodiscard]] task<void> end_by_limit();
    [[nodiscard]] task<void> end_by_abort(run_outcome::end how, std::string reason,
                                          std::vector<message> carry);
    [[nodiscard]] task<void> report_faults();
    [[nodiscard]] task<void> send(message m);
    [[nodiscard]] message stamped(message m) const;

    session_state& session_;
    background_host& host_;
    run_options options_;
    text thinking_level_;
    int max_turns_;
    cancel_source cancel_;
    thalweg::context context_;
    merge<message> point_;
    merge<message>::producer driver_;
    merge<message>::producer guests_; // background runs
    run_outcome outcome_;
    retry_wait pause_;

    std::vector<message> next_input_;    // of the next turn; what is owed while no request is under way
    std::vector<message> attempt_input_; // of the request under way, retry blocks included
    std::optional<attempt> attempt_;     // from request_begin until its outcome is dealt with
    scope* tools_ = nullptr;             // of the request under way
    bool is_last_answer_ = false;        // the run is to stop after it
    bool has_aborted_ = false;
    bool is_settled_ = false; // what the run leaves is in the session
};

} // namespace thalweg
