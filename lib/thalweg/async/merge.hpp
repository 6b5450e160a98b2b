// SPDX-License-Identifier: BSL-1.0

#pragma once

// The merge point: N producers, one consumer, one totally ordered stream in arrival order.
//
//     merge<event> point;
//     scope work(co_await this_coroutine());                 // declared after the merge: it dies first
//     for (auto& source : sources) work.spawn(pump(source, point.attach({.budget = 64})));
//     while (auto e = co_await point.next()) handle(*e);
//
// What holds (H-05, R-ENG-12, R-ENG-13): every item is delivered once; items of one producer keep their
// order; between producers it is the order in which the items went in, across threads included (an item sent
// because of another one comes after it). An item goes in when send() is called, or, over budget, when the
// send() that waits is let in; waiting ones are let in in turn. A producer that always has items waits for
// its budget like any other and keeps nobody out. The stream ends when every producer has finished and
// nothing is left.
//
// Back-pressure: each producer has its own budget of items that were sent and not yet taken. Beyond it send()
// suspends until half of the budget is free again and the consumer has either taken all there is or the 64
// items among which the freed ones lie. A place is free when the consumer comes back for the next item, so a
// consumer that waits for its own producers outside of the merge waits in vain. A budget of 0 is no bound:
// such a producer only lets others run after each 64 items (on other threads: not even that).
//
// Closing: close(), or destroying the merge, makes every send() give false from then on, also those that
// wait; what a send() gave true for is still delivered after close(), and is destroyed with the merge. A
// producer finishes by finish() or by its destructor, so one that dies by an exception or with its coroutine
// ends cleanly.
//
// Thread rule: merge and local producers on one loop's thread; a remote producer on any one thread at a time.
// The merge outlives a suspended next(), peek() or next_batch().
// Cost: no allocation per item and no lock; segments of 64 items are recycled. A consumer that was woken runs
// after what is ready already, and drains what all of it has sent; but once a segment is full it runs next,
// so that a long queue does not leave the cache. From other threads the consumer takes 32 items at a time;
// when it has taken all, the loop waits some microseconds for more before it sleeps, if nothing else is
// ready.

#include <thalweg/async/detail/merge_awaiters.hpp>
#include <thalweg/async/detail/merge_core.hpp>
#include <thalweg/async/detail/remote_inbox.hpp>
#include <thalweg/async/detail/remote_lane.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace thalweg {

struct producer_options {
    std::size_t budget = 64; ///< items sent and not yet taken; 0 = unbounded
};

template <class T>
class merge {
    using core_type = detail::merge_core<T>;

public:
    class producer;
    class remote_producer;

    merge() : core_(new core_type) {}
    merge(const merge&) = delete;
    merge& operator=(const merge&) = delete;
    ~merge() { core_->abandon(); }

    /// A new producer on this thread. May be called at any time, also after the stream had ended: it goes on
    /// then.
    [[nodiscard]] producer attach(producer_options options = {}) {
        return producer(core_->attach(options.budget));
    }

    /// A new producer for one other thread at a time. The inbox for such producers is made on the first call.
    [[nodiscard]] remote_producer attach_remote(producer_options options = {}) {
        remote_producer made(core_->inbox(), options.budget);
        core_->look(); // a consumer that waits already must listen to the inbox, too
        return made;
    }

    /// The next item, moved out; empty once every producer has finished and nothing is left, so at once while
    /// none is attached. One consumer at a time. Suspends: while nothing is there, and for one turn of the
    /// ready queue when the rest came from other threads. Cancel: a stop request does not end it, the end of
    /// the producers does. May be destroyed while suspended; nothing is lost by that.
    [[nodiscard]] auto next() noexcept { return detail::merge_next_awaiter<T>(*core_); }

    /// The same in place, without a move: valid until the next call of next, peek or next_batch; nullptr at
    /// the end.
    [[nodiscard]] auto peek() noexcept { return detail::merge_peek_awaiter<T>(*core_); }

    /// All that is there and lies in one piece, at least one item; empty at the end. Valid until the next
    /// call of any of the three. Items may be moved from.
    [[nodiscard]] auto next_batch() noexcept { return detail::merge_batch_awaiter<T>(*core_); }

