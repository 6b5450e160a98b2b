// SPDX-License-Identifier: BSL-1.0

#pragma once

// Both doors to Asio.
//
// Inside a task or stream, any operation becomes awaitable:
//
//     const auto got = co_await socket.async_read_some(buffer, use_task);
//     if (got.failed) ...; else use(got.value);
//
// One that completes with (error_code) gives an error_code, one with (error_code, T) an asio_result<T>. A
// stop request cancels the operation, which then reports operation_aborted; destroying the waiting coroutine
// cancels and abandons it. Nothing is thrown. Name buffers and other arguments before the await.
//
// From an Asio program a task is started with any completion token:
//
//     spawn(io.get_executor(), some_task(), token);
//
// It completes with (std::exception_ptr) or (std::exception_ptr, T); the token's cancellation slot asks the
// task to stop (cancel_reason::user).
//
// Thread rule: the io_context is run by one thread at a time; both are called on it, spawn() also before it
// runs. Lifetime: buffers and I/O objects outlive the operation, so do not destroy a coroutine between an
// operation and the turn of the loop that reports its cancellation if the buffer lies in its frame: await the
// operation to its end, or keep the buffer elsewhere. Cost: one recycled allocation for each operation, since
// handler and awaiter may each outlive the other.

#include <thalweg/async/loop.hpp>
#include <thalweg/async/scope.hpp>

#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detached.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace thalweg {

/// What an operation with a value gave: `value` is meaningful if `!failed`, or as the operation documents.
template <class T>
class asio_result {
public:
    asio_result(std::error_code code, T given) : failed(code), value(std::move(given)) {}
    std::error_code failed;
    T value;
};

/// The completion token that makes an operation awaitable in a task or stream.
struct use_task_t {
    constexpr explicit use_task_t(std::nullptr_t) noexcept {}
};
inline constexpr use_task_t use_task{nullptr};

namespace detail {

template <class... Args>
struct operation_value;
template <>
struct operation_value<std::error_code> {
    using type = std::error_code;
};
template <class T>
struct operation_value<std::error_code, T> {
    using type = asio_result<T>;
};

/// Shared by the awaiter and the handler, since either may go first.
template <class Value>
struct operation_state {
    loop* on = nullptr;
    std::coroutine_handle<> waiting; // null once the awaiter is gone or was resumed
    std::optional<Value> value;
    asio::cancellation_signal cancel;
    bool inside_initiation = false;
};

template <class Value>
class operation_handler {
public:
    using cancellation_slot_type = asio::cancellation_slot;
    using executor_type = asio::io_context::executor_type;

    explicit operation_handler(std::shared_ptr<operation_state<Value>> state)
        : state_(std::move(state)), work_(*state_->on) {}

    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
        return state_->cancel.slot();
    }
    [[nodiscard]] executor_type get_executor() const noexcept { return state_->on->io().get_executor(); }

    template <class... Args>
    void operator()(std::error_code failed, Args... args) {
        auto state = std::move(state_);
        if (!state->waiting) return;
        state->value.emplace(failed, std::move(args)...);
        if (state->inside_initiation) return;
        state->on->begin_turn();
        std::exchange(state->waiting, nullptr).resume();
    }

private:
    std::shared_ptr<operation_state<Value>> state_;
    loop::external_work work_;
};

template <class Value, class Initiation, class... Args>
class operation_awaiter {
public:
    operation_awaiter(Initiation initiation, std::tuple<Args...> args)
        : initiation_(std::move(initiation)), args_(std::move(args)) {}
    operation_awaiter(const operation_awaiter&) = delete;
    ~operation_awaiter() {
        on_stop_.reset();
        if (!state_ || !state_->waiting) return;
        state_->waiting = nullptr;
        if (!state_->on->is_closing()) state_->cancel.emit(asio::cancellation_type::terminal);
    }

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        const context& ctx = *self.promise().ctx;
        state_ = std::allocate_shared<operation_state<Value>>(frame_allocator<operation_state<Value>>());
        state_->on = &ctx.loop();
        state_->waiting = self;
        state_->inside_initiation = true;
        std::apply(
            [this](auto&... args) {
                std::move(initiation_)(operation_handler<Value>(state_), std::move(args)...);
            },
            args_);
        if (!state_->value) on_stop_.emplace(ctx.stop_token(), cancel_operation{state_.get()});
        state_->inside_initiation = false;
        if (!state_->value) return true;
        state_->waiting = nullptr; // an operation that completes from inside its start or its cancellation
        return false;
    }
    Value await_resume() {
        on_stop_.reset();
        return std::move(*state_->value);
    }

