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
    /// Sends if there is credit in the current block.
    [[nodiscard]] bool try_push(T& item) {
        if (credit != 0) [[likely]] {
            --credit;
            core->push(std::move(item));
            return true;
        }
        return false;
    }
    bool post(T&& item) {
        if (core->is_closed()) return false;
        core->push(std::move(item));
        return true;
    }

    merge_core<T>* core = nullptr;
    std::size_t credit = 0;                      // items left in the current block
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
        head_ = tail_ = head_segment_->begin();
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

    void push(T&& item) {
        if (inbox_ != nullptr) [[unlikely]]
            splice();
        place(std::move(item));
        if (parked_ != nullptr) wake_consumer();
    }

    // Consumer
    // ----------------------------------------------------------------------------------------------------

    /// Something to take that is in the queue already? Gives back what was taken before, segments included.
    [[nodiscard]] bool available_here() noexcept {
        if (head_ != tail_) [[likely]] {
            if (head_ != head_end_) [[likely]]
                return true;
            leave_segment();
            return true;
        }
        start_anew();
        return false;
    }
    /// The same after a look at what other threads have brought. Once per turn of the consumer only, or they
    /// could keep it from ever letting others run.
    [[nodiscard]] bool available() {
        if (available_here()) return true;
        if (inbox_ != nullptr) splice();
        return head_ != tail_;
    }
    [[nodiscard]] T& front() noexcept { return *head_; }
    void pop() noexcept {
        head_->~T();
        ++head_;
    }
    [[nodiscard]] std::span<T> contiguous() noexcept {
        T* last = head_segment_ == tail_segment_ ? tail_ : head_end_;
        return {head_, static_cast<std::size_t>(last - head_)};
    }
    void pop(std::size_t count) noexcept {
        for (; count > 0; --count)
            pop();
    }
    /// Items handed out in place and not yet given back.
    std::size_t lent = 0;

    [[nodiscard]] bool ended() const noexcept {
        if (live_ != 0 && !closed_) return false;
        if (inbox_ == nullptr) return true;
        return closed_ ? inbox_->is_drained() : inbox_->producers() == 0 && !inbox_->has_items();
    }
    void park(ready_node& consumer, loop& on) {
        parked_ = &consumer;
        parked_on_ = &on;
        look();
    }
    void unpark(const ready_node& consumer) noexcept {
        if (parked_ == &consumer) parked_ = nullptr;
        if (inbox_ != nullptr) inbox_->disarm();
    }

    /// Wakes a parked consumer if there is something to take or nothing more to wait for.
    void look() {
        if (parked_ == nullptr) return;
        const bool go_on = head_ != tail_ || ended() ||
                           (inbox_ != nullptr &&
                            (inbox_->has_items() || inbox_->arm(*parked_on_) || ended()));
        if (go_on) wake_consumer();
    }
    void wake_consumer() noexcept { parked_on_->schedule(*std::exchange(parked_, nullptr)); }

    // Both
    // --------------------------------------------------------------------------------------------------------

    [[nodiscard]] std::shared_ptr<remote_inbox<T>> inbox() {
        if (inbox_ == nullptr) {
            inbox_owner_ = std::make_shared<remote_inbox<T>>([this] { look(); });
            inbox_ = inbox_owner_.get();
            if (closed_) inbox_->close();
        }
        return inbox_owner_;
    }
    [[nodiscard]] std::size_t producers() const noexcept {
        return live_ + (inbox_ != nullptr ? inbox_->producers() : 0);
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
        while (available_here())
            pop(); // now, not with the last producer: an item may own one
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
        s.credit = size;
        s.block_segment = nullptr;
    }
    /// The block of `s` is used up; its last item is the last one that `s` pushed, which lies at or before
    /// the tail.
    void note_block_end(source& s) noexcept {
        if (s.block_segment != nullptr) return; // noted before
        s.block_end = tail_segment_->position(tail_);
        s.block_segment = tail_segment_;
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
        head_ = head_segment_->begin();
        head_end_ = head_segment_->end();
        settle(*done);
        if (spares_ < merge_segments_kept) {
            done->next = std::exchange(spare_, done);
            ++spares_;
        } else {
            delete done;
        }
    }

    /// The queue is empty: start the segment anew, so that a slow stream stays in the same cache lines.
    void start_anew() noexcept {
        if (head_ != head_segment_->begin()) {
            head_segment_->base += static_cast<std::uint64_t>(head_ - head_segment_->begin());
            head_ = tail_ = head_segment_->begin();
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

    /// Takes over what other threads have sent up to now.
    void splice() {
        inbox_->drain([this](T&& item, std::uint64_t ticket) {
            place(std::move(item));
            tail_segment_->remote_through = ticket + 1;
        });
    }

    T* head_ = nullptr;     // next to take
    T* head_end_ = nullptr; // end of the head segment
    T* tail_ = nullptr;     // next to fill
    T* tail_end_ = nullptr;
    remote_inbox<T>* inbox_ = nullptr;
    ready_node* parked_ = nullptr; // the consumer, while it waits
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

// Awaiters
// -----------------------------------------------------------------------------------------------------------

template <class T>
class merge_send_awaiter {
public:
    merge_send_awaiter(merge_source<T>* source, T& item) noexcept : source_(source), item_(&item) {}
    merge_send_awaiter(const merge_send_awaiter&) = delete;
    ~merge_send_awaiter() {
        if (waiting_) source_->waiter.unlink();
    }

    [[nodiscard]] bool await_ready() {
        if (source_ == nullptr) return true;
        sent_ = source_->try_push(*item_);
        if (sent_) [[likely]]
            return true;
        return ready_after_refill();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        merge_waiter& waiter = source_->waiter;
        waiter.ready = &self.promise().ready;
        waiter.on = &self.promise().ctx->loop();
        waiting_ = true;
        if (source_->budget == 0) {
            source_->core->give_turn_credit(*source_);
            waiter.on->schedule(*waiter.ready);
        } else {
            source_->core->wait(*source_);
        }
    }
    bool await_resume() {
        if (!waiting_) return sent_;
        waiting_ = false;
        if (source_->core->is_closed()) return false;
        // Woken: the block waited for is consumed, so there is credit or a new block can be opened.
        if (source_->credit == 0) static_cast<void>(source_->core->refill(*source_));
        return source_->try_push(*item_);
    }

private:
    bool ready_after_refill() {
        if (source_->core->is_closed()) return true;
        if (!source_->core->refill(*source_)) return false;
        sent_ = source_->try_push(*item_);
        return true;
    }

    merge_source<T>* source_;
    T* item_;
    bool sent_ = false;
    bool waiting_ = false;
};

/// send() of something that is not to be moved from.
template <class T>
class merge_send_copy_awaiter {
public:
    merge_send_copy_awaiter(merge_source<T>* source, const T& item) : copy_(item), send_(source, copy_) {}
    merge_send_copy_awaiter(const merge_send_copy_awaiter&) = delete;

    [[nodiscard]] bool await_ready() { return send_.await_ready(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        send_.await_suspend(self);
    }
    bool await_resume() { return send_.await_resume(); }

private:
    T copy_;
    merge_send_awaiter<T> send_;
};

template <class T>
class merge_take_awaiter {
public:
    explicit merge_take_awaiter(merge_core<T>& core) noexcept : core_(core) {}
    merge_take_awaiter(const merge_take_awaiter&) = delete;
    ~merge_take_awaiter() {
        if (parked_ != nullptr) core_.unpark(*parked_);
    }

    [[nodiscard]] bool await_ready() {
        give_back();
        return core_.available_here() || core_.ended();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        parked_ = &self.promise().ready;
        core_.park(*parked_, self.promise().ctx->loop());
    }

protected:
    [[nodiscard]] bool has_item() {
        if (parked_ != nullptr) core_.unpark(*std::exchange(parked_, nullptr));
        return core_.available();
    }
    void give_back() noexcept {
        if (core_.lent != 0) core_.pop(std::exchange(core_.lent, 0));
    }

    merge_core<T>& core_;
    ready_node* parked_ = nullptr;
};

template <class T>
class merge_next_awaiter : public merge_take_awaiter<T> {
public:
    using merge_take_awaiter<T>::merge_take_awaiter;
    [[nodiscard]] std::optional<T> await_resume() {
        if (!this->has_item()) return std::nullopt;
        std::optional<T> taken(std::move(this->core_.front()));
        this->core_.pop();
        return taken;
    }
};

template <class T>
class merge_peek_awaiter : public merge_take_awaiter<T> {
public:
    using merge_take_awaiter<T>::merge_take_awaiter;
    [[nodiscard]] T* await_resume() {
        if (!this->has_item()) return nullptr;
        this->core_.lent = 1;
        return &this->core_.front();
    }
};

template <class T>
class merge_batch_awaiter : public merge_take_awaiter<T> {
public:
    using merge_take_awaiter<T>::merge_take_awaiter;
    [[nodiscard]] std::span<T> await_resume() {
        if (!this->has_item()) return {};
        const std::span<T> there = this->core_.contiguous();
        this->core_.lent = there.size();
        return there;
    }
};

} // namespace thalweg::detail
