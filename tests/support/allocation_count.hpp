// SPDX-License-Identifier: BSL-1.0

#pragma once

// Counts heap allocations of the whole program, for tests of what must not allocate. A test program that
// lists support/allocation_count.cpp among its sources gets counting replacements of operator new.

#include <cstddef>

namespace thalweg::testing {

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
