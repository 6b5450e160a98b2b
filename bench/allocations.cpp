// SPDX-License-Identifier: BSL-1.0

#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace thalweg::bench {
namespace {

constinit thread_local std::uint64_t count_here = 0;
std::atomic<std::uint64_t> count_folded{0};

void* counted(std::size_t size) {
    ++count_here;
    if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}

void* counted(std::size_t size, std::align_val_t alignment) {
    ++count_here;
    const auto align = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
    throw std::bad_alloc();
}

} // namespace

std::uint64_t allocations() noexcept {
    return count_here + count_folded.load(std::memory_order_acquire);
}

void fold_allocations() noexcept {
    count_folded.fetch_add(count_here, std::memory_order_acq_rel);
    count_here = 0;
}

std::size_t heap_bytes() noexcept {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

} // namespace thalweg::bench

// The array, nothrow and sized forms of the standard library call these.
void* operator new(std::size_t size) {
    return thalweg::bench::counted(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return thalweg::bench::counted(size, alignment);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
