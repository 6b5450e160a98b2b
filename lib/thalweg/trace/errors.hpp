// SPDX-License-Identifier: BSL-1.0

#pragma once

// What may go wrong with trace files beyond what the system reports (which keeps its own codes, such as
// std::errc::no_space_on_device). The sentence of an error names the file, the cause and what to do.
//
// Any thread.

#include <system_error>

namespace thalweg::trace {

enum class errc {
    locked = 1,  ///< another writer has the session; the sentence names its process (R-TRC-17)
    short_write, ///< the system took a part of a record and gave no reason (R-TRC-15)
    changed,     ///< somebody else changed or took away the file; the records of this call are written (H-39)
    bad_name,    ///< a session id or date that cannot be part of a file name
    not_found,   ///< no file of that session
    malformed,   ///< a line is no record; reading goes on behind it (R-TRC-20)
    torn_tail,   ///< the same, but of the last line: its writer ended within it
    too_long,    ///< a line longer than max_line; reading goes on behind it
    unreadable,  ///< this kind of sink cannot give back what it recorded
    foreign,     ///< not a trace, or not that of the session it is named for
    newer,       ///< a trace of a version that this library does not know
    not_a_fork_point, ///< a session cannot be forked there; the sentence says why (R-TRC-40)
    exists,           ///< a session of that id is there already
};

[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

} // namespace thalweg::trace

template <>
struct std::is_error_code_enum<thalweg::trace::errc> : std::true_type {};
