// SPDX-License-Identifier: BSL-1.0

#pragma once

// A session: a model, tools, and the context they build together. The main class of this library.
//
//     session chat(providers::openai_chat({.model = "…"}), environments::functions(tool(…)));
//     auto run = chat.run("Is it dry in Oslo?", {.approve = allow_all});
//     while (auto m = co_await run.next()) std::cout << to_json(*m) << '\n';
//     run.result().ok()
//
// run() gives one totally ordered stream: what the model says, what each tool says, decisions and events, in the order
// of their arrival; docs/reference/ordering.md says what holds and what does not. What the stream delivered has been
// recorded before, if the session has a trace.
//
// Lifetime: the session is immovable and outlives its runs. Destroying a run before its end stops and destroys what
// feeds it; what it had not submitted goes in front of the next run. Thread rule: one loop's thread; no lock anywhere.

#include <thalweg/engine/session_core.hpp>

#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

template <class P, class E>
class session {
    static_assert(is_provider<P>);
    static_assert(is_environment<E>);

public:
    /// Takes provider and environment by value, or refers to them with std::ref (they outlive the session then).
    template <class ProviderArg, class EnvironmentArg>
    session(ProviderArg&& provider, EnvironmentArg&& environment, session_options options = {})
        : provider_(std::forward<ProviderArg>(provider)), environment_(std::forward<EnvironmentArg>(environment)),
          core_(provider_ref(provider_), environment_ref(environment_), std::move(options)) {}

    /// Starts a run with a user text; it works while somebody awaits next() or peek() of the stream. One run at a time:
    /// a second one is an empty stream whose result is `busy` and says so.
    /// Errors: none thrown; a failing model or tool shows on the stream and in the result.
    [[nodiscard]] stream<message, run_outcome> run(text prompt, run_options options = {}) {
        std::vector<message> input;
        input.push_back(message::user_text(std::move(prompt)));
        return core_.run(std::move(input), options);
    }
    /// The same with any user messages (texts, images), at least one or what an earlier run left over.
    [[nodiscard]] stream<message, run_outcome> run(std::vector<message> input, run_options options = {}) {
        return core_.run(std::move(input), options);
    }

    /// Stops the current run in order: model, tools and approver are asked to stop, what does not react within the
    /// grace is dropped, `abort` is the last message. False when nothing is running. Loop thread; from elsewhere:
    /// loop::post().
    bool interrupt(cancel_reason why = cancel_reason::user) { return core_.interrupt(why); }

    [[nodiscard]] bool is_running() const noexcept { return core_.is_running(); }
    /// The committed context, in the order the model sees it. Valid until the next run goes on.
    [[nodiscard]] std::span<const message> history() const noexcept { return core_.history(); }
    /// What goes in front of the next run's input: left by an interrupt, a failure or a limit.
    [[nodiscard]] std::span<const message> carry_over() const noexcept { return core_.carry_over(); }
    /// Tokens of all runs so far.
    [[nodiscard]] const token_counts& usage() const noexcept { return core_.usage(); }

private:
    P provider_;
    E environment_;
    session_core core_;
};

template <class ProviderArg, class EnvironmentArg>
session(ProviderArg, EnvironmentArg) -> session<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;
template <class ProviderArg, class EnvironmentArg>
session(ProviderArg, EnvironmentArg, session_options)
    -> session<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;

} // namespace thalweg
