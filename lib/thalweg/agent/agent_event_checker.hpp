// SPDX-License-Identifier: BSL-1.0

#pragma once

// Watches a stream of agent events and says which of its promises it breaks, where, in a sentence. The events
// of this library keep them; the checker is how its tests know, and how a user knows who wrote a transport or
// a wrapper of their own.
//
// What each rule asks for:
//
// - run: agent_start first, agent_end last and once; nothing outside but notes about repeats; one run at a
//   time (R-EVT-01…03, R-EVT-99)
// - turn: turns do not overlap; a turn ends when its messages and executions have; a run ends outside of a
//   turn (R-EVT-02, R-EVT-03)
// - message: each start has one end of the same message before another starts, inside a turn (R-EVT-04, 09);
//   user, tool-result and custom messages are complete at the start and have no update (R-EVT-08)
// - order: a turn's input comes before its one assistant message, its executions and results after
//   (R-EVT-04)
// - update: the update belongs to the open assistant message: blocks are appended, each has a start, deltas
//   and at most one end, and the snapshot shows exactly what the updates said so far (R-EVT-14…16)
// - tool: each execution's start has one end with the same id in the same turn, updates between; never
//   beside an open assistant message (R-EVT-03, R-EVT-09)
// - result: a tool-result message follows the end of its call's execution (R-EVT-05)
// - turn_end: it lists the turn's assistant message and its results (R-EVT-12)
// - agent_end: it lists each message that ended in the run once and in order, but for attempts that were
//   repeated (R-EVT-13, D-42)
// - error: a message has an error text exactly if it is broken (R-EVT-18)
//
// A plain object: one thread at a time. Never throws but for memory.

#include <thalweg/agent/agent_event.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace thalweg {

class agent_event_checker {
public:
    enum class rule : std::uint8_t {
        run,
        turn,
        message,
        order,
        update,
        tool,
        result,
        turn_end,
        agent_end,
        error,
    };

    /// One broken promise.
    struct violation {
        agent_event_checker::rule rule;
        std::size_t event_index; ///< from 0; the number of events where the end of the stream is the fault
        std::string text;        ///< a sentence: rule number, what is wrong
    };

    agent_event_checker();
    agent_event_checker(agent_event_checker&&) noexcept;
    agent_event_checker& operator=(agent_event_checker&&) noexcept;
    ~agent_event_checker();

    /// Takes the next event.
    void feed(const agent_event& event);
    /// The stream has ended: no run may be open.
    void finish();

    [[nodiscard]] bool ok() const noexcept;
    [[nodiscard]] std::span<const violation> violations() const noexcept; ///< in order; at most 100 are kept
    /// The sentences, one a line; empty if ok().
    [[nodiscard]] std::string report() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

[[nodiscard]] std::string_view to_string(agent_event_checker::rule r) noexcept;

} // namespace thalweg
