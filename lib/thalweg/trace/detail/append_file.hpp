// SPDX-License-Identifier: BSL-1.0

#pragma once

// One file that only ever grows by whole lines. It stays open between writes and knows whether its last line
// is whole: whatever went wrong before, the next record starts on a line of its own (R-TRC-14, R-TRC-15).
//
// Blocks for as long as the system does. One thread. For the sources and tests of this room only.

#include <thalweg/protocol/result.hpp>
#include <thalweg/trace/detail/file_ops.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::trace::detail {

class append_file {
public:
    append_file(std::string path, file_ops& system) : path_(std::move(path)), system_(&system) {}
    append_file(const append_file&) = delete;
    append_file& operator=(const append_file&) = delete;
    ~append_file() { close(); }

    static constexpr std::int64_t look_every_ms = 100;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Closes what is open; the next prepare() opens `path`.
    void move_to(std::string path);

    struct readiness {
        bool is_empty = false; ///< nothing in the file
        std::string changed;   ///< what somebody else did to the file since the last write; empty = nothing
    };

    /// To be called before each append: opens the file if need be (with its folder), follows its name if
    /// somebody took it away or replaced it, and looks at the last byte where that is not known. Tries again
    /// each time. Errors: what the system says.
    [[nodiscard]] result<readiness> prepare();

    /// Appends records with one write call. `lines` is an LF, which is written only where the tail is torn,
    /// and then each record with its LF; `line_ends` are the offsets in `lines` behind the LF of each record.
    ///
    /// Should the system take less, the record that it cut is written once more as a whole, on a line of its
    /// own, with those behind it. Errors: what the system says, or errc::short_write; the sentence counts the
    /// records that are missing.
    [[nodiscard]] result<void> append(std::string_view lines, std::span<const std::size_t> line_ends);

private:
    void close() noexcept;
    // The steps of prepare(); each does nothing where it is not needed.
    [[nodiscard]] result<void> look_at_name(readiness& found);
    [[nodiscard]] result<void> open();
    [[nodiscard]] result<void> probe();

    std::string path_;
    file_ops* system_;
    int descriptor_ = -1;
    bool needs_probe_ = true;
    bool is_torn_ = false;
    file_state known_; // as of the last probe or write
    std::int64_t looked_at_ms_ = 0;
};

} // namespace thalweg::trace::detail
