// SPDX-License-Identifier: BSL-1.0

#pragma once

// Reads what a sink or `--json` wrote, line by line, and survives whatever happened to the file: a line that
// is no record is told with its place and skipped, the rest is still read (R-TRC-20, H-36). The file is never
// changed.
//
// Memory: one line, at most max_line bytes; a longer one is skipped without being kept. Blank lines count,
// but give nothing. Reads block. One object from one thread at a time.

#include <thalweg/protocol/message.hpp>
#include <thalweg/trace/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::trace {

namespace detail {
class byte_source;
}

inline constexpr std::size_t max_line = std::size_t(64) << 20; ///< bytes of one record, its LF not counted

/// One line that is not blank.
struct entry {
    std::size_t line = 0;     ///< from 1, blank lines counted; 0 where reading itself failed
    std::uint64_t offset = 0; ///< of the line's first byte in the file
    /// The record. Or why there is none: errc::malformed, errc::torn_tail, errc::too_long; or what the system
    /// says about a read that failed, which is the last entry then. The sentence says what was expected at
    /// which byte of the line, and where the line begins.
    result<message> content;
};

class reader {
public:
    /// Errors: what the system says, with the path and what to do.
    [[nodiscard]] static result<reader> open(const std::string& path);
    /// Reads standard input or the like. `descriptor` stays the caller's and open; `name` is for sentences.
    [[nodiscard]] static reader of_descriptor(int descriptor, std::string name);
    [[nodiscard]] static reader of_text(std::string bytes);
    /// For tests: any source, `limit` in place of max_line.
    explicit reader(std::unique_ptr<detail::byte_source> source, std::size_t limit = max_line);

    reader(reader&&) noexcept;
    reader& operator=(reader&&) noexcept;
    ~reader();

    /// The next line that is not blank, readable or not; empty at the end.
    [[nodiscard]] std::optional<entry> next();

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// One readable record and its place.
struct record {
    std::size_t line = 0;
    std::uint64_t offset = 0;
    message content;
};

/// A line that could not be read. `why` as entry::content's error.
struct damage {
    std::size_t line = 0;
    std::uint64_t offset = 0;
    error why;
};

/// A whole file.
struct contents {
    static constexpr std::size_t max_kept = 1000; ///< damage beyond is counted, but not kept

    std::vector<record> records;
    std::vector<damage> damages;
    std::size_t damage_count = 0;
};

/// Reads to the end. The records are kept, so this is for files of one's own sessions; check.hpp reads any
/// size.
[[nodiscard]] contents read_all(reader& from);

} // namespace thalweg::trace
