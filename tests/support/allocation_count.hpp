// SPDX-License-Identifier: BSL-1.0

#pragma once

// Counts heap allocations of the whole program, for tests of what must not allocate. A test program that
// lists support/allocation_count.cpp among its sources gets counting replacements of operator new.
// ThreadSanitizer brings its own, which cannot be replaced under clang: nothing is counted there.

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#define THALWEG_TEST_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THALWEG_TEST_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef THALWEG_TEST_COUNTS_ALLOCATIONS
#define THALWEG_TEST_COUNTS_ALLOCATIONS 1
#endif

namespace thalweg::testing {

inline constexpr bool allocations_are_counted = THALWEG_TEST_COUNTS_ALLOCATIONS != 0;

/// Calls of operator new so far, in all threads.
[[nodiscard]] std::size_t allocation_count() noexcept;

/// Runs `work` and says how many allocations that took.
template <class Work>
[[nodiscard]] std::size_t allocations_of(Work&& work) {
    const std::size_t before = allocation_count();
    work();
    return allocation_count() - before;
}

} // namespace thalweg::testing
