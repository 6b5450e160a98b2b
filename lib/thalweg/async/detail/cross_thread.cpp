// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/detail/cross_thread.hpp>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define THALWEG_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THALWEG_UNDER_TSAN 1
#endif
#endif

namespace thalweg::detail {

#if defined(__linux__) && !defined(THALWEG_UNDER_TSAN)

bool asymmetric_fence::can_ask_kernel() noexcept {
    // Once per process; a child of fork() inherits it.
    static const bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) ==
                                   0;
    return registered;
}

void asymmetric_fence::heavy() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (by_kernel_) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

#else

bool asymmetric_fence::can_ask_kernel() noexcept {
    return false;
}

void asymmetric_fence::heavy() const noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

#endif

} // namespace thalweg::detail
