// SPDX-License-Identifier: BSL-1.0

#pragma once

// The calls of merge and its producers as awaiters: send, emplace, next, peek and next_batch.
//
// What can be settled at once is settled when the call is made, before the coroutine machinery begins: the
// usual case costs no suspension and sets one member.

#include <thalweg/async/context.hpp>
#include <thalweg/async/detail/merge_core.hpp>
#include <thalweg/async/loop.hpp>

#include <coroutine>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace thalweg::detail {

/// What the ways of sending have in common. The usual case, there is credit, is settled by the constructor of
/// the derived class before anything is awaited, and then nothing but `state_` is set.
template <class T>
class merge_push_awaiter {
public:
    merge_push_awaiter(const merge_push_awaiter&) = delete;

    [[nodiscard, gnu::always_inline]] inline bool await_ready() {
        return state_ == state::sent_at_once || send_without_waiting();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        suspend(self.promise().ready, self.promise().ctx->loop());
    }
    [[gnu::always_inline]] inline bool await_resume() {
        return state_ == state::sent_at_once || sent_in_the_end();
    }

protected:
    merge_push_awaiter() = default;
    [[gnu::always_inline]] inline ~merge_push_awaiter() {
        if (state_ == state::waiting) [[unlikely]]
            source_->waiter.unlink();
    }
    [[nodiscard]] static bool has_credit(merge_source<T>* source) noexcept {
        return source != nullptr && source->spend();
    }
    void sent_at_once() noexcept { state_ = state::sent_at_once; }
    [[nodiscard]] bool was_sent_at_once() const noexcept { return state_ == state::sent_at_once; }
    /// `item` stays where it is until this awaiter is gone.
    void send_later(merge_source<T>* source, T& item) noexcept {
        state_ = state::refused;
        source_ = source;
        item_ = &item;
    }

private:
    enum class state : unsigned char { sent_at_once, sent, refused, waiting };

    [[gnu::noinline]] bool send_without_waiting() {
        if (source_ == nullptr || source_->core->is_closed()) return true;
        if (!source_->core->refill(*source_)) return false;
        static_cast<void>(source_->try_push(*item_));
        state_ = state::sent;
        return true;
    }
    [[gnu::noinline]] void suspend(ready_node& ready, loop& on) noexcept {
        merge_waiter& waiter = source_->waiter;
        waiter.ready = &ready;
        waiter.on = &on;
        state_ = state::waiting;
        if (source_->budget == 0) {
            source_->core->give_turn_credit(*source_);
            on.schedule(ready);
        } else {
            source_->core->wait(*source_);
        }
    }
    [[gnu::noinline]] bool sent_in_the_end() {
        if (state_ != state::waiting) return state_ == state::sent;
        state_ = state::refused;
        if (source_->core->is_closed()) return false;
        // Woken: the block waited for is consumed, so there is credit or a new block can be opened.
        if (source_->credit == 0) static_cast<void>(source_->core->refill(*source_));
        return source_->try_push(*item_);
    }

    merge_source<T>* source_; // these two are set only if there was no credit at first
    T* item_;
    state state_;
};

/// Moves an item of the caller's.
template <class T>
class merge_send_awaiter : public merge_push_awaiter<T> {
public:
    [[gnu::always_inline]] inline merge_send_awaiter(merge_source<T>* source, T& item) {
        if (this->has_credit(source)) [[likely]] {
            source->core->emplace(std::move(item));
            this->sent_at_once();
        } else {
            this->send_later(source, item);
        }
    }
};

/// Makes the item in its place, or keeps it until there is one.
template <class T>
class merge_emplace_awaiter : public merge_push_awaiter<T> {
public:
    template <class... Args>
    [[gnu::always_inline]] inline explicit merge_emplace_awaiter(merge_source<T>* source, Args&&... args) {
        if (this->has_credit(source)) [[likely]] {
            source->core->emplace(std::forward<Args>(args)...);
            this->sent_at_once();
        } else {
            ::new (static_cast<void*>(kept_)) T(std::forward<Args>(args)...);
            this->send_later(source, kept());
        }
    }
    [[gnu::always_inline]] inline ~merge_emplace_awaiter() {
        if (!this->was_sent_at_once()) [[unlikely]]
            kept().~T();
    }

private:
    [[nodiscard]] T& kept() noexcept { return *std::launder(reinterpret_cast<T*>(kept_)); }

    alignas(T) unsigned char kept_[sizeof(T)];
};

/// What the three ways of taking have in common. The usual case, something is there, is settled in the
/// constructor, and then nothing but `item_` is set.
template <class T>
class merge_take_awaiter {
public:
    [[gnu::always_inline]] inline explicit merge_take_awaiter(merge_core<T>& core) : item_(core.take()) {
        if (item_ != nullptr) [[likely]]
            return;
        core_ = &core;
        waiting_ = false;
    }
    merge_take_awaiter(const merge_take_awaiter&) = delete;
    [[gnu::always_inline]] inline ~merge_take_awaiter() {
        if (item_ == nullptr && waiting_) [[unlikely]]
            core_->unpark();
    }

    [[nodiscard, gnu::always_inline]] inline bool await_ready() {
        return item_ != nullptr || found_or_ended();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        waiting_ = true;
        core_->park(self.promise().ready, self.promise().ctx->loop());
    }

protected:
    /// The item, or nullptr at the end.
    [[nodiscard, gnu::always_inline]] inline T* taken() {
        return item_ != nullptr ? item_ : taken_in_the_end();
    }

private:
    [[nodiscard, gnu::noinline]] bool found_or_ended() {
        item_ = core_->take_here();
        return item_ != nullptr || core_->ended();
    }
    [[nodiscard, gnu::noinline]] T* taken_in_the_end() {
        if (!std::exchange(waiting_, false)) return nullptr;
        core_->unpark();
        return item_ = core_->take_anywhere();
    }

    T* item_;
    merge_core<T>* core_; // these two are set only if there was nothing at first
    bool waiting_;
};

template <class T>
class merge_next_awaiter : public merge_take_awaiter<T> {
public:
    using merge_take_awaiter<T>::merge_take_awaiter;
    [[nodiscard, gnu::always_inline]] inline std::optional<T> await_resume() {
        T* const item = this->taken();
        if (item == nullptr) return std::nullopt;
        return std::optional<T>(std::move(*item)); // the empty shell goes with the next call
    }
};

template <class T>
class merge_peek_awaiter : public merge_take_awaiter<T> {
public:
    using merge_take_awaiter<T>::merge_take_awaiter;
    [[nodiscard, gnu::always_inline]] inline T* await_resume() { return this->taken(); }
};

template <class T>
class merge_batch_awaiter : public merge_take_awaiter<T> {
public:
    explicit merge_batch_awaiter(merge_core<T>& core) : merge_take_awaiter<T>(core), all_of_(core) {}
    [[nodiscard]] std::span<T> await_resume() {
        T* const first = this->taken();
        if (first == nullptr) return {};
        return all_of_.take_rest(first);
    }

private:
    merge_core<T>& all_of_;
};

} // namespace thalweg::detail
