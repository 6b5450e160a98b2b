// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where the items of a merge lie: segments of raw slots in a chain, which are recycled, and what waits until
// a segment has been consumed. One thread.

#include <thalweg/async/context.hpp>
#include <thalweg/async/loop.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace thalweg::detail {

inline constexpr std::size_t merge_segment_items = 64;
inline constexpr std::size_t merge_segments_kept = 4;

/// A suspended send(), chained in the segment whose consumption it waits for.
struct merge_waiter {
    merge_waiter* next = nullptr;
    merge_waiter* previous = nullptr;
    ready_node* ready = nullptr;
    loop* on = nullptr;
    [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
    /// As the last one of `sentinel`'s ring: the first in is woken first.
    void link_into(merge_waiter& sentinel) noexcept {
        next = &sentinel;
        previous = sentinel.previous;
        sentinel.previous->next = this;
        sentinel.previous = this;
    }
    void unlink() noexcept {
        if (next == nullptr) return;
        next->previous = previous;
        previous->next = next;
        next = previous = nullptr;
    }
    void wake() noexcept {
        unlink();
        on->schedule(*ready);
    }
};

template <class T>
struct merge_segment {
    merge_segment() noexcept { waiters.next = waiters.previous = &waiters; }

    [[nodiscard]] T* begin() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
    [[nodiscard]] T* end() noexcept { return begin() + merge_segment_items; }
    [[nodiscard]] std::uint64_t position(const T* slot) noexcept {
        return base + static_cast<std::uint64_t>(slot - begin());
    }
    void wake_waiters() noexcept {
        while (waiters.next != &waiters)
            waiters.next->wake();
    }

    merge_segment* next = nullptr;
    std::uint64_t base = 0;           // position in the stream of the first slot
    std::uint64_t remote_through = 0; // tickets of the inbox that lie here or before; 0 = none spliced here
    merge_waiter waiters;             // sentinel
    alignas(T) unsigned char storage[merge_segment_items * sizeof(T)];
};

/// Segments that are used up, kept for the next ones that are needed; the last ones used come first.
template <class T>
class merge_spares {
public:
    merge_spares() = default;
    merge_spares(const merge_spares&) = delete;
    ~merge_spares() {
        while (first_ != nullptr)
            delete std::exchange(first_, first_->next);
    }

    [[nodiscard]] merge_segment<T>* take() {
        if (first_ == nullptr) return new merge_segment<T>;
        merge_segment<T>* taken = std::exchange(first_, first_->next);
        taken->next = nullptr;
        --count_;
        return taken;
    }
    void give(merge_segment<T>* used) noexcept {
        if (count_ == merge_segments_kept) {
            delete used;
            return;
        }
        used->next = std::exchange(first_, used);
        ++count_;
    }

private:
    merge_segment<T>* first_ = nullptr;
    std::size_t count_ = 0;
};

} // namespace thalweg::detail
