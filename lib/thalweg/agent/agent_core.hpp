// SPDX-License-Identifier: BSL-1.0

#pragma once

// The part of an agent that does not depend on the types of its provider, environment and messages. Users
// meet it through agent.hpp.

#include <thalweg/agent/agent_loop.hpp>
#include <thalweg/agent/agent_queue.hpp>
#include <thalweg/agent/agent_state.hpp>
#include <thalweg/agent/detail/signal.hpp>
#include <thalweg/agent/listeners.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

namespace detail {

[[nodiscard]] inline std::vector<agent_message> list_of(agent_message one) {
    std::vector<agent_message> all;
    all.push_back(std::move(one));
    return all;
}

} // namespace detail

class agent_core {
public:
    agent_core(provider_ref provider, environment_ref environment,
               std::span<const custom_type* const> customs, agent_options options);
    agent_core(const agent_core&) = delete;
    agent_core& operator=(const agent_core&) = delete;
    ~agent_core();

    /// `response_schema`: what the answer is to fit, for the provider; empty = anything.
    [[nodiscard]] task<agent_outcome> prompt(std::vector<agent_message> all, text response_schema = {});
    [[nodiscard]] task<agent_outcome> continue_();
    [[nodiscard]] stream<message, agent_outcome> run(std::vector<agent_message> prompts, run_options options);

    void steer(agent_message m) { steering_.push(std::move(m)); }
    void follow_up(agent_message m) { follow_ups_.push(std::move(m)); }
    void clear_steering_queue() noexcept { steering_.clear(); }
    void clear_follow_up_queue() noexcept { follow_ups_.clear(); }
    [[nodiscard]] bool has_queued_messages() const noexcept {
        return !steering_.empty() || !follow_ups_.empty();
    }

    bool abort(text reason);
    /// The last run, or the one under way, was asked to stop, whether it could react or not.
    [[nodiscard]] bool was_aborted() const noexcept { return is_abort_asked_; }
    [[nodiscard]] task<void> wait_for_idle();
    [[nodiscard]] subscription subscribe(detail::listener l) { return listeners_.add(std::move(l)); }

    [[nodiscard]] const agent_state& state() const noexcept { return state_; }
    [[nodiscard]] const text& id() const noexcept { return id_; }
    void set_messages(std::vector<agent_message> all) { state_.messages = std::move(all); }
    void set_system(std::string system);
    void set_thinking_level(std::string level);
    bool reset();
    [[nodiscard]] std::string save() const;
    [[nodiscard]] result<void> load(std::string_view json);

private:
    /// Makes the agent busy for as long as it lives.
    class claim {
    public:
        claim() noexcept = default;
        explicit claim(agent_core& of) noexcept : of_(&of) { of.state_.is_streaming = true; }
        claim(claim&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        claim& operator=(claim&&) = delete;
        ~claim() {
            if (of_ != nullptr) of_->settle();
        }
        [[nodiscard]] explicit operator bool() const noexcept { return of_ != nullptr; }

    private:
        agent_core* of_ = nullptr;
    };

    /// A run is under way that can be asked to stop.
    class running {
    public:
        running(agent_core& of, cancel_source& stop) noexcept : of_(of) { of_.running_ = &stop; }
        running(const running&) = delete;
        ~running() { of_.running_ = nullptr; }

    private:
        agent_core& of_;
    };

    [[nodiscard]] stream<message, agent_outcome> begin_prompt(agent_task what);
    [[nodiscard]] stream<message, agent_outcome> begin(agent_task what);
    [[nodiscard]] stream<message, agent_outcome> pump(claim busy, agent_task what);
    [[nodiscard]] static stream<message, agent_outcome> refuse(agent_outcome why);
    [[nodiscard]] static task<agent_outcome> drain(stream<message, agent_outcome> run);
    template <class What>
    [[nodiscard]] task<void> tell(listeners::round& telling, std::size_t at, const What& what);
    [[nodiscard]] task<void> attend(task<void> rest);
    void report_fault(std::string_view what) const;
    void settle();

    provider_ref provider_;
    environment_ref environment_;
    std::span<const custom_type* const> customs_;
    std::shared_ptr<const agent_options> options_; // shared with the run; replaced, never changed
    agent_state state_;
    text id_;
    agent_queue steering_;
    agent_queue follow_ups_;
    listeners listeners_;
    cancel_source* running_ = nullptr; // of the run under way
    text abort_reason_;
    bool is_abort_asked_ = false; // of the run that is going on, or was the last one
    detail::signal idle_;
};

} // namespace thalweg
