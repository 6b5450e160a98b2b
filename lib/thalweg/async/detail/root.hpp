// SPDX-License-Identifier: BSL-1.0

#pragma once

// The coroutine at the bottom of each call chain: it is awaited by nobody and owned by a root_owner (a scope,
// a loop's run(), an Asio program's spawn). When it ends it tells its owner and destroys itself, and with
// itself the parameters of what it ran: a finished pump must not keep its producer alive.

#include <thalweg/async/context.hpp>
#include <thalweg/async/task.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace thalweg::detail {

struct root_promise;

/// Owns running roots in an intrusive list. Destroys those that are left when it dies.
class root_owner {
public:
    root_owner() noexcept = default;
    root_owner(const root_owner&) = delete;
    root_owner& operator=(const root_owner&) = delete;

    [[nodiscard]] bool owns_none() const noexcept { return first_ == nullptr; }

protected:
    ~root_owner() { destroy_all(); }

    /// Takes `root` in and runs it until it first suspends.
    void adopt(std::coroutine_handle<root_promise> root, const context& ctx);
    void destroy_all() noexcept;

    /// `root` has ended and is gone; `thrown` is what it let out, or null.
    virtual void ended(std::exception_ptr thrown) noexcept = 0;

private:
    friend struct root_promise;
    root_promise* first_ = nullptr;
};

struct root_promise : promise_base {
    std::coroutine_handle<root_promise> get_return_object() noexcept {
        auto self = std::coroutine_handle<root_promise>::from_promise(*this);
        ready.handle = self;
        return self;
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    struct end_awaiter {
        explicit end_awaiter(std::nullptr_t) noexcept {}
        [[nodiscard]] bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<root_promise> self) const noexcept {
            self.promise().leave(self);
        }
        void await_resume() const noexcept {}
    };
    [[nodiscard]] end_awaiter final_suspend() const noexcept { return end_awaiter(nullptr); }

    /// Unlinks and destroys this very frame, then tells the owner.
    void leave(std::coroutine_handle<root_promise> self) noexcept;

    void link(root_owner& to) noexcept;
    void unlink() noexcept;

    root_owner* owner = nullptr;
    root_promise* next = nullptr;
    root_promise* previous = nullptr;
    std::exception_ptr thrown;
};

/// What a coroutine function that makes a root returns.
struct root {
    using promise_type = root_promise;
    root(std::coroutine_handle<root_promise> frame) noexcept : frame(frame) {}
    std::coroutine_handle<root_promise> frame;
};

inline root run_root(task<void> work) {
    co_await std::move(work);
}

template <class T>
task<void> store_value(task<T> work, std::optional<T>& place) {
    T value = co_await std::move(work);
    place.emplace(std::move(value));
}

/// Owner of exactly one root, for loop::run.
class single_root final : public root_owner {
public:
    void start(root work, const context& ctx) { adopt(work.frame, ctx); }
    [[nodiscard]] const bool& finished() const noexcept { return finished_; }
    void rethrow() {
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

private:
    void ended(std::exception_ptr thrown) noexcept override {
        thrown_ = std::move(thrown);
        finished_ = true;
    }
    bool finished_ = false;
    std::exception_ptr thrown_;
};

} // namespace thalweg::detail
