// SPDX-License-Identifier: BSL-1.0

#pragma once

// Values that are counted while they live: what a dropped coroutine, queue or handle fails to destroy is
// seen, and so is what it destroys twice.

#include <utility>

namespace thalweg::testing {

class counted {
public:
    explicit counted(int number = 0) noexcept : number(number) { ++living; }
    counted(const counted& other) noexcept : number(other.number) { ++living; }
    counted(counted&& other) noexcept : number(std::exchange(other.number, moved_from)) { ++living; }
    counted& operator=(const counted&) noexcept = default;
    counted& operator=(counted&& other) noexcept {
        number = std::exchange(other.number, moved_from);
        return *this;
    }
    ~counted() { --living; }

    static constexpr int moved_from = -1;
    static inline int living = 0;

    int number;
};

} // namespace thalweg::testing
