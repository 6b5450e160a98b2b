// SPDX-License-Identifier: BSL-1.0

#pragma once

// How other threads feed a merge: a ring of inline slots and one ticket counter. The ticket is the arrival
// order. A producer takes a ticket, fills the slot, publishes it; the consumer's thread moves what is
// published into the merge's own queue before anything local is added, so that cause stays before effect
// without time stamps.
//
// Lock-free while there is room, credit and an awake consumer. A mutex is taken only to sleep, to wake a
// sleeper, or to wake the loop: once per batch. A producer that was stopped by the operating system between
// ticket and publication holds back those behind it; nothing but a move of one item happens there.
//
// The inbox is shared: the merge, its remote producers and a posted wake-up each keep it alive.

#include <thalweg/async/loop.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace thalweg::detail {

inline constexpr std::uint64_t remote_inbox_slots = 1024;

/// Spins a little, then sleeps, until something changes.
class patient_waiter {
public:
    template <class Condition>
    void wait(Condition come_true) {
        static const bool may_spin = std::thread::hardware_concurrency() > 1;
        for (int round = 0; may_spin && round < spins; ++round) {
            if (come_true()) return;
            pause();
        }
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1);
        changed_.wait(lock, come_true);
        sleepers_.fetch_sub(1);
    }
    /// After a change that a waiter may wait for, made by a sequentially consistent store.
    void notify() noexcept {
        if (sleepers_.load() == 0) return;
        { const std::lock_guard lock(mutex_); }
        changed_.notify_all();
    }

private:
    static constexpr int spins = 2000; // about the time of one futex wake-up
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    std::atomic<int> sleepers_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
};

template <class T>
class remote_inbox : public std::enable_shared_from_this<remote_inbox<T>> {
public:
    /// `look` is called on the loop's thread when something came while the consumer was parked.
    explicit remote_inbox(std::function<void()> look)
        : slots_(std::make_unique<slot[]>(remote_inbox_slots)), look_(std::move(look)) {}
    remote_inbox(const remote_inbox&) = delete;
    ~remote_inbox() { drop_items(); }

    // Consumer's thread
    // -------------------------------------------------------------------------------------------

    [[nodiscard]] bool has_items() const noexcept {
        return slot_of(taken_here_).turn.load() == taken_here_ + 1;
    }

    /// Hands over what was published before the call, in ticket order, as `take(T&&, ticket)`.
    template <class Take>
    void drain(Take take) {
        if (!has_items()) return;
        const std::uint64_t until = std::min(next_ticket_.load() & ~closed_mark, limit_here_);
        while (taken_here_ < until && has_items()) {
            slot& full = slot_of(taken_here_);
            take(std::move(*full.item()), taken_here_);
            full.item()->~T();
            ++taken_here_;
        }
        taken_.store(taken_here_);
        room_.notify();
    }

    /// Items with tickets below `through` have been consumed: credit for their producers.
    void publish_consumed(std::uint64_t through) noexcept {
        consumed_.store(through);
        room_.notify();
    }

    /// The consumer goes to sleep on `on`. True: something is there already, do not sleep.
    [[nodiscard]] bool arm(loop& on) {
        {
            const std::lock_guard lock(wake_mutex_);
            loop_ = &on;
        }
        armed_.store(true);
        if (has_items()) {
            armed_.store(false);
            return true;
        }
        if (producers() != 0) outside_.emplace(on);
        return false;
    }
    void disarm() noexcept {
        armed_.store(false);
        outside_.reset();
    }

    /// Refuses every ticket from now on, and those that found no room yet. What has a ticket and room is
    /// published in a moment and still delivered: a send() that gave true has sent.
    void close() noexcept {
        const std::uint64_t first_refused = next_ticket_.fetch_or(closed_mark) & ~closed_mark;
        limit_here_ = std::min(first_refused, taken_here_ + remote_inbox_slots);
        limit_.store(limit_here_);
        room_.notify();
    }
    /// After close(): all that was accepted has been handed over.
    [[nodiscard]] bool is_drained() const noexcept { return taken_here_ == limit_here_; }

    /// The merge is gone; wake-ups that are under way find nobody.
    void forget_consumer() noexcept {
        disarm();
        look_ = nullptr;
        {
            const std::lock_guard lock(wake_mutex_);
            loop_ = nullptr;
        }
        drop_items();
    }

    // Any thread
    // --------------------------------------------------------------------------------------------------

    [[nodiscard]] std::size_t producers() const noexcept { return live_.load(); }
    [[nodiscard]] bool is_closed() const noexcept { return limit_.load() != open; }
    [[nodiscard]] std::uint64_t consumed() const noexcept { return consumed_.load(); }

    void enter() noexcept { live_.fetch_add(1); }
    void leave() noexcept {
        live_.fetch_sub(1);
        wake_if_armed();
    }

