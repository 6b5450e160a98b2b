// SPDX-License-Identifier: BSL-1.0

#pragma once

// Text that grows piece by piece and can be looked at after each piece: a model's answer as it streams.
//
// Every look is an immutable `text` that shares the bytes. A piece is written behind the bytes that earlier
// looks can see, and into a new block when the old one is full, so that n pieces cost O(total size) in all
// and no allocation for most of them, however many looks are kept.
//
// Thread rule: one thread at a time; the looks are ordinary texts and may be used anywhere.

#include <thalweg/protocol/text.hpp>

#include <string_view>

namespace thalweg {

class growing_text {
public:
    growing_text() noexcept = default;
    growing_text(const growing_text&) = delete;
    growing_text& operator=(const growing_text&) = delete;

    /// Allocates when the block is full; it then at least doubles.
    void append(std::string_view piece);

    /// The text so far; what it shows never changes. Up to text::inline_capacity bytes are copied.
    [[nodiscard]] text look() const noexcept;
    /// Makes `seen` the text so far; cheapest if it was a look at this text before.
    void look_into(text& seen) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; } ///< bytes

    /// Empty again. Keeps its block if no look uses it.
    void clear() noexcept;

private:
    text block_; // shared, of `capacity_` bytes; or empty
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

} // namespace thalweg
