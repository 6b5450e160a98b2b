// SPDX-License-Identifier: BSL-1.0

#pragma once

// How other threads feed a merge: a ring of inline slots and one ticket counter. The ticket is the arrival
// order. A producer takes a ticket, fills the slot, publishes it; the consumer's thread moves what is
// published into the merge's own queue before anything local is added, so that cause stays before effect
// without time stamps.
//
// What costs here is not instructions but cache lines that change cores. So the consumer takes many items at
// a time and rests in between (loop, inlet), and counters that the other side reads are stored once per
// batch. A producer asks for the slots that come next before it needs them, or else each ticket, being a
// locked instruction, would have to wait until the slot before has reached the cache.
//
// Lock-free while there is room, credit and an awake consumer. A mutex is taken only to sleep, to wake a
// sleeper, or to wake the loop: once per batch. A producer that was stopped by the operating system between
// ticket and publication holds back those behind it; nothing but a move of one item happens there.
//
// The inbox is shared: the merge, its remote producers and a posted wake-up each keep it alive.

#include <thalweg/async/detail/inlet.hpp>
#include <thalweg/async/detail/waiting_room.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace thalweg::detail {

inline constexpr std::uint64_t remote_inbox_slots = 1024;

template <class T>
class remote_inbox final : public inlet {
public:
    /// `look` is called on the loop's thread when something came while the consumer was parked.
    explicit remote_inbox(std::function<void()> look)
        : slots_(std::make_unique<slot[]>(remote_inbox_slots)), look_(std::move(look)) {}
    remote_inbox(const remote_inbox&) = delete;
    ~remote_inbox() override { drop_items(); }

    // Consumer's thread
    // -------------------------------------------------------------------------------------------

    [[nodiscard]] bool has_items() const noexcept { return is_published(taken_here_); }

    /// Hands over at most `most` published items in ticket order, as `take(T&&, ticket)`.
    template <class Take>
    void drain(std::size_t most, Take take) {
        const std::uint64_t first = taken_here_;
        while (taken_here_ - first < most && has_items()) {
            slot& full = slot_of(taken_here_);
            take(std::move(*full.item()), taken_here_);
            full.item()->~T();
            ++taken_here_;
        }
        if (taken_here_ != first) {
            disarm();
            taken_.store(taken_here_, std::memory_order_release);
        }
        // Who waits for room is to find some; but who waits while nothing comes must not wait longer.
        if (taken_here_ - told_ >= plenty_of_room || (taken_here_ != told_ && !has_items())) tell_of_room();
    }
    /// Hands over all that was published before the call, also what lies behind a ticket whose owner has not
    /// come so far: something that is caused by it may be sent next. Waits for that owner then.
    template <class Take>
    void drain_all(Take take) {
        drain(remote_inbox_slots, take);
        for (int turn = 0; is_overtaken(); ++turn) {
            if (turn == 0) tell_of_room(); // it may be what the owner waits for
            if (turn < 100 && spinning_helps())
                cpu_pause();
            else
                std::this_thread::yield();
            drain(remote_inbox_slots, take);
        }
    }

    /// Items with tickets below `through` have been consumed: credit for their producers.
    void publish_consumed(std::uint64_t through) noexcept {
        consumed_.store(through, std::memory_order_release);
        credit_.notify();
    }

    /// The consumer has parked on `on`, after it had seen `known` producers and no items: `look` is called
    /// when that changes.
    void watch_for(std::size_t known, loop& on) {
        known_producers_ = known;
        watch(on);
    }
    using inlet::unwatch;

    /// Refuses every ticket from now on, and those that found no room yet. What has a ticket and room is
    /// published in a moment and still delivered: a send() that gave true has sent.
    void close() noexcept {
        const std::uint64_t first_refused = next_ticket_.fetch_or(closed_mark) & ~closed_mark;
        limit_here_ = std::min(first_refused, taken_here_ + remote_inbox_slots);
        limit_.store(limit_here_);
        room_.notify();
        credit_.notify();
    }
    /// After close(): all that was accepted has been handed over.
    [[nodiscard]] bool is_drained() const noexcept { return taken_here_ == limit_here_; }

    /// The merge is gone; wake-ups that are under way find nobody.
    void forget_consumer() noexcept {
        forget();
        look_ = nullptr;
        drop_items();
    }

    // Any thread
    // --------------------------------------------------------------------------------------------------

    [[nodiscard]] std::size_t producers() const noexcept { return live_.load(); }
    [[nodiscard]] bool is_closed() const noexcept { return limit_.load() != open; }
    [[nodiscard]] std::uint64_t consumed() const noexcept {
        return consumed_.load(std::memory_order_acquire);
    }

    void enter() noexcept { live_.fetch_add(1); }
    void leave() noexcept {
        live_.fetch_sub(1);
        wake_if_armed();
    }

