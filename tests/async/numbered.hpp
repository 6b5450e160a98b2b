// SPDX-License-Identifier: BSL-1.0

#pragma once

// Items that say who sent them and as which one, and the check that a stream of them is whole.

#include "support/catch.hpp"

#include <cstddef>
#include <vector>

namespace thalweg::testing {

class numbered {
public:
    numbered(int producer, int number) noexcept : producer(producer), number(number) {}

    int producer;
    int number;
};

/// Fails the test at the first item that is lost, doubled or out of its producer's order.
class order_check {
public:
    explicit order_check(int producers) : next_(static_cast<std::size_t>(producers)) {}

    void see(const numbered& item) {
        int& expected = next_[static_cast<std::size_t>(item.producer)];
        if (item.number != expected) {
            FAIL("producer " << item.producer << ": item " << item.number << " came instead of " << expected);
        }
        ++expected;
        ++seen_;
    }
    [[nodiscard]] int seen() const noexcept { return seen_; }
    [[nodiscard]] int seen_of(int producer) const { return next_[static_cast<std::size_t>(producer)]; }

private:
    std::vector<int> next_;
    int seen_ = 0;
};

} // namespace thalweg::testing
