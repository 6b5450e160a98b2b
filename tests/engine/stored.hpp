// SPDX-License-Identifier: BSL-1.0

#pragma once

// Sessions on the disk, written without a session.

#include "records.hpp"
#include "trace/trace_support.hpp"

#include <filesystem>
#include <string>

namespace thalweg::testing {

inline constexpr const char* session_id = "session-2026-11-30-10-00-00-0000000a";

inline trace::session_file file_of(const std::string& traces, int index = 1,
                                   const std::string& id = session_id) {
    return {.traces = traces, .date = "2026-11-30", .session_id = id, .index = index};
}

/// Records without time get one that rises by a millisecond.
inline records stamped(records all) {
    std::int64_t now = 1000;
    for (message& m : all)
        if (!m.has_timestamp()) m.stamp(++now);
    return all;
}

inline void store(const trace::session_file& where, const records& all, const std::string& more = {}) {
    std::filesystem::create_directories(std::filesystem::path(where.path()).parent_path());
    write_bytes(where.path(), lines(stamped(all)) + more);
}

/// Path and content of everything below a folder.
inline std::vector<std::string> tree_of(const std::string& folder) {
    std::vector<std::string> all;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
        all.push_back(each.path().string() +
                      (each.is_regular_file() ? ":" + bytes_of(each.path().string()) : ""));
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace thalweg::testing
