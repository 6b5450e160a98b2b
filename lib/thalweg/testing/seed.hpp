// SPDX-License-Identifier: BSL-1.0

#pragma once

// Numbers that look random and are the same for the same seed, on every machine and compiler (the standard
// library's distributions are not). A plain value.

#include <cstddef>
#include <cstdint>

namespace thalweg::testing {

class seed {
public:
    explicit seed(std::uint64_t from) noexcept : state_(from) {}

    /// The next number (splitmix64).
    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    /// 0 … bound - 1; `bound` is at least 1 and small against 2^32.
    std::size_t below(std::size_t bound) noexcept {
        return static_cast<std::size_t>((next() >> 32U) * bound >> 32U);
    }
    /// From `least` to `most`, both possible.
    std::size_t between(std::size_t least, std::size_t most) noexcept {
        return least + below(most - least + 1);
    }
    /// True in `percent` of a hundred cases.
    bool chance(unsigned percent) noexcept { return below(100) < percent; }
    /// A seed of its own for a part, so that what one part draws does not shift the others.
    [[nodiscard]] seed fork() noexcept { return seed(next()); }

private:
    std::uint64_t state_;
};

} // namespace thalweg::testing