    /// The next ticket, once there is room for it. Empty when closed.
    [[nodiscard]] std::optional<std::uint64_t> take_ticket(std::uint64_t& known_room) {
        const std::uint64_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
        fetch_for_writing(slot_of(ticket + slots_fetched_ahead));
        if (ticket < known_room) [[likely]]
            return ticket;
        return wait_for_room(ticket, known_room);
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
        mine.turn.store(ticket + 1, std::memory_order_release);
        wake_if_armed();
    }
    /// Until `come_true`, which consumed() or is_closed() bring about.
    template <class Condition>
    void wait_for_credit(Condition come_true) {
        credit_.wait(come_true, come_true);
    }

private:
    static constexpr std::uint64_t closed_mark = std::uint64_t{1}
                                                 << 63; // in next_ticket_: greater than any ticket
    static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint64_t plenty_of_room = remote_inbox_slots / 4;
    static constexpr std::uint64_t slots_fetched_ahead = 8;

    struct alignas(64) slot {
        std::atomic<std::uint64_t> turn{0}; // ticket + 1 once the item is there
        alignas(T) unsigned char storage[sizeof(T)];
        [[nodiscard]] T* item() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
    };
    [[nodiscard]] slot& slot_of(std::uint64_t ticket) const noexcept {
        return slots_[ticket % remote_inbox_slots];
    }
    /// For a ticket that may have no room yet. Empty when closed.
    [[gnu::noinline]] std::optional<std::uint64_t> wait_for_room(std::uint64_t ticket,
                                                                 std::uint64_t& known_room) {
        if (ticket >= closed_mark) return std::nullopt;
        if (!has_room(ticket)) {
            room_.wait([&] { return has_room(ticket + plenty_of_room - 1) || ticket >= limit_.load(); },
                       [&] { return has_room(ticket) || ticket >= limit_.load(); });
        }
        // close() leaves those in who had room before it: see there.
        if (ticket >= limit_.load()) return std::nullopt;
        known_room = taken_.load(std::memory_order_acquire) + remote_inbox_slots;
        return ticket;
    }
    static void fetch_for_writing(const slot& what) noexcept {
        const auto* const first = reinterpret_cast<const char*>(&what);
        for (std::size_t at = 0; at < std::min(sizeof(slot), std::size_t{256}); at += 64)
            cpu_fetch_for_writing(first + at);
    }
    [[nodiscard]] bool is_published(std::uint64_t ticket) const noexcept {
        return slot_of(ticket).turn.load(std::memory_order_acquire) == ticket + 1;
    }
    [[nodiscard]] bool has_room(std::uint64_t ticket) const noexcept {
        return ticket < taken_.load(std::memory_order_acquire) + remote_inbox_slots;
    }

    /// The next ticket is missing and has later ones behind it. Not more are missing in a row than there are
    /// producers.
    [[nodiscard]] bool is_overtaken() const noexcept {
        const std::uint64_t most_missing = std::min<std::uint64_t>(producers(), remote_inbox_slots - 1);
        for (std::uint64_t ticket = taken_here_ + 1; ticket <= taken_here_ + most_missing; ++ticket)
            if (is_published(ticket)) return true;
        return false;
    }

    void tell_of_room() noexcept {
        told_ = taken_here_;
        room_.notify();
    }
    void drop_items() noexcept {
        drain(std::numeric_limits<std::size_t>::max(), [](T&&, std::uint64_t) {});
    }

    [[nodiscard]] bool has_something() const noexcept override {
        return has_items() || live_.load(std::memory_order_relaxed) != known_producers_;
    }
    [[nodiscard]] bool is_fed() const noexcept override { return producers() != 0; }
    void came() override {
        if (look_) look_();
    }

    // What is seldom written (beside armed_), the producers' line, the consumer's lines: apart from each
    // other.
    std::atomic<std::uint64_t> limit_{open}; // tickets from here on are refused
    std::atomic<std::size_t> live_{0};
    const std::unique_ptr<slot[]> slots_;
    alignas(64) std::atomic<std::uint64_t> next_ticket_{0};
    alignas(64) std::atomic<std::uint64_t> taken_{0};    // tickets whose slot is free again
    alignas(64) std::atomic<std::uint64_t> consumed_{0}; // tickets whose item the consumer is done with
    alignas(64) waiting_room room_{fence_};
    waiting_room credit_{fence_};

    alignas(64) std::uint64_t taken_here_ = 0; // consumer's thread only, as are the rest
    std::uint64_t told_ = 0;                   // what those who wait for room know of taken_
    std::uint64_t limit_here_ = open;
    std::size_t known_producers_ = 0;
    std::function<void()> look_;
};

} // namespace thalweg::detail
