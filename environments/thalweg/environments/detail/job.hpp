// SPDX-License-Identifier: BSL-1.0

#pragma once

// Work that blocks, on a thread of its own kind, and the coroutine that waits for it.
//
// The thread touches only the job, which both sides share: a coroutine that is dropped leaves nothing behind
// that the thread could still write to, and the job lives until the thread is done with it. What the work
// itself refers to is the business of whoever wrote it.
//
// Thread rule: a job is made and awaited on a loop's thread; work() runs on a pool thread.

#include <thalweg/async/loop.hpp>

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace thalweg::environments::detail {

class job : public std::enable_shared_from_this<job> {
public:
    job() = default;
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    virtual ~job() = default;

    /// On a pool thread: does the work, unless it was withdrawn, and wakes who waits.
    void run() noexcept;

protected:
    virtual void work(std::stop_token stop) = 0; ///< may throw; that comes out of the await

private:
    friend class job_awaiter;
    enum class state { queued, running, done, withdrawn };

    void stop() noexcept; // loop thread
    void wake();          // loop thread

    std::mutex mutex_;
    state state_ = state::queued;
    loop* loop_ = nullptr; // the next two: set while somebody waits
    thalweg::detail::ready_node* waiter_ = nullptr;
    std::exception_ptr thrown_;
    std::stop_source stop_;
};

class job_awaiter {
public:
    explicit job_awaiter(std::shared_ptr<job> what) noexcept : job_(std::move(what)) {}
    job_awaiter(const job_awaiter&) = delete;
    ~job_awaiter();

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        return begin(*self.promise().ctx, self.promise().ready);
    }
    bool await_resume();

private:
    struct forward_stop {
        job* to;
        void operator()() const noexcept { to->stop(); }
    };

    bool begin(const context& ctx, thalweg::detail::ready_node& waiter);

    std::shared_ptr<job> job_;
    std::optional<loop::external_work> outstanding_;
    std::optional<std::stop_callback<forward_stop>> on_stop_;
};

/// Runs a job, once, on the shared pool: `bool ran = co_await run_on_pool(job);` Rethrows what the work
/// throws. A stop request withdraws a job that no thread has begun (false); one that runs gets it through its
/// stop_token and is waited for. Destroying the waiting coroutine does the same but waits for nothing.
[[nodiscard]] inline job_awaiter run_on_pool(std::shared_ptr<job> what) noexcept {
    return job_awaiter(std::move(what));
}

/// Threads for work that blocks: started when needed, at most `most`, joined by the destructor, which drops
/// what has not begun. Any thread may push.
class thread_pool {
public:
    explicit thread_pool(unsigned most);
    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;
    ~thread_pool();

    void push(std::shared_ptr<job> what);

    /// The pool of the program: one thread per processor and at least four, because they mostly wait. Joined
    /// at exit.
    [[nodiscard]] static thread_pool& shared();

private:
    void serve();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<job>> waiting_;
    std::vector<std::jthread> threads_;
    std::size_t idle_ = 0;
    std::size_t most_;
    bool ending_ = false;
};

} // namespace thalweg::environments::detail
