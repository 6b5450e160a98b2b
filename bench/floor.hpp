// SPDX-License-Identifier: BSL-1.0

#pragma once

// The floor: what a merge inside one thread costs when somebody writes it by hand for exactly this bench.
//
// It is the denominator of the merge table, so it is frozen: it changes only if it turns out to be wrong, and
// never together with the library. It uses nothing of the library and has no generality: no cancellation, no
// ownership of coroutines beyond the bench, no exceptions, no threads, a ready list of fixed size.
// What it keeps is the contract that is being priced: each producer is a coroutine that may have to wait, one
// consumer awaits every message, arrival order is total, and it ends after the last producer has ended.
//
// How it works: messages lie inline in segments of 64-byte slots that are recycled. A push wakes the parked
// consumer by putting it at the END of the ready list, so that whatever else is ready pushes first and one
// wake-up drains it all; once a segment is full the consumer comes to the front, so that the queue stays in
// the cache. When the queue runs empty it starts again at the first slot, so a slow stream touches the same
// cache lines. With a window, producers fill it in bursts: one that finds it full waits in a FIFO, and each
// time the consumer runs dry the head of that FIFO may go on. One thread.

#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace thalweg::bench::floor {

// A ring of coroutines. `capacity` bounds how many can wait at once.
class ready_list {
public:
    explicit ready_list(std::size_t capacity)
        : mask_(std::bit_ceil(capacity) - 1), ring_(std::make_unique<void*[]>(mask_ + 1)) {}

