// SPDX-License-Identifier: BSL-1.0

#pragma once

// A file that grows by whole lines, whoever else appends to it by this class: other objects, other threads,
// other processes. A line that a crash has cut stays alone on its line.
//
// Blocks for as long as the system does. One object from one thread at a time. Private to this room.

#include <thalweg/protocol/result.hpp>

#include <string>
#include <string_view>

namespace thalweg::providers::detail {

class line_file {
public:
    enum class start : bool { append, anew };

    /// Nothing happens to the disk before the first append(), which makes the folders, too. `anew`: that one
    /// empties the file.
    line_file(std::string path, start how) : path_(std::move(path)), how_(how) {}
    line_file(const line_file&) = delete;
    line_file& operator=(const line_file&) = delete;
    ~line_file();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// `line` has no line end. Errors: what the system says; what of the line has been written is taken back
    /// if the system lets us.
    [[nodiscard]] result<void> append(std::string_view line);

private:
    [[nodiscard]] result<void> open();
    [[nodiscard]] result<void> write_at_end(std::string_view bytes) const;
    [[nodiscard]] error says(std::string_view what, int code) const;

    std::string path_;
    start how_;
    int descriptor_ = -1;
};

} // namespace thalweg::providers::detail
