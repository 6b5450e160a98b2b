// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/detail/job.hpp>

#include <algorithm>
#include <system_error>

namespace thalweg::environments::detail {

void job::run() noexcept {
    {
        std::lock_guard lock(mutex_);
        if (state_ != state::queued) return;
        state_ = state::running;
    }
    std::exception_ptr thrown;
    try {
        work(stop_.get_token());
    } catch (...) {
        thrown = std::current_exception(); // rethrown by the await, or of interest to nobody
    }
    std::lock_guard lock(mutex_);
    thrown_ = std::move(thrown);
    state_ = state::done;
    // Under the lock, because the loop is only known to live as long as somebody waits on it.
    if (waiter_ != nullptr) loop_->post([self = shared_from_this()] { self->wake(); });
}

void job::stop() noexcept {
    std::unique_lock lock(mutex_);
    if (state_ == state::queued) {
        state_ = state::withdrawn;
        if (waiter_ != nullptr) loop_->schedule(*waiter_);
    } else {
        lock.unlock();
        stop_.request_stop();
    }
}

void job::wake() {
    std::lock_guard lock(mutex_);
    if (waiter_ != nullptr) loop_->schedule(*waiter_);
}

bool job_awaiter::begin(const context& ctx, thalweg::detail::ready_node& waiter) {
    if (ctx.stop_requested()) return false;
    job_->loop_ = &ctx.loop();
    job_->waiter_ = &waiter;
    outstanding_.emplace(ctx.loop());
    thread_pool::shared().push(job_);
    on_stop_.emplace(ctx.stop_token(), forward_stop{job_.get()});
    return true;
}

bool job_awaiter::await_resume() {
    on_stop_.reset();
    outstanding_.reset();
    std::lock_guard lock(job_->mutex_);
    if (job_->thrown_) std::rethrow_exception(std::exchange(job_->thrown_, nullptr));
    return job_->state_ == job::state::done;
}

job_awaiter::~job_awaiter() {
    on_stop_.reset();
    {
        std::lock_guard lock(job_->mutex_);
        job_->waiter_ = nullptr;
        if (job_->state_ == job::state::done) return;
    }
    job_->stop();
}

thread_pool::thread_pool(unsigned most) : most_(most) {}

thread_pool::~thread_pool() {
    std::deque<std::shared_ptr<job>> dropped;
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
        dropped.swap(waiting_);
    }
    dropped.clear();
    changed_.notify_all();
    threads_.clear(); // joins
}

void thread_pool::push(std::shared_ptr<job> what) {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(what));
    if (waiting_.size() > idle_ && threads_.size() < most_) {
        try {
            threads_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            if (!threads_.empty()) return; // the threads there are get to it
            waiting_.pop_back();
            throw;
        }
    }
    changed_.notify_one();
}

void thread_pool::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        --idle_;
        if (ending_) return;
        std::shared_ptr<job> next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        next->run();
        next.reset(); // may be the last one: its contents are destroyed without the lock
        lock.lock();
    }
}

thread_pool& thread_pool::shared() {
    static thread_pool pool(std::max(4U, std::thread::hardware_concurrency()));
    return pool;
}

} // namespace thalweg::environments::detail
