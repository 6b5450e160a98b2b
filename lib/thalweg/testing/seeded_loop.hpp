// SPDX-License-Identifier: BSL-1.0

#pragma once

// A virtual loop on which a seed chooses what runs next: among coroutines that are runnable, and among timers
// of one instant. Whatever holds under all seeds holds without luck in scheduling; the same seed gives the
// same order again, on every machine.
//
// What has to come first by contract of the library keeps doing so: order within a producer, and what a
// coroutine does without suspending. Cost: one posted handler for each resumption. Not for measurements.

#include <thalweg/testing/seed.hpp>
#include <thalweg/testing/virtual_loop.hpp>

namespace thalweg::testing {

class seeded_loop final : public virtual_loop {
public:
    explicit seeded_loop(std::uint64_t seed) : seed_(seed) { resume_one_at_a_time(); }

    /// False once nothing is timed any more: for leak checks.
    [[nodiscard]] bool has_timers() const noexcept { return first_deadline().has_value(); }

private:
    bool when_idle() override {
        if (!virtual_loop::when_idle()) return false;
        while (first_deadline() && *first_deadline() <= now())
            virtual_loop::when_idle();
        return true;
    }
    void before_drain() noexcept override {
        const std::size_t runnable = count_ready();
        if (runnable > 1) move_to_front(seed_.below(runnable));
    }

    seed seed_;
};

} // namespace thalweg::testing
