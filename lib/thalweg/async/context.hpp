// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a coroutine of ours inherits from the one that awaits it: the loop it runs on and the stop request it
// obeys. A promise holds one pointer to it; awaiting hands the pointer down, so nothing is passed by hand.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/frame_pool.hpp>

#include <coroutine>
#include <cstddef>
#include <stop_token>

namespace thalweg {

class loop;

/// Loop and stop request of a running coroutine; `co_await this_coroutine()` gives it. Two pointers, copied
/// freely; what it points to outlives the coroutine.
class context {
public:
    context(thalweg::loop& on, cancel_source& cancel) noexcept : loop_(&on), cancel_(&cancel) {}

    [[nodiscard]] thalweg::loop& loop() const noexcept { return *loop_; }
    [[nodiscard]] cancel_source& cancel() const noexcept { return *cancel_; }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return cancel_->token(); }
    [[nodiscard]] bool stop_requested() const noexcept { return cancel_->requested(); }
    [[nodiscard]] cancel_reason reason() const noexcept { return cancel_->reason(); }

private:
    thalweg::loop* loop_;
    cancel_source* cancel_;
};

namespace detail {

/// A place in a loop's ready queue. It lives in the promise, so queueing never allocates, and a frame that is
/// destroyed takes itself out.
struct ready_node {
    ready_node* next = nullptr;
    ready_node* previous = nullptr;
    std::coroutine_handle<> handle;

    ready_node() = default;
    ready_node(const ready_node&) = delete;
    ready_node& operator=(const ready_node&) = delete;
    ~ready_node() { unlink(); }

    [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
    void unlink() noexcept {
        if (next == nullptr) return;
        next->previous = previous;
        previous->next = next;
        next = previous = nullptr;
    }
};

/// What every promise of ours has.
struct promise_base {
    const context* ctx = nullptr;         // set by whoever resumes it first
    std::coroutine_handle<> continuation; // who awaits it
    ready_node ready;
    bool running_inline = false; // resumed from inside await_suspend of the awaiting coroutine
    bool reached = false;        // a value or the end was reached while running inline

    static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        frame_pool::release(frame, bytes);
    }

    /// Resumes `child` for the coroutine `parent` on this stack. True: it got to its value or end before it
    /// suspended, go on without suspending. This is the whole trick that needs no tail call and keeps the
    /// stack flat: the child does not resume its parent as long as the parent is below it on the stack.
    bool run_for(std::coroutine_handle<> child, std::coroutine_handle<> parent, const context* inherited) {
        ctx = inherited;
        continuation = parent;
        running_inline = true;
        reached = false;
        child.resume();
        running_inline = false;
        return reached;
    }

    /// Says that the awaited value or end is there. Call as the last thing before staying suspended; the
    /// frame may be gone when it returns.
    void arrive() {
        reached = true;
        if (!running_inline) continuation.resume();
    }
};

/// Suspends for good or for a while and tells the waiting coroutine: a task at its end, a stream at each
/// item.
struct arrive_awaiter {
    explicit arrive_awaiter(std::nullptr_t) noexcept {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
        self.promise().arrive();
    }
    void await_resume() const noexcept {}
};

struct this_coroutine_awaiter {
    explicit this_coroutine_awaiter(std::nullptr_t) noexcept {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        found = self.promise().ctx;
        return false;
    }
    [[nodiscard]] context await_resume() const noexcept { return *found; }

    const context* found = nullptr;
};

} // namespace detail

/// `co_await this_coroutine()`: the context of the running coroutine. Never suspends.
[[nodiscard]] inline detail::this_coroutine_awaiter this_coroutine() noexcept {
    return detail::this_coroutine_awaiter(nullptr);
}

} // namespace thalweg
