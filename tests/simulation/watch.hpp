// SPDX-License-Identifier: BSL-1.0

#pragma once

// What is checked about one session while it runs and at its end: its stream alone, and its stream against
// its trace: shown means recorded before, in the same order (R-ENG-11).

#include "simulation/coverage.hpp"
#include "simulation/sim_sink.hpp"

#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/protocol/stream_checker.hpp>

#include <functional>
#include <set>
#include <string>

namespace thalweg::simulation {

class watch {
public:
    using complain_function = std::function<void(std::string)>;
    watch(const sim_sink& records, complain_function complain)
        : records_(&records), complain_(std::move(complain)) {}

    /// A message of the session's stream. Its first `hops` origins are those of sessions above it.
    void on_message(const message& m, bool check_discipline);
    /// A run or a compaction has ended in order. `outcome`: of a run.
    void on_end(const run_outcome* outcome, bool check_discipline);
    /// What the trace has already was somebody else's.
    void skip_records();
    /// A run was dropped: its stream has no end.
    void on_drop();

    [[nodiscard]] simulation::phase phase() const noexcept { return phase_; }
    void approval_open(bool yes) noexcept { is_deciding_ = yes; }
    [[nodiscard]] simulation::phase phase_now() const noexcept {
        return is_deciding_ ? simulation::phase::deciding : phase_;
    }
    void begin_run() noexcept { phase_ = simulation::phase::start; }

private:
    void follow(const message& m);
    void match(const message& m);
    void pass_record(const message& record);
    void pass_rest();

    const sim_sink* records_;
    complain_function complain_;
    stream_checker checker_;
    std::size_t reported_ = 0;
    simulation::phase phase_ = simulation::phase::idle;
    bool is_deciding_ = false;
    bool in_compaction_ = false; // of the trace, at the place that was matched last
    bool is_loose_ = false;      // a run was dropped: records without a stream are in order
    std::size_t file_ = 0;
    std::size_t record_ = 0;
    kind last_ = kind::text;
    bool had_any_ = false;
    std::multiset<std::string> running_; // calls without a complete output, by id
};

/// Everything that trace::check says about the files, as one text; empty if it has no fault.
[[nodiscard]] std::string check_files(const std::vector<std::vector<message>>& files);

} // namespace thalweg::simulation
