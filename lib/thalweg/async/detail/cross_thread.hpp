// SPDX-License-Identifier: BSL-1.0

#pragma once

// What threads that meet without a lock need: a fence whose cost lies with the side that is going to sleep
// anyway, and short waits that do not burn a core. Any thread.

#include <atomic>
#include <chrono>
#include <thread>

namespace thalweg::detail {

/// Two threads each store something and then look at what the other has stored; one of them must see it.
/// Between its store and its look the frequent side calls light(), which is free, the rare side heavy(),
/// which makes the kernel put a fence into every running thread of the process. Where the kernel cannot, and
/// under ThreadSanitizer so that both ways are tested, both are ordinary fences.
class asymmetric_fence {
public:
    asymmetric_fence() noexcept : by_kernel_(can_ask_kernel()) {}

    void light() const noexcept {
        if (by_kernel_) [[likely]]
            std::atomic_signal_fence(std::memory_order_seq_cst);
        else
            std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    void heavy() const noexcept;

private:
    [[nodiscard]] static bool can_ask_kernel() noexcept;

    bool by_kernel_;
};

/// Whether another thread can be running while this one spins.
[[nodiscard]] inline bool spinning_helps() noexcept {
    static const bool several_cores = std::thread::hardware_concurrency() > 1;
    return several_cores;
}

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Asks for the cache line at `where` and takes it away from other cores, without waiting for it. What
/// compilers make of __builtin_prefetch on x86-64 asks for a line to read, which does not help here;
/// processors that do not know the instruction ignore it.
inline void cpu_fetch_for_writing(const void* where) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(where)));
#else
    __builtin_prefetch(where, 1);
#endif
}

/// Looks after each `breath` until `come_true`, or until `patience` is over; gives what the last look gave.
/// To look seldom lets more come at a time, and leaves the cache lines to those who fill them. Between two
/// looks the core belongs to whoever is ready, for it may be just that one who brings something.
template <class Condition>
[[nodiscard]] bool spin_for(std::chrono::nanoseconds patience, std::chrono::nanoseconds breath,
                            Condition come_true) {
    using clock = std::chrono::steady_clock;
    auto now = clock::now();
    for (const auto until = now + patience; now < until;) {
        const auto look = now + breath;
        do {
            cpu_pause();
            now = clock::now();
        } while (now < look);
        if (come_true()) return true;
        std::this_thread::yield();
    }
    return false;
}

} // namespace thalweg::detail
