// SPDX-License-Identifier: BSL-1.0

#pragma once

// A stateful agent for ordinary programs: a transcript, a model, tools, listeners and two queues.
//
//     agent helper(provider, tools, {.system = "Be brief."});
//     auto shown = helper.subscribe([](const agent_event& e) { draw(e); });
//     auto outcome = co_await helper.prompt("Is it dry in Oslo?");
//
// One run at a time (R-EVT-54). A run goes on while its task is awaited; dropping the task stops the run at
// once, without further events, and the agent is idle again with the complete messages it had. A stop request
// to whoever awaits it aborts the run in order.
//
// Listeners are told every event in order, each before the next one, and are waited for before tools are
// checked and started, before the next request and before the end (R-EVT-84); the model streams on
// meanwhile. They may call any member of the agent; awaiting the run they are told of, or wait_for_idle(),
// from inside a listener would wait for itself. One that throws is reported and stays (R-EVT-86).
//
// Loop thread. Neither copied nor moved; outlives its runs.

#include <thalweg/agent/agent_core.hpp>
#include <thalweg/protocol/no_tools.hpp>

#include <concepts>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// `Custom` are the program's own message types (custom_type.hpp).
template <class P, class E = environments::no_tools, class... Custom>
class agent {
    static_assert(is_provider<P>);
    static_assert(is_environment<E>);

public:
    /// Takes provider and environment by value, or refers to them with std::ref (they outlive the agent
    /// then).
    template <class ProviderArg, class EnvironmentArg>
        requires(!std::same_as<std::remove_cvref_t<EnvironmentArg>, agent_options>)
    agent(ProviderArg&& provider, EnvironmentArg&& environment, agent_options options = {})
        : provider_(std::forward<ProviderArg>(provider)),
          environment_(std::forward<EnvironmentArg>(environment)),
          core_(provider_ref(provider_), environment_ref(environment_), custom_types<Custom...>(),
                std::move(options)) {}
    /// An agent without tools.
    template <class ProviderArg>
        requires std::same_as<E, environments::no_tools> &&
                 (!std::same_as<std::remove_cvref_t<ProviderArg>, agent>)
    explicit agent(ProviderArg&& provider, agent_options options = {})
        : agent(std::forward<ProviderArg>(provider), none, std::move(options)) {}
    agent(const agent&) = delete;
    agent& operator=(const agent&) = delete;

    // Runs. Each of these is refused with the code `busy` while another run is going on, and makes the agent
    // busy at once, before it is awaited. The outcome is a value also when the model or a tool failed
    // (R-EVT-55).

    [[nodiscard]] task<agent_outcome> prompt(text words) {
        return prompt(agent_message::user(std::move(words)));
    }
    [[nodiscard]] task<agent_outcome> prompt(agent_message one) {
        return prompt(detail::list_of(std::move(one)));
    }
    [[nodiscard]] task<agent_outcome> prompt(std::vector<agent_message> all) {
        return core_.prompt(std::move(all));
    }
    /// Goes on from the transcript as it is, or with what is queued (R-EVT-56…58). Errors: `empty`,
    /// `assistant_tail`.
    [[nodiscard]] task<agent_outcome> continue_() { return core_.continue_(); }
    /// A prompt as a stream: the run's messages as a session's stream has them (docs/reference/ordering.md),
    /// while the listeners get its events. Both views of one run.
    [[nodiscard]] stream<message, agent_outcome> run(text words, run_options options = {}) {
        return core_.run(detail::list_of(agent_message::user(std::move(words))), options);
    }
    [[nodiscard]] stream<message, agent_outcome> run(std::vector<agent_message> prompts,
                                                     run_options options = {}) {
        return core_.run(std::move(prompts), options);
    }

    /// Asks for a value of the described type T: its schema goes along with the prompt, and to the provider
    /// where it takes one; the answer is read strictly. One that does not fit is sent back once with the path
    /// of the first mismatch; the second is the error `mismatch`. Needs ask.hpp.
    template <class T>
    [[nodiscard]] task<result<T>> ask(text words);

    // Queues (R-EVT-44): legal at any time; what is queued while idle waits for the next run.

    void steer(text words) { core_.steer(agent_message::user(std::move(words))); }
    void steer(agent_message m) { core_.steer(std::move(m)); }
    void follow_up(text words) { core_.follow_up(agent_message::user(std::move(words))); }
    void follow_up(agent_message m) { core_.follow_up(std::move(m)); }
    void clear_steering_queue() { core_.clear_steering_queue(); }
    void clear_follow_up_queue() { core_.clear_follow_up_queue(); }
    void clear_all_queues() {
        core_.clear_steering_queue();
        core_.clear_follow_up_queue();
    }
    [[nodiscard]] bool has_queued_messages() const noexcept { return core_.has_queued_messages(); }

    /// Asks the run to stop and returns at once; every open level is still closed (R-EVT-60). `reason` is
    /// what the message says; empty = a stock sentence. False when idle, or asked before. A run that had its
    /// last answer already still ends well (R-EVT-68).
    bool abort(text reason = {}) { return core_.abort(std::move(reason)); }
    /// Ends when no run is going on, the listeners of agent_end included (R-EVT-88).
    [[nodiscard]] task<void> wait_for_idle() { return core_.wait_for_idle(); }

    /// Tells `listener` every event from the next one on, until the subscription is gone. A listener takes a
    /// `const agent_event&` or a `const message&` (the public messages of the run) and gives nothing or a
    /// task<void>, which is awaited. What it refers to outlives the subscription; the event lives until it is
    /// done.
    template <class Listener>
    [[nodiscard]] subscription subscribe(Listener listener) {
        return core_.subscribe(detail::listener_of(std::move(listener)));
    }

    [[nodiscard]] const agent_state& state() const noexcept { return core_.state(); }
    [[nodiscard]] bool is_busy() const noexcept { return core_.state().is_streaming; }
    /// Its hop in the origin of messages that pass through other streams.
    [[nodiscard]] const text& id() const noexcept { return core_.id(); }

    /// Replaces the transcript; a run that goes on keeps its own copy (R-EVT-80).
    void set_messages(std::vector<agent_message> all) { core_.set_messages(std::move(all)); }
    void set_system(std::string system) { core_.set_system(std::move(system)); }
    void set_thinking_level(std::string level) { core_.set_thinking_level(std::move(level)); }
    /// Empties transcript, queues and error (R-EVT-81). False, and nothing is done, while busy.
    bool reset() { return core_.reset(); }

    /// The transcript as JSON, custom messages included (D-44), and back. load() replaces the transcript, or
    /// leaves everything as it was and says what is wrong where. Errors of load(): `busy`, or those of
    /// parse_transcript().
    [[nodiscard]] std::string save() const { return core_.save(); }
    [[nodiscard]] result<void> load(std::string_view json) { return core_.load(json); }

private:
    P provider_;
    E environment_;
    agent_core core_;
};

template <class ProviderArg>
agent(ProviderArg) -> agent<std::unwrap_ref_decay_t<ProviderArg>>;
template <class ProviderArg>
agent(ProviderArg, agent_options) -> agent<std::unwrap_ref_decay_t<ProviderArg>>;
template <class ProviderArg, class EnvironmentArg>
agent(ProviderArg, EnvironmentArg)
    -> agent<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;
template <class ProviderArg, class EnvironmentArg>
agent(ProviderArg, EnvironmentArg, agent_options)
    -> agent<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;

} // namespace thalweg