    /// Takes no more items: every send() gives false, what is inside is still delivered, then the stream
    /// ends.
    void close() noexcept { core_->close(); }

    /// Producers that have not finished, those of other threads included.
    [[nodiscard]] std::size_t producers() const noexcept { return core_->producers(); }

    /// How often another thread had to wake the loop for this merge, because it slept or was about to: once
    /// for a burst, not at all while items keep coming. A wake-up costs far more than an item.
    [[nodiscard]] std::uint64_t remote_wakes() const noexcept { return core_->remote_wakes(); }

private:
    detail::merge_ref<T> core_;
};

/// The sending end on the merge's own thread, for one coroutine at a time. Movable, not copyable; may outlive
/// the merge. Not to be moved, finished or destroyed while a send() of it is suspended, but with the
/// coroutine that is.
template <class T>
class merge<T>::producer {
public:
    producer() noexcept = default; ///< finished
    producer(producer&& other) noexcept : source_(std::exchange(other.source_, nullptr)) {}
    producer& operator=(producer&& other) noexcept {
        if (this != &other) {
            finish();
            source_ = std::exchange(other.source_, nullptr);
        }
        return *this;
    }
    ~producer() { finish(); }

    /// `co_await p.send(std::move(item))` gives true once the item is inside, false when the merge is closed
    /// or gone (the item is left untouched then). Suspends: over budget only. Cancel: a stop request does not
    /// end it, closing does. May be destroyed while suspended; the item has not been sent then. The item is
    /// moved once, straight into its place.
    [[nodiscard]] auto send(T&& item) { return detail::merge_send_awaiter<T>(source_, item); }
    [[nodiscard]] auto send(const T& item) { return detail::merge_emplace_awaiter<T>(source_, item); }

    /// The same for an item that is made from `args`, straight in its place: while there is budget it is
    /// never moved at all. The cheapest way; what `args` refer to lives until the call is over.
    template <class... Args>
    [[nodiscard, gnu::always_inline]] inline auto emplace(Args&&... args) {
        return detail::merge_emplace_awaiter<T>(source_, std::forward<Args>(args)...);
    }

    /// Puts an item in at once, whatever the budget: for the few that must not wait behind data (a request's
    /// last two messages). False when closed.
    bool post(T item) { return source_ != nullptr && source_->post(std::move(item)); }

    /// No more items from here. The stream ends when the last producer has finished.
    void finish() noexcept {
        if (source_ != nullptr) detail::merge_core<T>::detach(std::exchange(source_, nullptr));
    }
    [[nodiscard]] bool is_finished() const noexcept { return source_ == nullptr; }

private:
    friend merge;
    explicit producer(detail::merge_source<T>* source) noexcept : source_(source) {}

    detail::merge_source<T>* source_ = nullptr;
};

/// The sending end for another thread. Movable to the thread that uses it; may outlive the merge and its
/// loop.
template <class T>
class merge<T>::remote_producer {
public:
    remote_producer() noexcept = default;
    remote_producer(remote_producer&&) noexcept = default;
    remote_producer& operator=(remote_producer&& other) noexcept {
        if (this != &other) {
            finish();
            lane_ = std::move(other.lane_);
        }
        return *this;
    }
    ~remote_producer() { finish(); }

    /// Puts the item in; blocks this thread while the budget (or the inbox, 1024 items) is used up. False
    /// when the merge is closed or gone. Never on the merge's own thread: there it would wait for itself.
    bool send(T item) { return lane_.send(std::move(item)); }

    /// The same without blocking: false when it would have to wait, or closed; the item is left untouched
    /// then.
    [[nodiscard]] bool try_send(T&& item) { return lane_.try_send(std::move(item)); }

    void finish() noexcept { lane_.finish(); }
    [[nodiscard]] bool is_closed() const noexcept { return lane_.is_closed(); }

private:
    friend merge;
    remote_producer(std::shared_ptr<detail::remote_inbox<T>> inbox, std::size_t budget)
        : lane_(std::move(inbox), budget) {}

    detail::remote_lane<T> lane_;
};

} // namespace thalweg
