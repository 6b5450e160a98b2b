// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the trace commands look at: a file, standard input, a folder of traces, or one session of such a
// folder.

#include <thalweg/trace/reader.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct trace_target {
    std::string path;    ///< a file, a folder, or `-`
    std::string session; ///< of the folder: an id or `latest`; empty = all
};

/// The files in question, by session and index; `-` is itself. Empty = there are none, and the reason was
/// said on standard error.
[[nodiscard]] std::vector<std::string> files_of(const trace_target& target);

/// Opens one of them; if it cannot be read that is said on standard error.
[[nodiscard]] std::optional<thalweg::trace::reader> open_trace(const std::string& file);

/// Says on standard error which line could not be read, behind what standard output has so far.
void report_damage(const std::string& file, const thalweg::trace::entry& unreadable);

} // namespace cli
