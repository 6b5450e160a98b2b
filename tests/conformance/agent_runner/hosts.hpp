// SPDX-License-Identifier: BSL-1.0

#pragma once

// What plays the agent of a scenario: the stateful one with its listeners, or a host of the low-level
// iterator. Both take the same acts of the user.

#include "model.hpp"

#include <thalweg/agent/agent_outcome.hpp>
#include <thalweg/async/scope.hpp>

#include <memory>
#include <vector>

namespace conformance {

class host {
public:
    host() = default;
    host(const host&) = delete;
    virtual ~host() = default;

    [[nodiscard]] virtual thalweg::task<thalweg::agent_outcome> prompt(
        std::vector<thalweg::agent_message> all) = 0;
    [[nodiscard]] virtual thalweg::task<thalweg::agent_outcome> continue_() = 0;
    virtual void steer(thalweg::agent_message m) = 0;
    virtual void follow_up(thalweg::agent_message m) = 0;
    virtual void clear_queues() = 0;
    virtual void abort() = 0;
    virtual void drop_last(std::size_t count) = 0;
    [[nodiscard]] virtual thalweg::task<void> idle() = 0;

    /// Calls that a listener starts go into `calls`, which is there while the scenario is played.
    virtual void serve(thalweg::scope& calls) = 0;
    /// Adds to what was seen what only this kind of host can know.
    virtual void add_to(json::object& seen) = 0;
};

/// An outcome as the file says it.
[[nodiscard]] json::object result_value(const thalweg::agent_outcome& outcome);

/// An agent with the listeners of the scenario.
[[nodiscard]] std::unique_ptr<host> make_agent(const scenario& s, record& seen);
/// agent_loop(): the events alone.
[[nodiscard]] std::unique_ptr<host> make_loop(const scenario& s, record& seen);
/// agent_steps(): the facts too, which have to give the same events once more, from their recorded form.
[[nodiscard]] std::unique_ptr<host> make_steps(const scenario& s, record& seen);
/// Can the scenario be played without an agent: one run, no listener?
[[nodiscard]] bool fits_iterator(const scenario& s);

} // namespace conformance
