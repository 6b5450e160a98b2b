// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where threads wait for a counter that another thread moves on. Each says what it waits for, and only those
// whose condition has come true are woken. For some microseconds they leave their core to whoever is ready
// and look whenever they get it back, since it may be just that one who moves the counter; then they sleep.

#include <thalweg/async/detail/cross_thread.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace thalweg::detail {

class waiting_room {
public:
    explicit waiting_room(const asymmetric_fence& fence) noexcept : fence_(fence) {}
    waiting_room(const waiting_room&) = delete;

    /// Returns once `enough()`. Before it sleeps it hopes for `plenty()`, so that it can go on for longer.
    /// Both are called on any thread, but never at the same time; they read nothing but what is atomic or
    /// this thread's own.
    template <class Plenty, class Enough>
    void wait(Plenty plenty, Enough enough) {
        // A consumer that has to be woken first comes some ten microseconds later. If this thread slept by
        // then, the consumer would have to wake it in turn, and sleep meanwhile: again and again.
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::microseconds(30);
        do {
            if (plenty()) return;
            std::this_thread::yield();
        } while (std::chrono::steady_clock::now() < give_up);
        sleep(enough);
    }

    /// After the counter was stored. Free while nobody sleeps.
    void notify() noexcept {
        fence_.light();
        if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            wake();
    }

private:
    struct sleeper {
        explicit sleeper(const void* what, bool (*check)(const void*)) noexcept
            : condition(what), is_true(check) {}
        const void* condition;
        bool (*is_true)(const void*);
        bool called = false;
        std::condition_variable bell;
        sleeper* next = nullptr;
    };

    template <class Enough>
    void sleep(const Enough& enough) {
        sleeper mine(&enough, [](const void* what) { return (*static_cast<const Enough*>(what))(); });
        std::unique_lock lock(mutex_);
        mine.next = std::exchange(first_, &mine);
        sleepers_.fetch_add(1, std::memory_order_relaxed);
        fence_.heavy();
        if (!enough()) mine.bell.wait(lock, [&] { return mine.called; });
        sleeper** at = &first_;
        while (*at != &mine)
            at = &(*at)->next;
        *at = mine.next;
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
    void wake() noexcept {
        const std::lock_guard lock(mutex_); // also while notifying: a sleeper lives in its thread's stack
        for (sleeper* each = first_; each != nullptr; each = each->next) {
            if (each->called || !each->is_true(each->condition)) continue;
            each->called = true;
            each->bell.notify_one();
        }
    }

    const asymmetric_fence& fence_;
    std::atomic<int> sleepers_{0};
    std::mutex mutex_;
    sleeper* first_ = nullptr;
};

} // namespace thalweg::detail
