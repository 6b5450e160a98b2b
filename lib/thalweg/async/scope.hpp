// SPDX-License-Identifier: BSL-1.0

#pragma once

// A nursery: nothing that is started in a scope outlives it.
//
//     scope work(co_await this_coroutine());       // inherits loop and stop request
//     work.spawn(pump(source, std::move(producer)));
//     co_await work.join();
//
// The destructor asks what still runs to stop and destroys it where it is suspended (D-23): that is how a
// dropped stream takes back all that feeds it. Leave a scope in the ordinary way after join(), or what a
// child threw is lost. Declare a merge before the scope whose coroutines feed it, so that the scope goes
// first.
//
// Thread rule: loop thread. A scope must not be destroyed by one of its own children.

#include <thalweg/async/detail/root.hpp>
#include <thalweg/async/loop.hpp>

#include <exception>
#include <utility>

namespace thalweg {

class scope final : private detail::root_owner {
public:
    /// Children inherit the loop of `parent` and stop when it is asked to; the parent's context outlives the
    /// scope.
    explicit scope(const thalweg::context& parent) : context_(parent.loop(), cancel_) {
        cancel_.follow(parent.cancel());
    }

    ~scope() {
        if (owns_none()) return;
        cancel_.request(cancel_reason::parent);
        destroy_all();
    }

    /// Starts `work` at once; it has run to its first suspension when this returns. What `work` owns, its
    /// parameters included, is destroyed when it ends. An exception it lets out cancels the other children
    /// and comes out of join().
    void spawn(task<void> work) { adopt(detail::run_root(std::move(work)).frame, context_); }

    /// The same in a context of the caller's, e.g. with a stop request of its own. `ctx` outlives the child.
    void spawn(task<void> work, const thalweg::context& ctx) {
        adopt(detail::run_root(std::move(work)).frame, ctx);
    }

    /// Asks the children to stop; the first reason counts. They still have to be joined or dropped.
    void cancel(cancel_reason why = cancel_reason::parent) { cancel_.request(why); }

    /// Destroys the children where they are suspended and ends a join(): for what does not answer a stop
    /// request. Not from inside a child.
    void drop() {
        if (owns_none()) return;
        cancel_.request(cancel_reason::parent);
        destroy_all();
        if (joiner_ != nullptr) context_.loop().schedule(*std::exchange(joiner_, nullptr));
    }

    [[nodiscard]] bool empty() const noexcept { return owns_none(); }
    /// What children inherit: for streams and tasks that are to be stopped with them.
    [[nodiscard]] const thalweg::context& context() const noexcept { return context_; }

    class join_awaiter {
    public:
        explicit join_awaiter(scope& of) noexcept : scope_(of) {}
        join_awaiter(const join_awaiter&) = delete;
        ~join_awaiter() { scope_.joiner_ = nullptr; }

        [[nodiscard]] bool await_ready() const noexcept { return scope_.empty(); }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> self) noexcept {
            scope_.joiner_ = &self.promise().ready;
        }
        void await_resume() {
            if (scope_.thrown_) std::rethrow_exception(std::exchange(scope_.thrown_, nullptr));
        }

    private:
        scope& scope_;
    };

    /// Waits until no child is left; rethrows the first exception a child let out. Children may be spawned
    /// again after. A stop request does not end the wait: it reaches the children, who end it. One coroutine
    /// at a time.
    [[nodiscard]] join_awaiter join() noexcept { return join_awaiter(*this); }

private:
    void ended(std::exception_ptr thrown) noexcept override {
        if (thrown && !thrown_) {
            thrown_ = std::move(thrown);
            cancel_.request(cancel_reason::parent);
        }
        if (owns_none() && joiner_ != nullptr) context_.loop().schedule(*std::exchange(joiner_, nullptr));
    }

    cancel_source cancel_;
    thalweg::context context_;
    detail::ready_node* joiner_ = nullptr;
    std::exception_ptr thrown_;
};

} // namespace thalweg
