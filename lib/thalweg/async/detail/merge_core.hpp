// SPDX-License-Identifier: BSL-1.0

#pragma once

// The queue behind merge, for one thread: a chain of recycled segments, producers that count their own
// credit, and a consumer that is woken through the ready queue.
//
// Budgets cost nothing per item. A producer sends in blocks of half its budget and remembers where its blocks
// end in the queue; when a block is used up it looks whether the consumer has passed the end of the one
// before. If not, it waits in the segment where that end lies, and the consumer wakes it when it leaves that
// segment (or finds the queue empty). So at most two blocks of a producer are under way, and the consumer
// does no accounting at all.

#include <thalweg/async/context.hpp>
#include <thalweg/async/detail/remote_inbox.hpp>
#include <thalweg/async/loop.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace thalweg::detail {

template <class T>
class merge_core;
template <class T>
struct merge_source;

inline constexpr std::size_t merge_segment_items = 64;
inline constexpr std::size_t merge_segments_kept = 4;
/// What the consumer takes over from other threads at a time: few enough to stay in the first segment, and to
/// give producers with a budget of 64 credit before they have run dry.
inline constexpr std::size_t remote_batch_items = merge_segment_items / 2;

/// A suspended send(), chained in the segment whose consumption it waits for.
struct merge_waiter {
    merge_waiter* next = nullptr;
    merge_waiter* previous = nullptr;
    ready_node* ready = nullptr;
    loop* on = nullptr;
    [[nodiscard]] bool is_linked() const noexcept { return next != nullptr; }
    void unlink() noexcept {
        if (next == nullptr) return;
        next->previous = previous;
        previous->next = next;
        next = previous = nullptr;
    }
};

template <class T>
struct merge_segment {
    merge_segment() noexcept { waiters.next = waiters.previous = &waiters; }

    [[nodiscard]] T* begin() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }
    [[nodiscard]] T* end() noexcept { return begin() + merge_segment_items; }
    [[nodiscard]] std::uint64_t position(const T* slot) noexcept {
        return base + static_cast<std::uint64_t>(slot - begin());
    }

    merge_segment* next = nullptr;
    std::uint64_t base = 0;           // position in the stream of the first slot
    std::uint64_t remote_through = 0; // tickets of the inbox that lie here or before; 0 = none spliced here
    merge_waiter waiters;             // sentinel
    alignas(T) unsigned char storage[merge_segment_items * sizeof(T)];
};

/// One local producer. Owned by its handle; linked in the core so that close() reaches it.
template <class T>
struct merge_source {
    /// Takes one item off the current block, which a closed merge has taken away.
    [[nodiscard]] bool spend() noexcept {
        if (--credit >= 0) [[likely]]
            return true;
        credit = 0;
        return false;
    }
    [[nodiscard]] bool try_push(T& item) {
        if (!spend()) return false;
        core->emplace(std::move(item));
        return true;
    }
    bool post(T&& item) {
        if (core->is_closed()) return false;
        core->emplace(std::move(item));
        return true;
    }

    merge_core<T>* core = nullptr;
    std::ptrdiff_t credit = 0;                   // items left in the current block
    std::size_t budget = 0;                      // 0 = unbounded
    std::size_t block = 0;                       // size of the current block
    std::uint64_t block_end = 0;                 // position behind the current block's last item
    std::uint64_t earlier_end = 0;               // the same of the block before
    merge_segment<T>* earlier_segment = nullptr; // where earlier_end - 1 lies, while not consumed
    merge_segment<T>* block_segment = nullptr;
    merge_source* next = nullptr;
    merge_source* previous = nullptr;
    merge_waiter waiter;
};

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
        if (!closed_) open_block(*made, first_block(budget));
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
        note_block_end(s);
        if (consumed() >= s.block_end) {
            open_block(s, first_block(s.budget));
            return true;
        }
        const std::size_t rest = s.budget - s.block;
        if (rest == 0 || consumed() < s.earlier_end) return false;
        open_block(s, rest);
        return true;
    }

    /// Chains the waiter where it will be woken. Only after refill() was false on an open core.
    void wait(source& s) noexcept {
        assert(!s.waiter.is_linked() && "one send() of a producer at a time");
        const bool for_earlier = s.budget > s.block && consumed() < s.earlier_end;
        segment* where = for_earlier ? s.earlier_segment : s.block_segment;
        s.waiter.next = &where->waiters;
        s.waiter.previous = where->waiters.previous;
        where->waiters.previous->next = &s.waiter;
        where->waiters.previous = &s.waiter;
    }

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
        for (source* each = sources_; each != nullptr; each = each->next) {
            each->credit = 0;
            if (each->waiter.is_linked()) wake(each->waiter);
        }
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
    ~merge_core() {
        delete head_segment_;
        while (spare_ != nullptr)
            delete std::exchange(spare_, spare_->next);
    }

    static constexpr std::size_t first_block(std::size_t budget) noexcept {
        return budget == 0 ? merge_segment_items : (budget + 1) / 2;
    }

    /// Stream positions below this have been taken and given back.
    [[nodiscard]] std::uint64_t consumed() noexcept { return head_segment_->position(head_); }

    void open_block(source& s, std::size_t size) noexcept {
        s.earlier_end = s.block_end;
        s.earlier_segment = s.block_segment;
        s.block = size;
        s.credit = static_cast<std::ptrdiff_t>(size);
        s.block_segment = nullptr;
    }
    /// The block of `s` is used up; its last item is the last one that `s` pushed, which lies at or before
    /// the tail.
    void note_block_end(source& s) noexcept {
        if (s.block_segment != nullptr) return; // noted before
        s.block_end = tail_segment_->position(tail_);
        s.block_segment = tail_segment_;
    }

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
        segment* fresh = spare_;
        if (fresh != nullptr) {
            spare_ = fresh->next;
            --spares_;
            fresh->next = nullptr;
        } else {
            fresh = new segment;
        }
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
        if (spares_ < merge_segments_kept) {
            done->next = std::exchange(spare_, done);
            ++spares_;
        } else {
            delete done;
        }
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
        while (consumed_segment.waiters.next != &consumed_segment.waiters)
            wake(*consumed_segment.waiters.next);
        if (consumed_segment.remote_through != 0) {
            inbox_->publish_consumed(std::exchange(consumed_segment.remote_through, 0));
        }
    }
    static void wake(merge_waiter& waiter) noexcept {
        waiter.unlink();
        waiter.on->schedule(*waiter.ready);
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
    segment* spare_ = nullptr;
    std::size_t spares_ = 0;
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
