// SPDX-License-Identifier: BSL-1.0

#pragma once

// A loop whose time is virtual: it moves to the next timer when nothing is runnable and nothing outside is
// awaited. A test that "waits" an hour takes microseconds and gives the same order each time; a test that
// would wait for ever gets an exception that says so (loop::run).

#include <thalweg/async/loop.hpp>

namespace thalweg::testing {

class virtual_loop : public loop {
public:
    /// Time starts at 2030-01-01T00:00:00.000Z on the wall.
    virtual_loop() : loop(virtual_time_tag{}) {}

    [[nodiscard]] clock::time_point now() const noexcept override { return now_; }
    /// Virtual time since the loop was made.
    [[nodiscard]] std::chrono::milliseconds elapsed() const noexcept {
        return std::chrono::duration_cast<std::chrono::milliseconds>(now_ - start_);
    }

protected:
    // One timer at a time: what it sets off is over before the next one of the same instant fires.
    bool when_idle() override { return fire_first_timer(now_); }
    [[nodiscard]] std::int64_t read_wall_ms() noexcept override {
        return 1'893'456'000'000 + elapsed().count();
    }

private:
    static constexpr clock::time_point start_{std::chrono::hours(1)};
    clock::time_point now_ = start_;
};

} // namespace thalweg::testing
