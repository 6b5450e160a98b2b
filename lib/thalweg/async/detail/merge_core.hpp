// SPDX-License-Identifier: BSL-1.0

#pragma once

// The queue behind merge, for one thread: a chain of recycled segments (merge_segment), producers that count
// their own credit (merge_source), and a consumer that is woken through the ready queue.

#include <thalweg/async/context.hpp>
#include <thalweg/async/detail/merge_segment.hpp>
#include <thalweg/async/detail/merge_source.hpp>
#include <thalweg/async/detail/remote_inbox.hpp>
#include <thalweg/async/loop.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace thalweg::detail {

/// What the consumer takes over from other threads at a time: few enough to stay in the first segment, and to
/// give producers with a budget of 64 credit before they have run dry.
inline constexpr std::size_t remote_batch_items = merge_segment_items / 2;

template <class T>
class merge_core {
public:
    using segment = merge_segment<T>;
    using source = merge_source<T>;

    merge_core() : head_segment_(new segment), tail_segment_(head_segment_) {
        head_ = lent_ = seen_ = tail_ = tail_limit_ = head_segment_->begin();
        tail_end_ = head_end_ = head_segment_->end();
    }
    merge_core(const merge_core&) = delete;

    // Producers
    // ---------------------------------------------------------------------------------------------------

    [[nodiscard]] source* attach(std::size_t budget) {
        auto* made = new source;
        made->core = this;
        made->budget = budget;
        made->next = sources_;
        if (sources_ != nullptr) sources_->previous = made;
        sources_ = made;
        ++references_;
        ++live_;
        if (!closed_) made->open_first_block();
        return made;
    }

    static void detach(source* gone) noexcept {
        merge_core* core = gone->core;
        assert(!gone->waiter.is_linked() &&
               "a producer was finished or destroyed while a send() of it waits");
        (gone->previous != nullptr ? gone->previous->next : core->sources_) = gone->next;
        if (gone->next != nullptr) gone->next->previous = gone->previous;
        delete gone;
        --core->live_;
        core->look();
        core->release();
    }

    /// The way of a send() without credit: true when a new block could be opened.
    [[nodiscard]] bool refill(source& s) noexcept {
        if (closed_) return false;
        if (s.budget == 0) return false; // goes through the ready queue once, see merge_send_awaiter
        return s.open_next_block(tail_segment_, tail_, consumed());
    }
    /// Only after refill() was false on an open core.
    void wait(source& s) noexcept { s.wait(consumed()); }

    void give_turn_credit(source& s) noexcept { s.credit = merge_segment_items; }

    /// One comparison stands for all that a push seldom has to look at.
    template <class... Args>
    [[gnu::always_inline]] inline void emplace(Args&&... args) {
        if (tail_ == tail_limit_) [[unlikely]] {
            emplace_at_limit(std::forward<Args>(args)...);
        } else {
            ::new (static_cast<void*>(tail_)) T(std::forward<Args>(args)...);
            ++tail_;
        }
    }

    // Consumer
    // ----------------------------------------------------------------------------------------------------

    /// Takes back what was handed out before, and hands out the next item in place; nullptr if a closer look
    /// is needed.
    [[nodiscard, gnu::always_inline]] inline T* take() noexcept {
        T* const gone = head_;
        T* const next = lent_;
        if (gone != next) {
            head_ = gone + 1; // first, because a destructor may come back to this merge
            gone->~T();
            if (gone + 1 != next) [[unlikely]]
                take_back();
        }
        if (next == seen_) [[unlikely]]
            return nullptr;
        lent_ = next + 1;
        return next;
    }
    /// The closer look, after a take() that gave nothing. Leaves segments that are used up.
    [[nodiscard]] T* take_here() noexcept {
        if (head_segment_ != tail_segment_) {
            if (head_ == head_end_) leave_segment();
        } else if (head_ == tail_) {
            start_anew();
            return nullptr;
        }
        seen_ = head_segment_ == tail_segment_ ? tail_ : head_end_;
        lent_ = head_ + 1;
        return head_;
    }
    /// The same after a look at what other threads have brought. Once per turn of the consumer only, or they
    /// could keep it from ever letting others run.
    [[nodiscard]] T* take_anywhere() {
        if (T* const item = take_here()) return item;
        if (inbox_ == nullptr) return nullptr;
        splice_batch();
        return head_ != tail_ ? take_here() : nullptr;
    }
    /// Hands out, behind `first`, which was just taken, all that lies in one piece with it.
    [[nodiscard]] std::span<T> take_rest(T* first) noexcept {
        lent_ = seen_ = head_segment_ == tail_segment_ ? tail_ : head_end_;
        return {first, static_cast<std::size_t>(lent_ - first)};
    }

