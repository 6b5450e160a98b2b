// SPDX-License-Identifier: BSL-1.0

#pragma once

// Recycles coroutine frames. g++ never elides a frame, so each call of a task is one allocation; a list of
// freed blocks per size class brings that from a malloc to a few instructions.
//
// The lists belong to the thread, which is to say to the loop that runs on it: no lock, no atomics. A frame
// freed on another thread just joins that thread's lists. The destructor of a loop gives its thread's lists
// back (trim); a thread that frees frames and never had a loop keeps what it has, at most 4096 frames of each
// size. Under AddressSanitizer every frame is a real allocation, so that use after destruction is seen.

#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define THALWEG_FRAME_POOL 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define THALWEG_FRAME_POOL 0
#endif
#endif
#ifndef THALWEG_FRAME_POOL
#define THALWEG_FRAME_POOL 1
#endif

namespace thalweg::detail {

class frame_pool {
public:
    /// Storage for a frame of `bytes`; throws std::bad_alloc like operator new.
    static void* allocate(std::size_t bytes) {
        ++live_;
#if THALWEG_FRAME_POOL
        const std::size_t at = bucket_of(bytes);
        if (at < buckets) {
            bucket& from = lists_.at[at];
            if (from.first != nullptr) {
                block* taken = from.first;
                from.first = taken->next;
                --from.count;
                return taken;
            }
            return ::operator new((at + 1) * granularity);
        }
#endif
        return ::operator new(bytes);
    }

    /// Gives back what allocate(bytes) returned.
    static void release(void* storage, std::size_t bytes) noexcept {
        --live_;
#if THALWEG_FRAME_POOL
        const std::size_t at = bucket_of(bytes);
        if (at < buckets && lists_.at[at].count < most_kept) {
            bucket& into = lists_.at[at];
            into.first = new (storage) block{into.first};
            ++into.count;
            return;
        }
#endif
        static_cast<void>(bytes);
        ::operator delete(storage);
    }

    /// Frames made less frames given back on this thread: for leak checks of tests.
    static std::ptrdiff_t live() noexcept { return live_; }

    /// Frees every block this thread keeps. Safe at any time.
    static void trim() noexcept {
#if THALWEG_FRAME_POOL
        for (bucket& each : lists_.at) {
            while (each.first != nullptr) {
                block* next = each.first->next;
                ::operator delete(each.first);
                each.first = next;
            }
            each.count = 0;
        }
#endif
    }

private:
    static constexpr std::size_t granularity = 64; // bytes
    static constexpr std::size_t buckets = 32;     // up to 2 KiB
    static constexpr std::uint32_t most_kept = 4096;

    struct block {
        block* next;
    };
    struct bucket {
        block* first;
        std::uint32_t count;
    };
    struct lists {
        bucket at[buckets];
    };

    static constexpr std::size_t bucket_of(std::size_t bytes) noexcept { return (bytes - 1) / granularity; }

    static inline constinit thread_local lists lists_{};
    static inline constinit thread_local std::ptrdiff_t live_ = 0;
};

/// The same storage for std::allocate_shared: what an awaiter must share lives about as long as a frame.
template <class T>
class frame_allocator {
public:
    using value_type = T;
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

    frame_allocator() noexcept = default;
    template <class U>
    explicit(false) frame_allocator(const frame_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return static_cast<T*>(frame_pool::allocate(count * sizeof(T)));
    }
    void deallocate(T* storage, std::size_t count) noexcept {
        frame_pool::release(storage, count * sizeof(T));
    }
    friend bool operator==(const frame_allocator&, const frame_allocator&) noexcept { return true; }
};

} // namespace thalweg::detail
