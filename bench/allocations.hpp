// SPDX-License-Identifier: BSL-1.0

#pragma once

// Counts allocations of a bench program: linking allocations.cpp replaces the global operator new by one that
// adds one to a counter of the calling thread and then asks malloc. Nothing else changes, so times stay
// honest.

#include <cstddef>
#include <cstdint>

namespace thalweg::bench {

// Allocations of this thread and of every thread that has called `fold_allocations`.
std::uint64_t allocations() noexcept;

// The last act of a thread that a contender starts.
void fold_allocations() noexcept;

// Bytes that malloc has handed out and not got back, with its own overhead.
std::size_t heap_bytes() noexcept;

} // namespace thalweg::bench
