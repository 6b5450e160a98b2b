// SPDX-License-Identifier: BSL-1.0

#pragma once

// What went wrong, or was asked for, in which phase of a run: so that nobody takes a clean simulation for
// more than what it has tried. Phases are those that the reader of the main session's stream sees.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::simulation {

enum class phase : std::uint8_t {
    idle,       ///< no run goes on
    start,      ///< before the first request
    asked,      ///< a request is out, nothing has come
    answering,  ///< the answer comes
    deciding,   ///< an approval is open
    tools,      ///< the answer is complete, tools run
    retry_wait, ///< before the next attempt
    compacting, ///< between compaction_begin and compaction_end
    boundary,   ///< between two turns
};
inline constexpr std::size_t phase_count = 9;

enum class incident : std::uint8_t {
    interrupt,
    stop_after,
    detach,
    drop,
    crash,
    steer,
    recall,
    notice,
    retry_now,
    second_run,
    model_fails,
    model_throws,
    model_hangs,
    model_deaf,
    summary_bad,
    tool_fails,
    tool_throws,
    tool_hangs,
    tool_deaf,
    denied,
    approver_throws,
    approver_hangs,
    approver_deaf,
    child_begins,
    trace_fails,
    trace_slow,
    trace_deaf,
};
inline constexpr std::size_t incident_count = 27;

[[nodiscard]] std::string_view to_string(incident i) noexcept;

class coverage {
public:
    void count(phase p, incident i) noexcept {
        ++cells_[static_cast<std::size_t>(i)][static_cast<std::size_t>(p)];
    }
    void add(const coverage& more) noexcept;
    /// One line for each incident, one column for each phase.
    [[nodiscard]] std::string table() const;

private:
    std::array<std::array<std::uint64_t, phase_count>, incident_count> cells_{};
};

} // namespace thalweg::simulation
