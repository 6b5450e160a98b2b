// SPDX-License-Identifier: BSL-1.0

#pragma once

// A lazy coroutine with one result. It owns its frame, starts when it is awaited and resumes who awaits it.
//
// Destroying a task that is suspended anywhere is defined: its locals are destroyed, its waits are taken
// back, nothing of it runs again. Do not destroy one from inside itself. Thread rule: awaited and destroyed
// on the loop's thread.

#include <thalweg/async/context.hpp>

#include <cassert>
#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace thalweg {

template <class T = void>
class task;

namespace detail {

struct task_promise_base : promise_base {
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] arrive_awaiter final_suspend() const noexcept { return arrive_awaiter(nullptr); }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    std::exception_ptr thrown;
};

template <class T>
struct task_promise : task_promise_base {
    task<T> get_return_object() noexcept;
    template <class U = T>
        requires std::constructible_from<T, U>
    void return_value(U&& value) {
        result.emplace(std::forward<U>(value));
    }
    T take() {
        if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
        return std::move(*result);
    }

    std::optional<T> result;
};

template <>
struct task_promise<void> : task_promise_base {
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() {
        if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
    }
};

} // namespace detail

template <class T>
class [[nodiscard]] task {
public:
    using promise_type = detail::task_promise<T>;
    using value_type = T;

    task() noexcept = default; ///< owns nothing; not to be awaited
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    ~task() { reset(); }

    /// Destroys the coroutine, wherever it is suspended.
    void reset() noexcept {
        if (frame_) std::exchange(frame_, nullptr).destroy();
    }
    [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

    class awaiter {
    public:
        awaiter(std::coroutine_handle<promise_type> frame, const context* other) noexcept
            : frame_(frame), context_(other) {}
        awaiter(const awaiter&) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> parent) {
            assert(frame_ != nullptr && !frame_.done() && "a task is awaited once, and not when it is empty");
            const context* inherited = context_ != nullptr ? context_ : parent.promise().ctx;
            return !frame_.promise().run_for(frame_, parent, inherited);
        }
        T await_resume() { return frame_.promise().take(); }

    private:
        std::coroutine_handle<promise_type> frame_;
        const context* context_;
    };

    /// Runs the task in the context of the awaiting coroutine; gives its value or rethrows what it threw.
    /// Once only.
    awaiter operator co_await() && noexcept { return awaiter(frame_, nullptr); }
    /// The same, but in another context, e.g. one with a stop request of its own. `other` outlives the wait.
    [[nodiscard]] awaiter under(const context& other) && noexcept { return awaiter(frame_, &other); }

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
    auto self = std::coroutine_handle<task_promise>::from_promise(*this);
    ready.handle = self;
    return task<T>(self);
}

inline task<void> detail::task_promise<void>::get_return_object() noexcept {
    auto self = std::coroutine_handle<task_promise>::from_promise(*this);
    ready.handle = self;
    return task<void>(self);
}

} // namespace thalweg
