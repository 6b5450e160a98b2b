// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/threaded_sink.hpp>

#include <thalweg/async/loop.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace thalweg::trace {

namespace {

/// One write on its way to the thread and back. Both sides share it.
struct entry : std::enable_shared_from_this<entry> {
    void finish(result<void> how) {
        const std::lock_guard lock(mutex);
        outcome = std::move(how);
        // Under the lock, because the loop is only known to live as long as somebody waits on it.
        if (waiter != nullptr) on->post([self = shared_from_this()] { self->wake(); });
    }
    void wake() { // loop thread
        const std::lock_guard lock(mutex);
        if (waiter != nullptr) on->schedule(*waiter);
    }

    std::vector<message> records;
    std::mutex mutex;
    std::optional<result<void>> outcome;
    loop* on = nullptr;
    thalweg::detail::ready_node* waiter = nullptr; // set while somebody waits
};

class entry_awaiter {
public:
    explicit entry_awaiter(entry& what) noexcept : entry_(what) {}
    entry_awaiter(const entry_awaiter&) = delete;
    ~entry_awaiter() {
        const std::lock_guard lock(entry_.mutex);
        entry_.waiter = nullptr;
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const std::lock_guard lock(entry_.mutex);
        if (entry_.outcome) return false;
        entry_.on = &self.promise().ctx->loop();
        entry_.waiter = &self.promise().ready;
        outstanding_.emplace(*entry_.on);
        return true;
    }
    void await_resume() noexcept { outstanding_.reset(); }

private:
    entry& entry_;
    std::optional<loop::external_work> outstanding_;
};

task<result<void>> finished(std::shared_ptr<entry> what) {
    const std::shared_ptr<entry> kept = std::move(what);
    co_await entry_awaiter(*kept);
    const std::lock_guard lock(kept->mutex);
    co_return std::move(*kept->outcome);
}

} // namespace

/// The thread's side. Shared with the thread, which may outlive the sink.
class threaded_sink::worker {
public:
    explicit worker(std::unique_ptr<sink> inner) : inner_(std::move(inner)) {}

    void push(std::function<void(sink&)> job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_all();
    }
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return is_ending_ || !jobs_.empty(); });
            if (jobs_.empty()) break;
            const std::function<void(sink&)> job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            job(*inner_);
            lock.lock();
        }
        inner_.reset();
        has_ended_ = true;
        changed_.notify_all();
    }
    /// False: it did not end in time.
    bool end(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        is_ending_ = true;
        changed_.notify_all();
        return changed_.wait_for(lock, patience, [this] { return has_ended_; });
    }
    [[nodiscard]] std::string path() const {
        const std::lock_guard lock(mutex_);
        return path_;
    }
    void note_path(std::string_view path) {
        const std::lock_guard lock(mutex_);
        path_ = path;
    }

    std::thread thread;

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void(sink&)>> jobs_;
    std::unique_ptr<sink> inner_;
    std::string path_;
    bool is_ending_ = false;
    bool has_ended_ = false;
};

threaded_sink::threaded_sink(std::unique_ptr<sink> inner, std::chrono::milliseconds patience)
    : patience_(patience) {
    const std::string first_path(inner->path());
    worker_ = std::make_shared<worker>(std::move(inner));
    worker_->note_path(first_path);
    worker_->thread = std::thread([kept = worker_] { kept->serve(); });
}

threaded_sink::~threaded_sink() {
    if (worker_->end(patience_)) {
        worker_->thread.join();
    } else {
        worker_->thread.detach(); // it owns all it touches
    }
}

task<result<void>> threaded_sink::write(std::span<const message> messages) {
    auto handed = std::make_shared<entry>();
    std::copy_if(messages.begin(), messages.end(), std::back_inserter(handed->records),
                 [](const message& m) { return m.is_recordable(); });
    if (handed->records.empty()) {
        handed->outcome = BOOST_OUTCOME_V2_NAMESPACE::success();
    } else {
        worker_->push([handed](sink& inner) {
            loop here;
            handed->finish(here.run(inner.write(handed->records)));
        });
    }
    return finished(std::move(handed));
}

void threaded_sink::rotate() {
    worker_->push([to = worker_.get()](sink& inner) { // the worker runs it itself
        inner.rotate();
        to->note_path(inner.path());
    });
}

result<std::vector<message>> threaded_sink::read_back() const {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<result<std::vector<message>>> answer;
    worker_->push([&](sink& inner) {
        const std::lock_guard lock(mutex);
        answer = inner.read_back();
        changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answer.has_value(); });
    return std::move(*answer);
}

std::string_view threaded_sink::path() const noexcept {
    path_ = worker_->path();
    return path_;
}

} // namespace thalweg::trace
