// SPDX-License-Identifier: BSL-1.0

#pragma once

// One run: the turn state machine (engine §2–§5). It is the producer of the model's messages at the merge
// point and starts the tools, which are the others.
//
//     limit check → request_begin → pull model → [tool_call → approve → dispatch]* → request_end
//                 → wait for all tools → outcome handling → next input
//
// Everything that must survive an interrupt or a dropped stream is a member here and not a local of a
// coroutine, so that a deaf party can be destroyed where it is suspended and the rest is still settled.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/engine/answer_framer.hpp>
#include <thalweg/engine/carry_over.hpp>
#include <thalweg/engine/session_core.hpp>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace thalweg {

class run_conductor {
public:
    run_conductor(session_core& session, run_options options, const thalweg::context& parent);
    run_conductor(const run_conductor&) = delete;
    /// A run that is dropped before its end leaves what it owes to the next one, as an interrupt does.
    ~run_conductor();

    /// The whole run. `input` is what the first request gets beside the history.
    [[nodiscard]] task<void> conduct(std::vector<message> input);

    [[nodiscard]] merge<message>& point() noexcept { return point_; }
    [[nodiscard]] const thalweg::context& context() const noexcept { return context_; }
    [[nodiscard]] run_outcome& outcome() noexcept { return outcome_; }
    bool interrupt(cancel_reason why) { return cancel_.request(why); }

private:
    struct call_record {
        message call;
        std::optional<message> output;
    };
    /// One model request and the tools it started.
    struct attempt {
        explicit attempt(id_registry& ids) : framer(ids) {}
        answer_framer framer;
        std::deque<call_record> calls; // addresses stay: tools write their outputs here
        std::optional<model_outcome> outcome;
        std::optional<answer_framer::verdict> verdict;
        bool committed = false;
        std::size_t sent = 0; // of the framer's pending messages
    };
    enum class next : std::uint8_t { turn, end };

    [[nodiscard]] task<next> turn();
    [[nodiscard]] task<void> request(int ordinal);
    [[nodiscard]] task<void> drive(scope& tools);
    [[nodiscard]] task<void> flush();
    [[nodiscard]] task<void> decide(message call, scope& tools);
    [[nodiscard]] task<decision> ask(const tool_call& call);
    [[nodiscard]] task<void> drop_when_deaf(scope& driving);
    [[nodiscard]] task<void> send(message m);

    void dispatch(call_record& record, tool_call call, scope& tools);
    void close_request(int ordinal);
    void commit();
    [[nodiscard]] std::optional<std::chrono::milliseconds> wait_before_retry(int ordinal) const;
    [[nodiscard]] bool is_hopeless() const;
    [[nodiscard]] std::vector<message> outputs() const;
    [[nodiscard]] std::vector<message> owed() const;
    [[nodiscard]] task<void> place_holders();
    [[nodiscard]] task<void> end_by_limit();
    [[nodiscard]] task<void> end_by_abort(run_outcome::end how, std::string reason,
                                          std::vector<message> carry);
    [[nodiscard]] std::string exhausted_reason() const;
    [[nodiscard]] task<void> report_trace_fault();
    [[nodiscard]] message stamped(message m) const;

    session_core& session_;
    run_options options_;
    int max_turns_;
    cancel_source cancel_;
    thalweg::context context_;
    merge<message> point_;
    merge<message>::producer driver_;
    run_outcome outcome_;

    std::vector<message> next_input_;    // of the next turn
    std::vector<message> attempt_input_; // of the request under way, retry blocks included
    std::optional<attempt> attempt_;     // from request_begin until its outcome is dealt with
    bool settled_ = false;               // what the run leaves is in the session
};

} // namespace thalweg
