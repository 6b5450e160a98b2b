// SPDX-License-Identifier: BSL-1.0

#pragma once

// A bounded queue between coroutines of one loop: any number of senders, one receiver. For the many-to-one
// case with a budget per producer and other threads, use merge.
//
// send() suspends while the channel is full, receive() while it is empty. close() refuses new items; those
// inside are still received. Nobody is resumed from inside a call of the other side: wake-ups go through the
// ready queue. Thread rule: loop thread. The channel outlives the calls that wait on it.

#include <thalweg/async/context.hpp>
#include <thalweg/async/loop.hpp>

#include <cassert>
#include <deque>
#include <optional>
#include <utility>

namespace thalweg {

template <class T>
class channel {
public:
    /// `capacity`: items that fit before a sender waits; at least 1.
    explicit channel(std::size_t capacity) : capacity_(capacity) { assert(capacity > 0); }
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;
    ~channel() { close(); }

    class send_awaiter;
    class receive_awaiter;

    /// Gives true once the item is inside, false when the channel was closed (the item is dropped then).
    /// Items keep the order of the send() calls. Suspends: while full. Cancel: a stop request does not end
    /// it; closing does.
    [[nodiscard]] send_awaiter send(T item) { return send_awaiter(*this, std::move(item)); }

    /// Puts the item in at once or gives it back by leaving it untouched; false when full or closed.
    [[nodiscard]] bool try_send(T&& item) {
        if (closed_ || items_.size() >= capacity_ || first_sender_ != nullptr) return false;
        put(std::move(item));
        return true;
    }

    /// The next item; empty once the channel is closed and drained, or when the receiver is asked to stop.
    [[nodiscard]] receive_awaiter receive() { return receive_awaiter(*this); }

    [[nodiscard]] std::optional<T> try_receive() {
        if (items_.empty()) return std::nullopt;
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        admit();
        return item;
    }

    /// No new items from now on. Waiting senders get false, a waiting receiver what is left, then the end.
    void close() noexcept {
        closed_ = true;
        while (first_sender_ != nullptr)
            leave_queue(*first_sender_)->wake();
        if (receiver_ != nullptr) receiver_->wake();
    }

    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

private:
    void put(T&& item) {
        items_.push_back(std::move(item));
        if (receiver_ != nullptr) receiver_->wake();
    }
    void admit() {
        while (first_sender_ != nullptr && items_.size() < capacity_) {
            send_awaiter* lucky = leave_queue(*first_sender_);
            lucky->accepted_ = true;
            put(std::move(lucky->item_));
            lucky->wake();
        }
    }
    send_awaiter* leave_queue(send_awaiter& who) noexcept {
        (who.previous_ != nullptr ? who.previous_->next_ : first_sender_) = who.next_;
        (who.next_ != nullptr ? who.next_->previous_ : last_sender_) = who.previous_;
        who.queued_ = false;
        return &who;
    }

    std::size_t capacity_;
    bool closed_ = false;
    std::deque<T> items_;
    send_awaiter* first_sender_ = nullptr;
    send_awaiter* last_sender_ = nullptr;
    receive_awaiter* receiver_ = nullptr;
};

template <class T>
class channel<T>::send_awaiter {
public:
    send_awaiter(channel& to, T&& item) : to_(to), item_(std::move(item)) {}
    send_awaiter(const send_awaiter&) = delete;
    ~send_awaiter() {
        if (queued_) to_.leave_queue(*this);
    }

    [[nodiscard]] bool await_ready() {
        accepted_ = to_.try_send(std::move(item_));
        return accepted_ || to_.closed_;
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
        loop_ = &self.promise().ctx->loop();
        ready_ = &self.promise().ready;
        queued_ = true;
        previous_ = to_.last_sender_;
        (previous_ != nullptr ? previous_->next_ : to_.first_sender_) = this;
        to_.last_sender_ = this;
    }
    bool await_resume() const noexcept { return accepted_; }

private:
    friend channel;
    void wake() noexcept { loop_->schedule(*ready_); }

    channel& to_;
    T item_;
    bool accepted_ = false;
    bool queued_ = false;
    send_awaiter* next_ = nullptr;
    send_awaiter* previous_ = nullptr;
    loop* loop_ = nullptr;
    detail::ready_node* ready_ = nullptr;
};

template <class T>
class channel<T>::receive_awaiter {
public:
    explicit receive_awaiter(channel& from) noexcept : from_(from) {}
    receive_awaiter(const receive_awaiter&) = delete;
    ~receive_awaiter() {
        if (from_.receiver_ == this) from_.receiver_ = nullptr;
    }

    [[nodiscard]] bool await_ready() const noexcept { return !from_.items_.empty() || from_.closed_; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const context& ctx = *self.promise().ctx;
        if (ctx.stop_requested()) return false;
        assert(from_.receiver_ == nullptr && "a channel has one receiver");
        loop_ = &ctx.loop();
        ready_ = &self.promise().ready;
        from_.receiver_ = this;
        on_stop_.emplace(ctx.stop_token(), end_wait{this});
        return true;
    }
    [[nodiscard]] std::optional<T> await_resume() {
        on_stop_.reset();
        from_.receiver_ = nullptr;
        return from_.try_receive();
    }

private:
    friend channel;
    struct end_wait {
        receive_awaiter* waiting;
        void operator()() const noexcept { waiting->wake(); }
    };
    void wake() noexcept { loop_->schedule(*ready_); }

    channel& from_;
    loop* loop_ = nullptr;
    detail::ready_node* ready_ = nullptr;
    std::optional<std::stop_callback<end_wait>> on_stop_;
};

} // namespace thalweg
