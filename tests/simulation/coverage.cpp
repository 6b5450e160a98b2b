// SPDX-License-Identifier: BSL-1.0

#include "simulation/coverage.hpp"

namespace thalweg::simulation {

namespace {

constexpr std::array<std::string_view, phase_count> phase_names{
    "idle", "start", "asked", "answer", "decide", "tools", "wait", "compact", "between"};
constexpr std::array<std::string_view, incident_count> incident_names{
    "interrupt",       "stop after answer", "detach",           "drop the stream", "crash and resume",
    "steer",           "unsteer",           "notice",           "retry now",       "second run",
    "model fails",     "model throws",      "model hangs",      "model is deaf",   "summary is bad",
    "tool fails",      "tool throws",       "tool hangs",       "tool is deaf",    "call denied",
    "approver throws", "approver hangs",    "approver is deaf", "child begins",    "trace fails",
    "trace is slow",   "trace is deaf"};

void append_right(std::string& line, std::string_view word, std::size_t width) {
    if (word.size() < width) line.append(width - word.size(), ' ');
    line += word;
}

} // namespace

std::string_view to_string(incident i) noexcept {
    return incident_names[static_cast<std::size_t>(i)];
}

void coverage::add(const coverage& more) noexcept {
    for (std::size_t i = 0; i < incident_count; ++i) {
        for (std::size_t p = 0; p < phase_count; ++p)
            cells_[i][p] += more.cells_[i][p];
    }
}

std::string coverage::table() const {
    constexpr std::size_t first = 18;
    constexpr std::size_t other = 9;
    std::string all(first, ' ');
    for (const std::string_view name : phase_names)
        append_right(all, name, other);
    all += '\n';
    for (std::size_t i = 0; i < incident_count; ++i) {
        std::string line(incident_names[i]);
        line.resize(first, ' ');
        for (std::size_t p = 0; p < phase_count; ++p)
            append_right(line, cells_[i][p] == 0 ? "." : std::to_string(cells_[i][p]), other);
        all += line + '\n';
    }
    return all;
}

} // namespace thalweg::simulation