    /// The next ticket, once there is room for it. Empty when closed.
    [[nodiscard]] std::optional<std::uint64_t> take_ticket(std::uint64_t& known_room) {
        const std::uint64_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
        if (ticket < known_room) return ticket;
        if (ticket >= closed_mark) return std::nullopt;
        room_.wait([&] { return has_room(ticket) || ticket >= limit_.load(); });
        // close() leaves those in who had room before it: see there.
        if (ticket >= limit_.load()) return std::nullopt;
        known_room = taken_.load() + remote_inbox_slots;
        return ticket;
    }
    /// The same, but empty instead of waiting.
    [[nodiscard]] std::optional<std::uint64_t> try_take_ticket() noexcept {
        std::uint64_t ticket = next_ticket_.load();
        do {
            if (!has_room(ticket)) return std::nullopt;
        } while (!next_ticket_.compare_exchange_weak(ticket, ticket + 1));
        return ticket;
    }
    void publish(std::uint64_t ticket, T&& item) {
        static_assert(
            std::is_nothrow_move_constructible_v<T>,
            "thalweg: items of a remote producer must be movable without exceptions; a ticket whose "
            "item never comes would hold back all later ones");
        slot& mine = slot_of(ticket);
        ::new (static_cast<void*>(mine.storage)) T(std::move(item));
        mine.turn.store(ticket + 1);
        wake_if_armed();
    }
    template <class Condition>
    void wait(Condition come_true) {
        room_.wait(come_true);
    }

private:
    static constexpr std::uint64_t closed_mark = std::uint64_t{1}
                                                 << 63; // in next_ticket_: greater than any ticket
    static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();

    struct alignas(64) slot {
        std::atomic<std::uint64_t> turn{0}; // ticket + 1 once the item is there
        alignas(T) unsigned char storage[sizeof(T)];
        [[nodiscard]] T* item() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
    };
    [[nodiscard]] slot& slot_of(std::uint64_t ticket) const noexcept {
        return slots_[ticket % remote_inbox_slots];
    }

    [[nodiscard]] bool has_room(std::uint64_t ticket) const noexcept {
        return ticket < taken_.load() + remote_inbox_slots;
    }
    void drop_items() noexcept {
        drain([](T&&, std::uint64_t) {});
    }

    void wake_if_armed() {
        if (!armed_.load() || !armed_.exchange(false)) return;
        const std::lock_guard lock(wake_mutex_);
        if (loop_ == nullptr) return;
        loop_->post([self = this->shared_from_this()] {
            self->outside_.reset();
            if (self->look_) self->look_();
        });
    }

    // The producers' line, the consumer's lines and what is read by both, apart from each other.
    alignas(64) std::atomic<std::uint64_t> next_ticket_{0};
    alignas(64) std::atomic<std::uint64_t> taken_{0};    // tickets whose slot is free again
    alignas(64) std::atomic<std::uint64_t> consumed_{0}; // tickets whose item the consumer is done with
    alignas(64) std::atomic<bool> armed_{false};         // the consumer sleeps
    std::atomic<std::uint64_t> limit_{open};             // tickets from here on are refused
    std::atomic<std::size_t> live_{0};
    std::unique_ptr<slot[]> slots_;
    patient_waiter room_;
    std::mutex wake_mutex_;
    loop* loop_ = nullptr; // under wake_mutex_

    alignas(64) std::uint64_t taken_here_ = 0; // consumer's thread only, as are the rest
    std::uint64_t limit_here_ = open;
    std::function<void()> look_;
    std::optional<loop::external_work> outside_;
};

/// One remote producer's private side: credit in blocks of half the budget, as in merge_core.
template <class T>
class remote_lane {
public:
    remote_lane() noexcept = default;
    remote_lane(std::shared_ptr<remote_inbox<T>> inbox, std::size_t budget)
        : inbox_(std::move(inbox)), budget_(budget == 0 ? std::numeric_limits<std::size_t>::max() : budget) {
        inbox_->enter();
        open_block(budget_ - budget_ / 2);
    }
    remote_lane(remote_lane&& other) noexcept = default;
    remote_lane& operator=(remote_lane&& other) noexcept = default;

    bool send(T&& item) {
        if (inbox_ == nullptr) return false;
        if (credit_ == 0 && !refill()) {
            inbox_->wait([this] { return inbox_->is_closed() || refill(); });
            if (inbox_->is_closed()) return false;
        }
        const auto ticket = inbox_->take_ticket(known_room_);
        if (!ticket) return false;
        put(*ticket, std::move(item));
        return true;
    }
    bool try_send(T&& item) {
        if (inbox_ == nullptr || (credit_ == 0 && !refill())) return false;
        const auto ticket = inbox_->try_take_ticket();
        if (!ticket) return false;
        put(*ticket, std::move(item));
        return true;
    }
    void finish() noexcept {
        if (inbox_ == nullptr) return;
        inbox_->leave();
        inbox_.reset();
    }
    [[nodiscard]] bool is_closed() const noexcept { return inbox_ == nullptr || inbox_->is_closed(); }

private:
    void put(std::uint64_t ticket, T&& item) {
        --credit_;
        block_end_ = ticket + 1;
        inbox_->publish(ticket, std::move(item));
    }
    [[nodiscard]] bool refill() noexcept {
        const std::uint64_t consumed = inbox_->consumed();
        if (consumed >= block_end_) {
            open_block(budget_ - budget_ / 2);
        } else if (budget_ > block_ && consumed >= earlier_end_) {
            open_block(budget_ - block_);
        }
        return credit_ != 0;
    }
    void open_block(std::size_t size) noexcept {
        earlier_end_ = block_end_;
        block_ = credit_ = size;
    }

    std::shared_ptr<remote_inbox<T>> inbox_;
    std::size_t budget_ = 0;
    std::size_t credit_ = 0;
    std::size_t block_ = 0;
    std::uint64_t block_end_ = 0;
    std::uint64_t earlier_end_ = 0;
    std::uint64_t known_room_ = 0;
};

} // namespace thalweg::detail
