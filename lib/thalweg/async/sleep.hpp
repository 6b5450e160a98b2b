// SPDX-License-Identifier: BSL-1.0

#pragma once

// Waiting for time to pass, on the loop's clock.

#include <thalweg/async/loop.hpp>

#include <algorithm>
#include <optional>

namespace thalweg {

namespace detail {

class sleep_awaiter {
public:
    sleep_awaiter(loop::clock::duration d, bool obeys_stop) noexcept
        : duration_(d), obeys_stop_(obeys_stop) {}
    sleep_awaiter(const sleep_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const context& ctx = *self.promise().ctx;
        if (obeys_stop_ && ctx.stop_requested()) {
            cut_short_ = true;
            return false;
        }
        const auto now = ctx.loop().now();
        const auto longest = loop::clock::time_point::max() - now;
        timer_.wakes = &self.promise().ready;
        ctx.loop().arm(timer_, now + std::clamp(duration_, loop::clock::duration::zero(), longest));
        if (obeys_stop_) on_stop_.emplace(ctx.stop_token(), wake_early{this});
        return true;
    }
    /// True: the whole time has passed. False: a stop request ended the wait.
    bool await_resume() noexcept {
        on_stop_.reset();
        return !cut_short_;
    }

private:
    struct wake_early {
        sleep_awaiter* sleeping;
        void operator()() const noexcept {
            timer_node& timer = sleeping->timer_;
            if (!timer.is_armed()) return;
            sleeping->cut_short_ = true;
            timer.cancel();
            timer.owner->schedule(*timer.wakes);
        }
    };

    loop::clock::duration duration_;
    bool obeys_stop_;
    bool cut_short_ = false;
    timer_node timer_;
    std::optional<std::stop_callback<wake_early>> on_stop_;
};

/// `d` on the loop's clock, rounded up; what the clock cannot count is for ever.
template <class Rep, class Period>
[[nodiscard]] loop::clock::duration clock_duration(std::chrono::duration<Rep, Period> d) noexcept {
    constexpr double for_ever = 9e9; // seconds
    if (std::chrono::duration<double>(d).count() >= for_ever) return loop::clock::duration::max();
    if (d <= d.zero()) return loop::clock::duration::zero();
    return std::chrono::ceil<loop::clock::duration>(d);
}

class stop_awaiter {
public:
    explicit stop_awaiter(std::nullptr_t) noexcept {}
    stop_awaiter(const stop_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const context& ctx = *self.promise().ctx;
        cancel_ = &ctx.cancel();
        if (cancel_->requested()) return false;
        on_stop_.emplace(cancel_->token(), wake{&ctx.loop(), &self.promise().ready});
        return true;
    }
    cancel_reason await_resume() noexcept {
        on_stop_.reset();
        return cancel_->reason();
    }

private:
    struct wake {
        loop* on;
        ready_node* waiting;
        void operator()() const noexcept { on->schedule(*waiting); }
    };
    const cancel_source* cancel_ = nullptr;
    std::optional<std::stop_callback<wake>> on_stop_;
};

class yield_awaiter {
public:
    explicit yield_awaiter(std::nullptr_t) noexcept {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
        self.promise().ctx->loop().schedule_running(self.promise().ready);
    }
    void await_resume() const noexcept {}
};

} // namespace detail

/// Suspends for `d` (any duration; zero or less gives others a turn). Ends at once when the coroutine is
/// asked to stop. `co_await sleep_for(1s)` gives true if the whole time has passed. May be destroyed while
/// suspended.
template <class Rep, class Period>
[[nodiscard]] detail::sleep_awaiter sleep_for(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_awaiter(detail::clock_duration(d), true);
}

/// The same, but a stop request does not end it: for a bounded grace after one.
template <class Rep, class Period>
[[nodiscard]] detail::sleep_awaiter sleep_through(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_awaiter(detail::clock_duration(d), false);
}

/// Suspends until the coroutine is asked to stop; gives the reason. May be destroyed while suspended.
[[nodiscard]] inline detail::stop_awaiter stop_requested() noexcept {
    return detail::stop_awaiter(nullptr);
}

/// Goes to the end of the ready queue: everything that is runnable now runs first.
[[nodiscard]] inline detail::yield_awaiter yield() noexcept {
    return detail::yield_awaiter(nullptr);
}

} // namespace thalweg