    bool empty() const noexcept { return head_ == tail_; }
    // Both give the place in the list.
    std::size_t push(std::coroutine_handle<> waiting) noexcept {
        ring_[tail_ & mask_] = waiting.address();
        return tail_++;
    }
    std::size_t push_front(std::coroutine_handle<> waiting) noexcept {
        ring_[--head_ & mask_] = waiting.address();
        return head_;
    }
    // Moves who stands at `place` to the front, and gives the new place.
    std::size_t hurry(std::size_t place) noexcept {
        if (place == head_) return place;
        void* waiting = std::exchange(ring_[place & mask_], std::noop_coroutine().address());
        return push_front(std::coroutine_handle<>::from_address(waiting));
    }
    std::coroutine_handle<> pop() noexcept {
        return std::coroutine_handle<>::from_address(ring_[head_++ & mask_]);
    }
    void run() {
        while (!empty())
            pop().resume();
    }

private:
    std::size_t mask_;
    std::unique_ptr<void*[]> ring_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

// A coroutine that starts suspended, on nobody's list, and is destroyed by this object.
class actor {
public:
    struct promise_type {
        actor get_return_object() noexcept {
            return actor(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };

    actor(actor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    actor(const actor&) = delete;
    ~actor() {
        if (handle_) handle_.destroy();
    }
    std::coroutine_handle<> handle() const noexcept { return handle_; }

private:
    explicit actor(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

// `co_await yield(list)`: let everything that is ready run first.
class yield {
public:
    explicit yield(ready_list& list) noexcept : list_(list) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) noexcept { list_.push(self); }
    void await_resume() const noexcept {}

private:
    ready_list& list_;
};

template <class Message>
class merge {
    struct segment {
        segment* next = nullptr;
        alignas(Message) std::byte slots[64 * sizeof(Message)];

        Message* begin() noexcept { return reinterpret_cast<Message*>(slots); }
        Message* end() noexcept { return begin() + 64; }
    };

    class room_awaiter;
    class next_awaiter;

public:
    // `bounded`: at most one segment of messages, 64, is queued; else the queue grows.
    merge(ready_list& ready, std::size_t producers, bool bounded)
        : ready_(ready),
          blocked_(producers),
          bounded_(bounded),
          producers_(producers),
          first_(new segment),
          last_(first_),
          head_(first_->begin()),
          seen_(head_),
          tail_(head_),
          tail_end_(first_->end()) {}

    merge(const merge&) = delete;
    ~merge() {
        while (look())
            pop();
        delete_all(first_);
        delete_all(spare_);
    }

    // Producer: `if (queue.full()) co_await queue.room();`, then `queue.emplace(...)` at once, which makes
    // the message in its slot. Full only when bounded.
    bool full() { return tail_ == tail_end_ && !make_room(); }
    room_awaiter room() noexcept { return room_awaiter(*this); }
    template <class... Args>
    void emplace(Args... args) noexcept {
        ::new (tail_) Message(args...);
        ++tail_;
        wake_consumer();
    }

    // Producer: its last act.
    void finish() noexcept {
        --producers_;
        if (head_ == tail_) wake_blocked();
        if (producers_ == 0) wake_consumer();
    }

    // Consumer: `while (Message* m = co_await queue.next())`, and `queue.pop()` when it is done with it.
    next_awaiter next() noexcept { return next_awaiter(*this); }
    void pop() noexcept {
        head_->~Message();
        ++head_;
    }

    std::uint64_t wakeups() const noexcept { return wakeups_; }

private:
    class room_awaiter {
    public:
        explicit room_awaiter(merge& queue) noexcept : queue_(queue) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> self) noexcept { queue_.blocked_.push(self); }
        void await_resume() const noexcept {}

    private:
        merge& queue_;
    };

    class next_awaiter {
    public:
        explicit next_awaiter(merge& queue) noexcept : queue_(queue) {}
        bool await_ready() noexcept {
            return queue_.head_ != queue_.seen_ || queue_.look() || queue_.producers_ == 0;
        }
        void await_suspend(std::coroutine_handle<> self) noexcept { queue_.park(self); }
        Message* await_resume() noexcept { return queue_.front(); }

    private:
        merge& queue_;
    };

    // The last segment is full.
    bool make_room() {
        if (bounded_) return false;
        last_->next = spare_ != nullptr ? std::exchange(spare_, spare_->next) : new segment;
        last_ = last_->next;
        last_->next = nullptr;
        tail_ = last_->begin();
        tail_end_ = last_->end();
        if (!consumer_) place_ = ready_.hurry(place_);
        return true;
    }

    // The consumer has used up what it had seen of the queue: is there more?
    bool look() noexcept {
        if (first_ != last_ && head_ == first_->end()) {
            segment* used = std::exchange(first_, first_->next);
            head_ = first_->begin();
            used->next = std::exchange(spare_, used);
        }
        seen_ = first_ != last_ ? first_->end() : tail_;
        return head_ != seen_;
    }

    // The queue is empty: start again at the first slot, and let one producer that waits fill it.
    void park(std::coroutine_handle<> self) noexcept {
        head_ = seen_ = tail_ = first_->begin();
        consumer_ = self;
        wake_blocked();
    }

    Message* front() noexcept { return head_ != seen_ || look() ? head_ : nullptr; }

    void wake_consumer() noexcept {
        if (!consumer_) return;
        ++wakeups_;
        place_ = ready_.push(std::exchange(consumer_, nullptr));
    }

    // Only while the queue is empty, and it runs next: nobody can take the room away before it is there.
    void wake_blocked() noexcept {
        if (!blocked_.empty()) ready_.push_front(blocked_.pop());
    }

    static void delete_all(segment* list) noexcept {
        while (list != nullptr)
            delete std::exchange(list, list->next);
    }

    ready_list& ready_;
    ready_list blocked_;
    bool bounded_;
    std::size_t producers_;
    segment* first_;
    segment* last_;
    segment* spare_ = nullptr;
    Message* head_;
    Message* seen_; // the consumer need not look at the producers' side before it gets here
    Message* tail_;
    Message* tail_end_;
    std::coroutine_handle<>
        consumer_; // while it is parked; else it stands in the ready list at place_, or runs
    std::size_t place_ = 0;
    std::uint64_t wakeups_ = 0;
};

} // namespace thalweg::bench::floor
