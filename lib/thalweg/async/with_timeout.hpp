// SPDX-License-Identifier: BSL-1.0

#pragma once

// Runs a task or a stream under a stop request of its own, which fires with cancel_reason::timeout when the
// time is up:
//
//     const auto page = co_await with_timeout(5s, fetch(url));
//
// The time-out asks, as every stop request here does; what the work makes of it is the result. Work that
// ignores stop requests is not ended by it. A stop request of the caller's context passes through with its
// own reason.
//
// Thread rule: loop thread. Destroying the wait destroys the work where it is suspended, and takes the timer
// back.

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/async/task.hpp>

#include <type_traits>
#include <utility>

namespace thalweg {

namespace detail {

/// Asks for a stop when `limit` has passed; its destructor takes that back.
class deadline {
public:
    deadline(const context& outer, loop::clock::duration limit)
        : context_(outer.loop(), cancel_), watch_(context_) {
        cancel_.follow(outer.cancel());
        watch_.spawn(request_after(limit, cancel_));
    }
    deadline(const deadline&) = delete;

    [[nodiscard]] const context& inner() const noexcept { return context_; }

private:
    static task<void> request_after(loop::clock::duration limit, cancel_source& cancel) {
        const bool whole = co_await sleep_for(limit);
        if (whole) cancel.request(cancel_reason::timeout);
    }

    cancel_source cancel_;
    context context_;
    scope watch_;
};

} // namespace detail

/// The value of `work`, or what it throws. Time is measured from the await, on the loop's clock.
template <class T>
task<T> with_timeout(loop::clock::duration limit, task<T> work) {
    const context outer = co_await this_coroutine();
    const detail::deadline time_out(outer, limit);
    task<T> running = std::move(work); // destroyed before the deadline it runs under
    co_return co_await std::move(running).under(time_out.inner());
}

/// The items and the result of `source`; the time runs for the whole stream, from its first item's await.
template <class T, class R>
stream<T, R> with_timeout(loop::clock::duration limit, stream<T, R> source) {
    const context outer = co_await this_coroutine();
    const detail::deadline time_out(outer, limit);
    stream<T, R> running = std::move(source);
    while (T* item = co_await running.peek_under(time_out.inner()))
        co_yield std::move(*item);
    if constexpr (!std::is_void_v<R>) co_return std::move(running.result());
}

} // namespace thalweg
