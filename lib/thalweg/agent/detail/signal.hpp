// SPDX-License-Identifier: BSL-1.0

#pragma once

// Wakes whoever waits for a state to change:
//
//     while (busy) co_await idle.wait();
//
// notify() queues all that wait at that moment and resumes nobody itself. A stop request ends no wait. Loop
// thread; outlives those who wait. A coroutine that is destroyed while it waits takes itself out.

#include <thalweg/async/context.hpp>
#include <thalweg/async/loop.hpp>

#include <coroutine>
#include <utility>

namespace thalweg::detail {

class signal {
public:
    signal() = default;
    signal(const signal&) = delete;

    class awaiter {
    public:
        explicit awaiter(signal& of) noexcept : of_(of) {}
        awaiter(const awaiter&) = delete;
        ~awaiter() { unlink(); }

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> self) noexcept {
            node_ = &self.promise().ready;
            loop_ = &self.promise().ctx->loop();
            next_ = of_.first_;
            if (next_ != nullptr) next_->previous_ = this;
            of_.first_ = this;
        }
        void await_resume() const noexcept {}

    private:
        friend signal;
        void unlink() noexcept {
            if (node_ == nullptr) return;
            (previous_ != nullptr ? previous_->next_ : of_.first_) = next_;
            if (next_ != nullptr) next_->previous_ = previous_;
            node_ = nullptr;
            next_ = previous_ = nullptr;
        }

        signal& of_;
        ready_node* node_ = nullptr; // while it waits
        loop* loop_ = nullptr;
        awaiter* next_ = nullptr;
        awaiter* previous_ = nullptr;
    };

    /// Suspends until notify().
    [[nodiscard]] awaiter wait() noexcept { return awaiter(*this); }

    void notify() {
        while (first_ != nullptr) {
            awaiter& woken = *first_;
            ready_node& node = *woken.node_;
            woken.unlink();
            woken.loop_->schedule(node);
        }
    }

private:
    awaiter* first_ = nullptr;
};

} // namespace thalweg::detail
