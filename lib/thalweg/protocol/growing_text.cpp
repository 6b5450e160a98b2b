// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/growing_text.hpp>

#include <algorithm>

namespace thalweg {

void growing_text::append(std::string_view piece) {
    if (piece.empty()) return;
    if (piece.size() > capacity_ - size_) {
        constexpr std::size_t least = 240; // with its header a block of 256 bytes or so
        const std::size_t room = std::max({least, 2 * capacity_, size_ + piece.size()});
        void* storage = ::operator new(sizeof(text::shared_block) + room);
        auto* fresh = new (storage) text::shared_block;
        if (size_ > 0) std::memcpy(fresh->bytes(), block_.block()->bytes(), size_);
        text next;
        next.word_[0] = reinterpret_cast<std::uint64_t>(fresh);
        next.word_[1] = room;
        next.raw()[text::tag_at] = text::shared_tag;
        block_ = std::move(next);
        capacity_ = room;
    }
    std::memcpy(block_.block()->bytes() + size_, piece.data(), piece.size());
    size_ += piece.size();
}

text growing_text::look() const noexcept {
    if (size_ == 0) return {};
    if (size_ <= text::inline_capacity) return text(std::string_view(block_.block()->bytes(), size_));
    text seen = block_;
    seen.word_[1] = size_;
    return seen;
}

void growing_text::look_into(text& seen) const noexcept {
    const bool shares = capacity_ != 0 && seen.is_shared() && seen.word_[0] == block_.word_[0];
    if (shares && size_ > text::inline_capacity)
        seen.word_[1] = size_;
    else
        seen = look();
}

void growing_text::clear() noexcept {
    size_ = 0;
    if (capacity_ == 0) return;
    // Acquire: who let go of the last look has read its bytes before they are written over.
    if (block_.block()->references.load(std::memory_order_acquire) == 1) return;
    block_ = text();
    capacity_ = 0;
}

} // namespace thalweg
