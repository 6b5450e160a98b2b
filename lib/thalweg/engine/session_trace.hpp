// SPDX-License-Identifier: BSL-1.0

#pragma once

// Finds a session's trace below a folder and makes it what a session can go on with: its state, and the sink
// that appends to the same file.
//
// What may go wrong is said before anything is written: no such session, another writer, a file that is none
// of ours or of a version to come, a workspace that is gone. Damaged lines are no error: everything that can
// be read is used, each line that cannot is told with its place, and the file is never changed by reading
// (H-36).
//
// All files of a session together say what was: the newest one holds the context; earlier ones are asked for
// the ids that were given out, and for what a crash kept out of the newest one. Blocks for as long as reading
// them takes. Any thread; the sink then belongs to its session's loop.

#include <thalweg/engine/resume.hpp>
#include <thalweg/trace/file_sink.hpp>
#include <thalweg/trace/reader.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

/// The version of the trace format that this library writes. A change that old readers would get wrong raises
/// it; session_meta says so with a member `trace_version`, which is absent while it is 1. New kinds of
/// records and new members are no such change: they are carried through (R-PRO-04).
inline constexpr int trace_version = 1;

/// A line of the newest file that could not be read.
struct session_damage {
    std::string file;
    trace::damage what;
};

/// `FILE:LINE: sentence`.
[[nodiscard]] std::string to_string(const session_damage& of);

/// A session as its trace tells it.
struct stored_session {
    static constexpr std::size_t max_damages = 20; ///< more are counted, but not kept (R-TRC-20)

    trace::session_file where; ///< its newest file
    resumed_state state;       ///< with `meta`, always
    std::vector<session_damage> damages;
    std::size_t damage_count = 0;
};

/// Reads a session. `session`: its id, or `latest` for the latest one of the folder (R-TRC-21).
/// Errors: trace::errc::bad_name, not_found, foreign, newer; what the system says about a file that cannot be
/// read.
[[nodiscard]] result<stored_session> load_session(const std::string& traces, std::string_view session);

/// A session that can go on.
struct reopened_session {
    stored_session stored;
    /// Writes to the newest file, or to the next one if a compaction closed that (R-TRC-38). The session is
    /// its owner's alone until it is destroyed.
    std::unique_ptr<trace::file_sink> sink;
};

struct reopen_options {
    bool needs_workspace = true; ///< the folder that session_meta names must still be there (R-TRC-39)
};

/// Takes the session for writing, then reads it. Nothing is written yet: `stored.state.dangling` is the
/// caller's to record first (R-TRC-37). Errors: those of load_session() and of file_sink::open():
/// trace::errc::locked names the process that has it.
[[nodiscard]] result<reopened_session> reopen_session(const std::string& traces, std::string_view session,
                                                      reopen_options options = {});

} // namespace thalweg
