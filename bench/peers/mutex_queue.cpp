// SPDX-License-Identifier: BSL-1.0

// What most programs use: a std::deque under a mutex, with condition variables where somebody has to wait.

#include "../contenders.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

namespace thalweg::bench {
namespace {

template <class Message>
class mutex_deque {
public:
    explicit mutex_deque(std::size_t capacity) : capacity_(capacity) {}

    void push(Message&& message) {
        std::unique_lock lock(mutex_);
        if (messages_.size() >= capacity_) room_.wait(lock, [this] { return messages_.size() < capacity_; });
        messages_.push_back(std::move(message));
        lock.unlock();
        filled_.notify_one();
    }

    Message pop() {
        std::unique_lock lock(mutex_);
        wait_for_message(lock);
        Message first = std::move(messages_.front());
        messages_.pop_front();
        lock.unlock();
        if (capacity_ != unlimited) room_.notify_one();
        return first;
    }

    // `all` must be empty; waits until there is something.
    void take_all(std::deque<Message>& all) {
        std::unique_lock lock(mutex_);
        wait_for_message(lock);
        messages_.swap(all);
    }

    std::optional<Message> try_pop() {
        const std::lock_guard lock(mutex_);
        if (messages_.empty()) return std::nullopt;
        std::optional<Message> first(std::move(messages_.front()));
        messages_.pop_front();
        return first;
    }

    std::uint64_t wakeups() const noexcept { return wakeups_; }

    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

private:
    void wait_for_message(std::unique_lock<std::mutex>& lock) {
        while (messages_.empty()) {
            filled_.wait(lock);
            ++wakeups_;
        }
    }

    std::mutex mutex_;
    std::condition_variable filled_;
    std::condition_variable room_;
    std::deque<Message> messages_;
    std::size_t capacity_;
    std::uint64_t wakeups_ = 0;
};

// Producers take turns as they would on a ready list; the consumer drains after each turn or each round.
template <class Message>
measurement run_one_thread(unsigned producers, std::uint64_t messages, pace mode) {
    mutex_deque<Message> queue(mutex_deque<Message>::unlimited);
    order_check check(producers);
    std::vector<std::uint64_t> sent(producers, 0);
    const std::uint64_t burst = mode == pace::one_per_wake ? 1 : 64;
    const auto drain = [&] {
        while (std::optional<Message> message = queue.try_pop())
            check.see(*message);
    };

    const meter time;
    for (bool more = true; more;) {
        more = false;
        for (unsigned producer = 0; producer < producers; ++producer) {
            const std::uint64_t last = share_of(messages, producers, producer);
            for (std::uint64_t i = 0; i < burst && sent[producer] < last; ++i)
                queue.push(Message(producer, sent[producer]++));
            more = more || sent[producer] < last;
            if (mode == pace::budget64) drain();
        }
        drain();
    }
    const measurement taken = time.stop(messages);
    check.finish(messages);
    return taken;
}

enum class taking { one, all };

template <class Message, taking Taking, std::size_t Capacity>
measurement run_threads(unsigned producers, std::uint64_t messages) {
    mutex_deque<Message> queue(Capacity);
    order_check check(producers);
    const unsigned threads = std::min(producers, most_threads);
    const auto produce = [&](unsigned thread) {
        const std::uint64_t most = share_of(messages, producers, thread);
        for (std::uint64_t sequence = 0; sequence < most; ++sequence)
            for (unsigned producer = thread; producer < producers; producer += threads)
                if (sequence < share_of(messages, producers, producer))
                    queue.push(Message(producer, sequence));
        fold_allocations();
    };

    const meter time(meter::clock::wall);
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
        running.emplace_back(produce, thread);
    std::deque<Message> batch;
    for (std::uint64_t left = messages; left != 0;) {
        if constexpr (Taking == taking::all) {
            queue.take_all(batch);
            for (const Message& message : batch)
                check.see(message);
            left -= batch.size();
            batch.clear();
        } else {
            check.see(queue.pop());
            --left;
        }
    }
    for (std::thread& each : running)
        each.join();
    const measurement taken = time.stop(messages, static_cast<double>(queue.wakeups()));
    check.finish(messages);
    return taken;
}

template <class Message, taking Taking, std::size_t Capacity>
contender threads_contender(const char* name, unsigned producers) {
    return {.name = name,
            .run =
                [producers](std::uint64_t messages) {
                    return run_threads<Message, Taking, Capacity>(producers, messages);
                },
            .fraction = 4};
}

} // namespace

template <class Message>
contender mutex_queue_one_thread(unsigned producers, pace mode) {
    return {.name = "deque and mutex (no waiting)", .run = [producers, mode](std::uint64_t messages) {
                return run_one_thread<Message>(producers, messages, mode);
            }};
}

template <class Message>
contender mutex_queue(unsigned producers) {
    return threads_contender<Message, taking::one, mutex_deque<Message>::unlimited>(
        "deque, mutex and condition", producers);
}

template <class Message>
contender mutex_queue_swapping(unsigned producers) {
    return threads_contender<Message, taking::all, mutex_deque<Message>::unlimited>(
        "deque, mutex and condition (take all)", producers);
}

template <class Message>
contender mutex_queue_bounded(unsigned producers) {
    return threads_contender<Message, taking::one, 64>("deque, mutex and conditions (window 64)", producers);
}

#define THALWEG_FOR_MESSAGE(Message)                                                                         \
    template contender mutex_queue_one_thread<Message>(unsigned, pace);                                      \
    template contender mutex_queue<Message>(unsigned);                                                       \
    template contender mutex_queue_swapping<Message>(unsigned);                                              \
    template contender mutex_queue_bounded<Message>(unsigned);
THALWEG_FOR_MESSAGE(heap_message)
THALWEG_FOR_MESSAGE(inline_message)
#undef THALWEG_FOR_MESSAGE

} // namespace thalweg::bench
