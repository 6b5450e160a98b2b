// SPDX-License-Identifier: BSL-1.0

#pragma once

// Faults of an engine, as they would look at its seams: in the stream, the trace, a context, a tool, a
// resume. The simulation switches one of them on and has to notice; a checker that misses one is no checker.

#include <thalweg/protocol/message.hpp>
#include <thalweg/testing/seed.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace thalweg::simulation {

enum class mutant : std::uint8_t {
    none,
    // in the stream
    output_dropped,
    output_doubled,
    output_late, // behind the next request_begin
    decision_dropped,
    decision_late,
    abort_not_last,
    abort_doubled,
    abort_dropped,
    last_message_lost,
    request_end_dropped,
    usage_doubled,
    tail_swapped,
    delta_dropped,
    delta_doubled,
    deltas_swapped,
    stop_frame_dropped,
    fragment_late,
    call_dropped,
    call_id_reused,
    origin_lost,
    compaction_end_dropped,
    // in the trace
    record_dropped,
    record_doubled,
    records_swapped,
    record_of_fragment,
    record_late,
    rotation_lost,
    // in the context
    context_output_lost,
    context_outputs_swapped,
    carry_over_lost,
    steering_lost,
    retry_input_lost,
    input_fed_twice,
    history_shortened,
    // at the tools
    tool_rerun_on_retry,
    denied_tool_runs,
    // around a run
    interrupt_lost,
    interrupt_late,
    frame_leaked,
    timer_left,
    // at a resume
    resume_loses_input,
    resume_doubles_input,
    resume_forgets_ids,
    count_,
};
[[nodiscard]] std::string_view to_string(mutant m) noexcept;

/// Says when the mutant that is switched on strikes.
class mutator {
public:
    mutator(mutant active, testing::seed draw) noexcept : active_(active), draw_(draw) {}
    [[nodiscard]] bool is(mutant m) const noexcept { return active_ == m; }
    /// True in half of the cases in which `m` could strike, if it is switched on.
    [[nodiscard]] bool strikes(mutant m) noexcept { return active_ == m && draw_.chance(50); }
    [[nodiscard]] mutant active() const noexcept { return active_; }

private:
    mutant active_;
    testing::seed draw_;
};

/// The faults of a stream. Gives for each message what takes its place.
class stream_mutator {
public:
    explicit stream_mutator(mutator& how) noexcept : how_(&how) {}
    [[nodiscard]] std::vector<message> take(message m);
    /// At the end of a run: what was held back.
    [[nodiscard]] std::vector<message> finish();

private:
    [[nodiscard]] bool drops(const message& m);
    void double_or_swap(message m, std::vector<message>& out);
    [[nodiscard]] message renamed(message m);

    mutator* how_;
    std::optional<message> held_;
    text first_id_, second_id_;
    bool is_renaming_ = false;
};

/// The faults of a context; changes the lists in place.
void mutate_context(mutator& how, std::vector<message>& history, std::vector<message>& input, bool is_retry);

} // namespace thalweg::simulation
