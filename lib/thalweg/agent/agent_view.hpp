// SPDX-License-Identifier: BSL-1.0

#pragma once

// From facts to agent events (R-EVT-100…103): a state machine with no clock, no I/O and no knowledge of the
// engine. The same facts, recorded and fed again, give the same events.
//
//     agent_view view;
//     for (const message& fact : log)
//         for (const agent_event& event : view.feed(fact)) show(event);
//
// The facts are the messages of one run in their order, those that have no wire form among them
// (message::is_fact()). A log without them is taken as well, as far as it says what happened: what is missing
// is inferred, and every level that was opened is closed by run_end at the latest (R-EVT-60). Messages with
// an origin, of the trace only, and about compaction give no event. Outside of a run nothing does.
//
// Where a fact is missing or comes where it makes no sense, events still keep their order: a call without an
// output gets one that says so, an answer without an end ends by an error.
//
// Cost: no allocation for most deltas; the text of an answer is stored once (R-EVT-11).
// Thread rule: one thread at a time.

#include <thalweg/agent/agent_event.hpp>
#include <thalweg/protocol/message.hpp>

#include <memory>
#include <span>

namespace thalweg {

class agent_view {
public:
    /// `customs` are the program's own message types (custom_types<…>()); it lives as long as the view.
    explicit agent_view(std::span<const custom_type* const> customs = {});
    agent_view(agent_view&&) noexcept;
    agent_view& operator=(agent_view&&) noexcept;
    ~agent_view();

    /// The events that `fact` gives, in order, often none. Valid until the next call; copies may be kept.
    [[nodiscard]] std::span<const agent_event> feed(const message& fact);

    /// Between agent_start and agent_end.
    [[nodiscard]] bool is_running() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

/// The fact that `m` goes into a run: what the engine puts into the log, and what the view makes `m` of
/// again.
[[nodiscard]] message input_fact(const agent_message& m);

} // namespace thalweg