    [[nodiscard]] bool ended() const noexcept {
        if (live_ != 0 && !closed_) return false;
        if (inbox_ == nullptr) return true;
        return closed_ ? inbox_->is_drained() : inbox_->producers() == 0 && !inbox_->has_items();
    }
    /// Only right after take_here() gave nothing and ended() was false.
    void park(ready_node& consumer, loop& on) {
        tail_limit_ = tail_; // the next push is to wake it
        parked_ = suspended_ = &consumer;
        parked_on_ = &on;
        if (inbox_ != nullptr) [[unlikely]]
            look();
    }
    void unpark() noexcept {
        parked_ = suspended_ = nullptr;
        if (inbox_ != nullptr) [[unlikely]]
            inbox_->unwatch();
    }

    /// Wakes a parked consumer if there is something to take or nothing more to wait for.
    [[gnu::noinline]] void look() {
        if (parked_ == nullptr) return;
        const std::size_t remotes = inbox_ != nullptr ? inbox_->producers() : 0;
        if (head_ != tail_ || ended() || (inbox_ != nullptr && inbox_->has_items()))
            wake_consumer();
        else if (inbox_ != nullptr)
            inbox_->watch_for(remotes, *parked_on_);
    }
    void wake_consumer() noexcept { parked_on_->schedule_running(*std::exchange(parked_, nullptr)); }

    // Both
    // --------------------------------------------------------------------------------------------------------

    [[nodiscard]] std::shared_ptr<remote_inbox<T>> inbox() {
        if (inbox_ == nullptr) {
            inbox_owner_ = std::make_shared<remote_inbox<T>>([this] { look(); });
            inbox_ = inbox_owner_.get();
            tail_limit_ = tail_; // from now on each push looks into it first
            if (closed_) inbox_->close();
        }
        return inbox_owner_;
    }
    [[nodiscard]] std::size_t producers() const noexcept {
        return live_ + (inbox_ != nullptr ? inbox_->producers() : 0);
    }
    [[nodiscard]] std::uint64_t remote_wakes() const noexcept {
        return inbox_ != nullptr ? inbox_->wakes() : 0;
    }
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }

    void close() noexcept {
        if (closed_) return;
        closed_ = true;
        if (inbox_ != nullptr) inbox_->close();
        for (source* each = sources_; each != nullptr; each = each->next)
            each->close();
        look();
    }

    /// The merge is destroyed: nothing will be taken any more.
    void abandon() noexcept {
        assert(parked_ == nullptr && "a merge outlives who waits in its next()");
        close();
        if (inbox_ != nullptr) inbox_->forget_consumer();
        while (take() != nullptr || take_here() != nullptr) {} // now: an item may own the last producer
    }
    void release() noexcept {
        if (--references_ == 0) delete this;
    }

