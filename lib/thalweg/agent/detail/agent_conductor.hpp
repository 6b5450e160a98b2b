// SPDX-License-Identifier: BSL-1.0

#pragma once

// One run of an agent (R-EVT-22…43): the producer of its facts. It asks the model, runs the calls of the
// answer when the answer is over, looks into the queues, and again.
//
//     prompts → [ transform, convert → request → calls → poll ]* → run_end
//
// The transcript comes back from the reader's side: what the view made of the facts so far. So that it is
// whole where it is needed, and so that listeners have seen what happened before anything new begins, the
// conductor asks for leave (C16): it sends a mark and goes on when the reader has got there.

#include <thalweg/agent/agent_loop.hpp>
#include <thalweg/agent/agent_state.hpp>
#include <thalweg/agent/detail/call_run.hpp>
#include <thalweg/agent/detail/signal.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/engine/model_run.hpp>
#include <thalweg/engine/retry_wait.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace thalweg::detail {

class agent_conductor final : private call_handler {
public:
    agent_conductor(provider_ref provider, environment_ref tools, agent_task task,
                    std::shared_ptr<const agent_options> options, const context& parent);
    agent_conductor(const agent_conductor&) = delete;

    [[nodiscard]] task<void> conduct();

    [[nodiscard]] merge<message>& point() noexcept { return point_; }
    [[nodiscard]] const thalweg::context& context() const noexcept { return context_; }

    /// The reader has dealt with everything in front of `m`, and `m` is a mark and no message.
    [[nodiscard]] bool is_mark(const message& m) const noexcept;
    void reach_mark();
    /// The reader has made `event` of a fact.
    void note(const agent_event& event);
    [[nodiscard]] agent_outcome outcome();

private:
    [[nodiscard]] task<void> turns();
    [[nodiscard]] task<void> send_input(std::vector<agent_message> input);
    [[nodiscard]] task<bool> answer();
    [[nodiscard]] task<bool> prepare_context();
    [[nodiscard]] task<void> shape_context(std::vector<agent_message>& context);
    [[nodiscard]] task<bool> repeat(std::chrono::milliseconds wait);
    [[nodiscard]] task<void> give_up_calls();
    [[nodiscard]] task<void> on_call(message call) override;
    [[nodiscard]] task<decision> ask(const tool_call& call);

    [[nodiscard]] task<void> run_calls();
    [[nodiscard]] task<void> run_in_turn();
    [[nodiscard]] task<void> run_together();
    [[nodiscard]] task<void> check(call_run& call);
    [[nodiscard]] task<void> block_by_hook(call_run& call, std::optional<std::string>& reason);
    [[nodiscard]] std::optional<std::string> fault_of(call_run& call);
    [[nodiscard]] task<void> refuse(call_run& call, std::string why, stop_reason status);
    void dispatch(call_run& call);
    [[nodiscard]] const tool_definition* find_tool(const text& name) const;
    [[nodiscard]] bool runs_in_turn() const;
    [[nodiscard]] bool all_terminate() const;

    [[nodiscard]] std::optional<std::vector<agent_message>> poll(const poll_hook& hook);
    [[nodiscard]] bool should_stop();
    [[nodiscard]] task<void> leave();
    [[nodiscard]] task<void> send(message m);
    void end_by(agent_errc code, std::string why);
    [[nodiscard]] std::string abort_words() const;

    agent_task task_;
    std::shared_ptr<const agent_options> options_;
    session_state session_;
    tool_context around_;
    text thinking_level_;
    int max_turns_;
    cancel_source cancel_;
    thalweg::context context_;
    merge<message> point_;
    merge<message>::producer driver_;
    retry_wait pause_;

    agent_state seen_; // what the reader's side made of the facts: the run's transcript
    std::vector<agent_message> added_;
    std::uint64_t marks_sent_ = 0;
    std::uint64_t marks_reached_ = 0;
    signal reached_;

    std::optional<model_run> attempt_;
    std::vector<message> input_; // of the request under way
    agent_message answer_;       // the last one
    std::deque<call_run> calls_; // of it; addresses stay
    schema_cache schemas_;
    scope* tools_ = nullptr; // of the batch under way
    token_counts used_;
    int turns_ = 0;
    std::optional<thalweg::error> ended_by_; // why the run does not go on, unless well
};

} // namespace thalweg::detail
