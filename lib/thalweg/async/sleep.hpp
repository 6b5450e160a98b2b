// SPDX-License-Identifier: BSL-1.0

#pragma once

// Waiting for time to pass, on the loop's clock.

#include <thalweg/async/loop.hpp>

#include <optional>

namespace thalweg {

namespace detail {

class sleep_awaiter {
public:
    sleep_awaiter(loop::clock::duration d, bool obeys_stop) noexcept : duration_(d), obeys_stop_(obeys_stop) {}
    sleep_awaiter(const sleep_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const context& ctx = *self.promise().ctx;
        cancel_ = &ctx.cancel();
        if (obeys_stop_ && cancel_->requested()) return false;
        timer_.wakes = &self.promise().ready;
        ctx.loop().arm(timer_, ctx.loop().now() + duration_);
        if (obeys_stop_) on_stop_.emplace(cancel_->token(), wake_early{&timer_});
        return true;
    }
    /// True: the whole time has passed. False: a stop request ended the wait.
    bool await_resume() noexcept {
        on_stop_.reset();
        return !cancel_->requested();
    }

private:
    struct wake_early {
        timer_node* timer;
        void operator()() const noexcept {
            if (!timer->is_armed()) return;
            loop* on = timer->owner;
            timer->cancel();
            on->schedule(*timer->wakes);
        }
    };

    loop::clock::duration duration_;
    bool obeys_stop_;
    const cancel_source* cancel_ = nullptr;
    timer_node timer_;
    std::optional<std::stop_callback<wake_early>> on_stop_;
};

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
        self.promise().ctx->loop().schedule(self.promise().ready);
    }
    void await_resume() const noexcept {}
};

} // namespace detail

/// Suspends for `d` (any duration; zero or less gives others a turn). Ends at once when the coroutine is asked to
/// stop. `co_await sleep_for(1s)` gives true if the whole time has passed. May be destroyed while suspended.
template <class Rep, class Period>
detail::sleep_awaiter sleep_for(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_awaiter(std::chrono::ceil<loop::clock::duration>(d), true);
}

/// The same, but a stop request does not end it: for a bounded grace after one.
template <class Rep, class Period>
detail::sleep_awaiter sleep_through(std::chrono::duration<Rep, Period> d) noexcept {
    return detail::sleep_awaiter(std::chrono::ceil<loop::clock::duration>(d), false);
}

/// Suspends until the coroutine is asked to stop; gives the reason. May be destroyed while suspended.
inline detail::stop_awaiter stop_requested() noexcept { return detail::stop_awaiter(nullptr); }

/// Goes to the end of the ready queue: everything that is runnable now runs first.
[[nodiscard]] inline detail::yield_awaiter yield() noexcept { return detail::yield_awaiter(nullptr); }

} // namespace thalweg