private:
    ~merge_core() { delete head_segment_; }

    /// Stream positions below this have been taken and given back.
    [[nodiscard]] std::uint64_t consumed() noexcept { return head_segment_->position(head_); }

    /// A push with the tail at its limit: at the end of the segment, before a consumer that sleeps, or always
    /// when other threads may have sent something before it. A constructor that throws leaves everything as
    /// it was.
    template <class... Args>
    [[gnu::noinline]] void emplace_at_limit(Args&&... args) {
        if (inbox_ != nullptr) splice();
        if (tail_ == tail_end_) {
            add_segment();
            if (parked_ == nullptr && suspended_ != nullptr) parked_on_->schedule_next(*suspended_);
        }
        ::new (static_cast<void*>(tail_)) T(std::forward<Args>(args)...);
        ++tail_;
        if (parked_ != nullptr) wake_consumer();
        if (inbox_ == nullptr) [[likely]]
            tail_limit_ = tail_end_;
        else
            tail_limit_ = tail_;
    }
    void place(T&& item) {
        if (tail_ == tail_end_) [[unlikely]]
            add_segment();
        ::new (static_cast<void*>(tail_)) T(std::move(item));
        ++tail_;
    }

    void add_segment() {
        segment* fresh = spares_.take();
        fresh->base = tail_segment_->base + merge_segment_items;
        tail_segment_->next = fresh;
        tail_segment_ = fresh;
        tail_ = fresh->begin();
        tail_end_ = fresh->end();
    }

    /// All of the head segment is consumed and there is a next one.
    void leave_segment() noexcept {
        segment* done = head_segment_;
        head_segment_ = done->next;
        head_ = lent_ = head_segment_->begin();
        head_end_ = head_segment_->end();
        settle(*done);
        spares_.give(done);
    }

    [[gnu::noinline]] void take_back() noexcept {
        while (head_ != lent_) {
            T* const gone = head_++;
            gone->~T();
        }
    }

    /// The queue is empty: start the segment anew, so that a slow stream stays in the same cache lines.
    void start_anew() noexcept {
        if (head_ != head_segment_->begin()) {
            head_segment_->base += static_cast<std::uint64_t>(head_ - head_segment_->begin());
            head_ = lent_ = seen_ = tail_ = tail_limit_ = head_segment_->begin();
        }
        settle(*head_segment_);
    }

    /// What waited for this segment to be consumed may go on.
    void settle(segment& consumed_segment) noexcept {
        consumed_segment.wake_waiters();
        if (consumed_segment.remote_through != 0) {
            inbox_->publish_consumed(std::exchange(consumed_segment.remote_through, 0));
        }
    }

    // Out of line, all that has to do with other threads: what g++ inlines elsewhere depends on how much code
    // there is.

    /// Takes over all that other threads have sent up to now.
    [[gnu::noinline]] void splice() {
        inbox_->drain_all(splicer());
        tail_limit_ = tail_;
    }
    /// Takes over some of it, in order.
    [[gnu::noinline]] void splice_batch() {
        inbox_->drain(remote_batch_items, splicer());
        tail_limit_ = tail_;
    }
    [[nodiscard]] auto splicer() noexcept {
        return [this](T&& item, std::uint64_t ticket) {
            place(std::move(item));
            tail_segment_->remote_through = ticket + 1;
        };
    }

    T* head_ = nullptr;       // items before this one are given back
    T* lent_ = nullptr;       // items before this one are taken: in the hands of the consumer, or given back
    T* seen_ = nullptr;       // the consumer need not look at anything else before it gets here
    T* tail_ = nullptr;       // next to fill
    T* tail_limit_ = nullptr; // not before tail_; a push that finds the tail here has to look around
    T* tail_end_ = nullptr;   // end of the tail segment
    T* head_end_ = nullptr;   // end of the head segment
    remote_inbox<T>* inbox_ = nullptr;
    ready_node* parked_ = nullptr;    // the consumer, while it waits and has not been woken
    ready_node* suspended_ = nullptr; // the consumer, from when it waits until it runs again
    loop* parked_on_ = nullptr;
    std::size_t live_ = 0;
    bool closed_ = false;
    segment* head_segment_;
    segment* tail_segment_;
    merge_spares<T> spares_;
    std::size_t references_ = 1; // the merge and its local producers
    source* sources_ = nullptr;
    std::shared_ptr<remote_inbox<T>> inbox_owner_;
};

/// The merge's own reference to its core.
template <class T>
class merge_ref {
public:
    explicit merge_ref(merge_core<T>* core) noexcept : core_(core) {}
    merge_ref(const merge_ref&) = delete;
    ~merge_ref() { core_->release(); }
    merge_core<T>* operator->() const noexcept { return core_; }
    merge_core<T>& operator*() const noexcept { return *core_; }

private:
    merge_core<T>* core_;
};

} // namespace thalweg::detail