private:
    struct cancel_operation {
        operation_state<Value>* state;
        void operator()() const { state->cancel.emit(asio::cancellation_type::terminal); }
    };

    Initiation initiation_;
    std::tuple<Args...> args_;
    std::shared_ptr<operation_state<Value>> state_;
    std::optional<std::stop_callback<cancel_operation>> on_stop_;
};

/// Owns a task that an Asio program started, until its handler has been called. The loop owns it until the
/// task has ended, and drops both if the io_context goes first.
template <class T, class Handler>
class spawned final : public loop_tenant, private root_owner {
    using own_executor = asio::io_context::executor_type;
    using handler_executor = asio::associated_executor_t<Handler, own_executor>;

public:
    spawned(loop& on, Handler handler)
        : loop_(on),
          context_(on, cancel_),
          handler_(std::move(handler)),
          work_(on.io().get_executor()),
          handler_work_(asio::get_associated_executor(handler_, on.io().get_executor())) {
        cancel_.follow(on.cancel());
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) {
            slot.assign([this](asio::cancellation_type) { cancel_.request(cancel_reason::user); });
        }
    }
    ~spawned() override { destroy_all(); } // while what the frames point to still stands

    void begin(task<T> work) {
        if constexpr (std::is_void_v<T>) {
            adopt(run_root(std::move(work)).frame, context_);
        } else {
            adopt(run_root(store_value(std::move(work), value_)).frame, context_);
        }
    }

private:
    void ended(std::exception_ptr thrown) noexcept override {
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected()) slot.clear();
        std::unique_ptr<spawned> mine(static_cast<spawned*>(loop_.hand_out(*this).release()));
        auto executor = handler_work_.get_executor();
        asio::post(executor, [self = std::move(mine), thrown = std::move(thrown)]() mutable {
            Handler handler = std::move(self->handler_);
            if constexpr (std::is_void_v<T>) {
                self.reset();
                std::move(handler)(std::move(thrown));
            } else {
                T value = self->value_ ? std::move(*self->value_) : T();
                self.reset();
                std::move(handler)(std::move(thrown), std::move(value));
            }
        });
    }

    struct no_value {};
    loop& loop_;
    cancel_source cancel_;
    context context_;
    Handler handler_;
    std::conditional_t<std::is_void_v<T>, no_value,
                       std::optional<std::conditional_t<std::is_void_v<T>, no_value, T>>>
        value_{};
    // An operation under way is work of both, as with any operation of Asio.
    asio::executor_work_guard<own_executor> work_;
    asio::executor_work_guard<handler_executor> handler_work_;
};

/// What stands in for asio::detached: an exception leaves run() of the io_context instead of getting lost.
struct rethrow_what_is_thrown {
    template <class... Value>
    void operator()(std::exception_ptr thrown, Value&&...) const {
        if (thrown) std::rethrow_exception(std::move(thrown));
    }
};

template <class T>
struct spawn_signature {
    using type = void(std::exception_ptr, T);
};
template <>
struct spawn_signature<void> {
    using type = void(std::exception_ptr);
};

} // namespace detail

/// Runs `work` on the io_context of `executor` and completes `token` when it has ended; the io_context's
/// run() does not return before. It starts at once: the task has run to its first suspension when this
/// returns. T must be default-constructible: that is what the token gets beside an exception. With
/// asio::detached an exception leaves run(). If the io_context is destroyed first, the task is destroyed
/// where it waits and the token is never completed.
template <class T, class Token>
auto spawn(const asio::io_context::executor_type& executor, task<T> work, Token&& token) {
    if constexpr (std::same_as<std::remove_cvref_t<Token>, asio::detached_t>) {
        return spawn(executor, std::move(work), detail::rethrow_what_is_thrown());
    } else {
        return asio::async_initiate<Token, typename detail::spawn_signature<T>::type>(
            [&io = executor.context()](auto handler, task<T> started) {
                loop& on = loop::of(io);
                auto made = std::make_unique<detail::spawned<T, decltype(handler)>>(on, std::move(handler));
                auto& running = *made;
                on.take_in(std::move(made));
                running.begin(std::move(started));
            },
            token, std::move(work));
    }
}

} // namespace thalweg

template <class... Args>
class asio::async_result<thalweg::use_task_t, void(Args...)> {
public:
    template <class Initiation, class... InitArgs>
    static auto initiate(Initiation initiation, thalweg::use_task_t, InitArgs... args) {
        using value = typename thalweg::detail::operation_value<std::decay_t<Args>...>::type;
        return thalweg::detail::operation_awaiter<value, Initiation, InitArgs...>(
            std::move(initiation), std::tuple<InitArgs...>(std::move(args)...));
    }
};
