// SPDX-License-Identifier: BSL-1.0

#pragma once

// Makes a new session out of records that are there already: a fork, which goes another way from an answer of
// a session on, or an import of somebody else's trace. Either the new session is there as a whole, or nothing
// is.
//
// Blocks for as long as copying takes. Any thread.

#include <thalweg/protocol/result.hpp>
#include <thalweg/trace/session_files.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg {

/// The answer behind which a session is cut.
struct fork_point {
    int file = 1;            ///< index of the trace file, from 1
    std::size_t ordinal = 0; ///< of an assistant text among the file's readable records, from 0
};

struct fork_options {
    std::int64_t now_ms = 0; ///< UTC, milliseconds since 1970: when the new session begins, for its id
    /// The session's folder for files of its own, and where its copy goes, which must not exist. Lines
    /// `[attached file: PATH]` of prompts follow. Empty: the session has none.
    std::string scratchpad = {};
    std::string new_scratchpad = {};
    /// The caller has the session open itself and no run of it is going on. Otherwise the session must not be
    /// open anywhere.
    bool is_idle = false;
};

/// Copies the session's files up to the point's one, that one up to where the next task or compaction begins
/// (R-TRC-41). The copies keep index and date, and get a new id, in their system prompt too; a `source` is
/// not kept (R-TRC-42). Lines that cannot be read are left out.
///
/// Errors: trace::errc::not_found: no such session or file; locked: it is open; not_a_fork_point, with the
/// reason: no assistant text, inside a compaction, not the last one of its task, not followed by the
/// completed end of its request, behind it a request that was not completed, or something is owed at the cut
/// (R-TRC-40); foreign: a file without session_meta in front (R-TRC-43); what the system says about reading
/// and writing.
[[nodiscard]] result<trace::session_file> fork_session(const std::string& traces, std::string_view session_id,
                                                       fork_point at, const fork_options& options);

/// Copies the trace `file` as first file of the session that its session_meta names, with the date of
/// `now_ms` (R-TRC-50). A last line that is cut short is left out. Errors: trace::errc::foreign: it does not
/// begin with session_meta; bad_name: the session's id; exists; malformed and too_long, with the line; what
/// the system says.
[[nodiscard]] result<trace::session_file> import_trace(const std::string& file, const std::string& traces,
                                                       std::int64_t now_ms);

} // namespace thalweg
