// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where the files of sessions lie, and how to find them again:
//
//     TRACES/2026-11-30/session-2026-11-30-17-04-09-5be01c7a_001.jsonl
//
// One file holds one model context; the number rises by one with each compaction. Ids are made of UTC, so
// that their order as text is their order in time, also in the hour that a clock change repeats; the folder
// has the local date. A session stays in the folder of its first file.
//
// Functions that look at the disk block for as long as it takes. Any thread.

#include <thalweg/protocol/result.hpp>
#include <thalweg/trace/errors.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::trace {

/// The place of one trace file (R-TRC-01).
struct session_file {
    std::string traces;     ///< the folder of all traces
    std::string date;       ///< `yyyy-mm-dd`, local date on which the session began
    std::string session_id; ///< see make_session_id()
    int index = 1;          ///< from 1

    [[nodiscard]] std::string path() const;
    /// What a writer locks. In the folder of all traces, so that it does not depend on the date.
    [[nodiscard]] std::string lock_path() const;
};

/// `session-YYYY-MM-DD-HH-mm-ss-<8 hex>`, the last part random (R-TRC-02). `now_ms`: UTC, milliseconds since
/// 1970.
[[nodiscard]] std::string make_session_id(std::int64_t now_ms);

/// `yyyy-mm-dd` where this process lives.
[[nodiscard]] std::string local_date(std::int64_t now_ms);

/// The first file of a new session. Nothing is created on the disk.
[[nodiscard]] session_file new_session_file(std::string traces, std::int64_t now_ms);

/// Letters, digits, `-`, `_` and `.`, the first one no dot, at most 200: safe as a part of a file name.
[[nodiscard]] bool is_safe_session_id(std::string_view id) noexcept;

/// The file of `session_id` with the highest index, over all dates (R-TRC-21). One without a whole line, left
/// by a process that ended between making and writing it, counts only if there is no other. Errors:
/// errc::bad_name; errc::not_found; what the system says about a folder that cannot be read.
[[nodiscard]] result<session_file> newest_file(const std::string& traces, std::string_view session_id);

/// Every file of every session, by session and index. Names of another form are ignored, and so are folders
/// that are no dates. A folder that does not exist holds no files.
/// Errors: what the system says about a folder that cannot be read.
[[nodiscard]] result<std::vector<session_file>> list_files(const std::string& traces);

/// The newest file of every session, the latest session first. Otherwise as list_files().
[[nodiscard]] result<std::vector<session_file>> list_sessions(const std::string& traces);

/// The latest session that got further than its session_meta: in the newest date folder that has one, the
/// highest file name (R-TRC-21). Empty if there is none.
[[nodiscard]] result<std::optional<session_file>> latest_session(const std::string& traces);

} // namespace thalweg::trace
