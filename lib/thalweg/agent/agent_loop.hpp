// SPDX-License-Identifier: BSL-1.0

#pragma once

// One run of an agent without an agent: for recorders, transports and hosts that keep the transcript
// themselves (R-EVT-93).
//
//     auto run = agent_loop(provider, tools, prompts, transcript, options);
//     while (auto event = co_await run.next()) show(*event);
//     run.result().messages();                       // what the run added
//
// agent_steps() shows both views of the same run at once: each fact, and the agent events it gives.
//
// The run goes on while somebody reads; a reader that takes its time holds back the checks of tool calls, the
// next request and the end, never the model's stream (R-EVT-96). Dropping the stream stops the run: model and
// tools are asked to stop and destroyed. Provider and environment outlive the stream. Loop thread.

#include <thalweg/agent/agent_event.hpp>
#include <thalweg/agent/agent_options.hpp>
#include <thalweg/agent/agent_outcome.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/engine/seams.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace thalweg {

/// One fact of a run and the events it gives. Facts that are no part of the public stream are among them:
/// `fact.is_fact()` (R-EVT-101).
struct agent_step {
    agent_step(message m, std::span<const agent_event> e) noexcept : fact(std::move(m)), events(e) {}
    message fact;
    std::span<const agent_event> events; ///< valid until the next step
};

/// What the run is made of. `transcript` is what the model saw before; it is not changed (R-EVT-94).
struct agent_task {
    std::vector<agent_message> prompts = {}; ///< none: the run continues the transcript
    std::vector<agent_message> transcript = {};
    bool polls_steering_first = true;                 ///< R-EVT-25 (a)
    std::span<const custom_type* const> customs = {}; ///< outlives the run
    const text*
        abort_words = nullptr; ///< read when the run is aborted; empty = a stock sentence; outlives it
    text response_schema = {}; ///< JSON Schema for the provider: what the last answer is to fit; empty = none
    run_options around = {};   ///< of a run that is a tool of another one; its approver counts if it has one
};

/// `options` is shared with whoever may change its hooks' state meanwhile; it is read, never written.
[[nodiscard]] stream<agent_step, agent_outcome> agent_steps(provider_ref provider, environment_ref tools,
                                                            agent_task task,
                                                            std::shared_ptr<const agent_options> options);

/// The events of agent_steps() alone.
[[nodiscard]] stream<agent_event, agent_outcome> agent_events(stream<agent_step, agent_outcome> steps);

/// A run that begins with `prompts`. `transcript` is read at the beginning and not changed.
template <Provider P, Environment E>
[[nodiscard]] stream<agent_event, agent_outcome> agent_loop(P& provider, E& tools,
                                                            std::vector<agent_message> prompts,
                                                            std::vector<agent_message> transcript = {},
                                                            agent_options options = {}) {
    agent_task what;
    what.prompts = std::move(prompts);
    what.transcript = std::move(transcript);
    return agent_events(agent_steps(provider_ref(provider), environment_ref(tools), std::move(what),
                                    std::make_shared<const agent_options>(std::move(options))));
}

/// A run that goes on from `transcript`. An empty one, or one that ends with a message of the model, is
/// refused: no event comes, and the result has the code `empty` or `assistant_tail` (R-EVT-93).
template <Provider P, Environment E>
[[nodiscard]] stream<agent_event, agent_outcome> agent_loop_continue(P& provider, E& tools,
                                                                     std::vector<agent_message> transcript,
                                                                     agent_options options = {}) {
    return agent_loop(provider, tools, {}, std::move(transcript), std::move(options));
}

} // namespace thalweg
