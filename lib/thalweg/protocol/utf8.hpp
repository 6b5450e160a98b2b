// SPDX-License-Identifier: BSL-1.0

#pragma once

// UTF-8 at the border: everything that comes in is checked or made valid here once, visibly, so that nothing
// behind the border has to ask again (H-14).
//
// Invalid bytes become U+FFFD, one per maximal piece of a broken sequence, as browsers do. A surrogate in its
// three-byte form (what an unpaired \ud800 escape decodes to) is one such piece.
//
// Free functions and values without shared state: any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace thalweg::utf8 {

[[nodiscard]] bool is_valid(std::string_view bytes) noexcept;

/// The number of bytes before the first invalid sequence; bytes.size() if there is none.
[[nodiscard]] std::size_t valid_prefix(std::string_view bytes) noexcept;

/// True if `bytes`, not valid as they are, could become so by appending more: their only fault is that the
/// last character is cut short.
[[nodiscard]] bool is_cut_short(std::string_view bytes) noexcept;

/// A copy in which every invalid sequence is U+FFFD.
[[nodiscard]] std::string make_valid(std::string_view bytes);

/// Code points in valid text.
[[nodiscard]] std::size_t count(std::string_view valid) noexcept;

/// The longest head of valid text with at most `code_points` code points. Stops reading there.
[[nodiscard]] std::string_view truncate(std::string_view valid, std::size_t code_points) noexcept;

/// make_valid() for bytes that arrive in pieces: the result does not depend on where they were cut (H-10).
class repairer {
public:
    /// Appends what is decided to `out`. Up to three bytes of an unfinished character are held back.
    void feed(std::string_view piece, std::string& out);

    /// The input ends: what was held back becomes U+FFFD. The object can be used again.
    void flush(std::string& out);

    /// True while nothing is held back.
    [[nodiscard]] bool is_empty() const noexcept { return held_size_ == 0; }

private:
    char held_[4] = {};
    std::size_t held_size_ = 0;
};

} // namespace thalweg::utf8
