// SPDX-License-Identifier: BSL-1.0

#pragma once

// What one local producer of a merge knows: its credit, and where its blocks end in the queue. One thread.
//
// Budgets cost nothing per item. A producer sends in blocks of half its budget and remembers where its blocks
// end in the queue; when a block is used up it looks whether the consumer has passed the end of the one
// before. If not, it waits in the segment where that end lies, and the consumer wakes it when it leaves that
// segment (or finds the queue empty). So at most two blocks of a producer are under way, and the consumer
// does no accounting at all.

#include <thalweg/async/detail/merge_segment.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace thalweg::detail {

template <class T>
class merge_core;

/// Owned by the producer's handle; linked in the core so that close() reaches it.
template <class T>
struct merge_source {
    /// Takes one item off the current block, which a closed merge has taken away.
    [[nodiscard]] bool spend() noexcept {
        if (--credit >= 0) [[likely]]
            return true;
        credit = 0;
        return false;
    }
    [[nodiscard]] bool try_push(T& item) {
        if (!spend()) return false;
        core->emplace(std::move(item));
        return true;
    }
    bool post(T&& item) {
        if (core->is_closed()) return false;
        core->emplace(std::move(item));
        return true;
    }

    void open_first_block() noexcept { open_block(budget == 0 ? merge_segment_items : (budget + 1) / 2); }
    /// The current block is used up, and the last item that this producer pushed lies at or before `tail`
    /// in `tail_segment`. Opens the next block if what the consumer is done with leaves budget for one.
    [[nodiscard]] bool open_next_block(merge_segment<T>* tail_segment, const T* tail,
                                       std::uint64_t consumed) noexcept {
        if (block_segment == nullptr) { // else noted before
            block_end = tail_segment->position(tail);
            block_segment = tail_segment;
        }
        if (consumed >= block_end) {
            open_first_block();
            return true;
        }
        const std::size_t rest = budget - block;
        if (rest == 0 || consumed < earlier_end) return false;
        open_block(rest);
        return true;
    }
    /// Chains the waiter where it will be woken. Only after open_next_block() was false.
    void wait(std::uint64_t consumed) noexcept {
        assert(!waiter.is_linked() && "one send() of a producer at a time");
        const bool for_earlier = budget > block && consumed < earlier_end;
        waiter.link_into((for_earlier ? earlier_segment : block_segment)->waiters);
    }
    /// Nothing more from here. Who waits is woken and finds no credit.
    void close() noexcept {
        credit = 0;
        if (waiter.is_linked()) waiter.wake();
    }

    merge_core<T>* core = nullptr;
    std::ptrdiff_t credit = 0;                   // items left in the current block
    std::size_t budget = 0;                      // 0 = unbounded
    std::size_t block = 0;                       // size of the current block
    std::uint64_t block_end = 0;                 // position behind the current block's last item
    std::uint64_t earlier_end = 0;               // the same of the block before
    merge_segment<T>* earlier_segment = nullptr; // where earlier_end - 1 lies, while not consumed
    merge_segment<T>* block_segment = nullptr;
    merge_source* next = nullptr;
    merge_source* previous = nullptr;
    merge_waiter waiter;

private:
    void open_block(std::size_t size) noexcept {
        earlier_end = block_end;
        earlier_segment = block_segment;
        block = size;
        credit = static_cast<std::ptrdiff_t>(size);
        block_segment = nullptr;
    }
};

} // namespace thalweg::detail
