// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who sits before the main session: starts runs, reads them, and disturbs them in every way there is.

#include "simulation/world.hpp"

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/scope.hpp>

#include <optional>

namespace thalweg::simulation {

class person {
public:
    person(world& in, node& at) noexcept : in_(in), at_(at), asks_(in) {}

    /// One run, to its end or until it is dropped. True: the program is to crash here.
    [[nodiscard]] task<bool> run();
    /// A run was dropped: what it had not shown yet is in no trace.
    [[nodiscard]] bool has_dropped() const noexcept { return has_dropped_; }
    /// A compaction on request.
    [[nodiscard]] task<void> compact();

private:
    enum class reading : std::uint8_t { to_the_end, drop, crash, detach };

    [[nodiscard]] task<void> disturb(cancel_source& reader);
    [[nodiscard]] task<void> disturb_once(cancel_source& reader);
    [[nodiscard]] task<void> try_second_run();
    void stop(cancel_source& reader);
    void steer();
    void notify();
    [[nodiscard]] reading draw_reading();
    [[nodiscard]] task<std::optional<run_outcome>> read_attached();
    [[nodiscard]] task<void> on_message(const message& m);
    void on_end(const run_outcome* outcome);
    void check_bound();

    world& in_;
    node& at_;
    sim_approver asks_;
    std::vector<std::pair<mark, steering_ticket>> tickets_;
    std::optional<milliseconds> stopped_at_; // when the run was asked to
    milliseconds reader_slept_{0};           // since then
    bool is_last_answer_ = false;
    bool is_detached_ = false;
    bool has_dropped_ = false;
    std::optional<scope> late_; // of a mutant
};

} // namespace thalweg::simulation
