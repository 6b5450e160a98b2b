// SPDX-License-Identifier: BSL-1.0

#pragma once

// A lazy generator with a final result: `co_yield` items, `co_return` the result.
//
//     auto s = numbers();
//     while (auto item = co_await s.next()) use(*item);
//     s.result();
//
// A generator that ends without `co_return` gave no result, which no compiler refuses and g++ does not even
// warn about. result() then gives what `R::without_co_return()` makes, if R has such a function
// (model_outcome and tool_result do); for any other R it ends the program with a sentence.
//
// It runs only while somebody waits in next() or peek(). Destroying it anywhere before its end destroys the
// generator's locals, which cancels and takes back whatever feeds it (D-23); nothing of it runs again.
// Thread rule: loop thread. One reader. Do not destroy a stream from inside its own generator.

#include <thalweg/async/context.hpp>

#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace thalweg {

template <class T, class R = void>
class stream;

namespace detail {

/// A result type that has a word for a generator that gave none.
template <class R>
concept has_stand_in = requires {
    { R::without_co_return() } -> std::same_as<R>;
};

[[noreturn, gnu::cold]] inline void die_without_result(bool is_finished) noexcept {
    std::fputs(is_finished ? "thalweg: stream: the generator ended without co_return, or threw: there is no "
                             "result\n"
                           : "thalweg: stream: result() before the end; read until next() gives nothing\n",
               stderr);
    std::abort();
}

template <class T>
struct owning_yield_awaiter : arrive_awaiter {
    explicit owning_yield_awaiter(const T& item, T*& place) : arrive_awaiter(nullptr), copy(item) {
        place = std::addressof(copy);
    }
    owning_yield_awaiter(const owning_yield_awaiter&) = delete;
    T copy;
};

template <class T>
struct stream_promise_base : promise_base {
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] arrive_awaiter final_suspend() noexcept {
        current = nullptr;
        finished = true;
        return arrive_awaiter(nullptr);
    }
    void unhandled_exception() noexcept { thrown = std::current_exception(); }

    [[nodiscard]] arrive_awaiter yield_value(T&& item) noexcept {
        current = std::addressof(item);
        return arrive_awaiter(nullptr);
    }
    [[nodiscard]] arrive_awaiter yield_value(T& item) noexcept
        requires(!std::copy_constructible<T>)
    = delete; // say std::move(item)
    [[nodiscard]] owning_yield_awaiter<T> yield_value(const T& item)
        requires std::copy_constructible<T>
    {
        return owning_yield_awaiter<T>(item, current);
    }

    T* current = nullptr; // the item lies in the suspended generator
    bool finished = false;
    std::exception_ptr thrown;
};

template <class T, class R>
struct stream_promise : stream_promise_base<T> {
    stream<T, R> get_return_object() noexcept;
    template <class U = R>
        requires std::constructible_from<R, U>
    void return_value(U&& value) {
        result.emplace(std::forward<U>(value));
    }
    std::optional<R> result;
};

template <class T>
struct stream_promise<T, void> : stream_promise_base<T> {
    stream<T, void> get_return_object() noexcept;
    void return_void() const noexcept {}
};

} // namespace detail

template <class T, class R>
class [[nodiscard]] stream {
public:
    using promise_type = detail::stream_promise<T, R>;
    using value_type = T;
    using result_type = R;

    stream() noexcept = default; ///< owns nothing; not to be read
    stream(stream&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    stream& operator=(stream&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, nullptr);
        }
        return *this;
    }
    ~stream() { reset(); }

    /// Destroys the generator, wherever it is suspended.
    void reset() noexcept {
        if (frame_) std::exchange(frame_, nullptr).destroy();
    }
    [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

    /// Tells streams apart: it stays the same wherever the stream is moved to. nullptr if it owns nothing.
    [[nodiscard]] const void* address() const noexcept { return frame_.address(); }

    template <bool Moves>
    class awaiter {
    public:
        awaiter(std::coroutine_handle<promise_type> frame, const context* other) noexcept
            : frame_(frame), context_(other) {
            assert(frame_ != nullptr && "an empty stream cannot be read");
        }
        awaiter(const awaiter&) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return frame_.promise().finished; }
        template <class Promise>
        bool await_suspend(std::coroutine_handle<Promise> reader) {
            const context* inherited = context_ != nullptr ? context_ : reader.promise().ctx;
            return !frame_.promise().run_for(frame_, reader, inherited);
        }
        auto await_resume() {
            promise_type& p = frame_.promise();
            if (p.thrown) std::rethrow_exception(std::exchange(p.thrown, nullptr));
            if constexpr (Moves) {
                return p.finished ? std::optional<T>() : std::optional<T>(std::move(*p.current));
            } else {
                return p.finished ? static_cast<T*>(nullptr) : p.current;
            }
        }

    private:
        std::coroutine_handle<promise_type> frame_;
        const context* context_;
    };

    /// The next item, moved out; empty after the last one, again and again. Rethrows what the generator
    /// threw, once. Suspends: while the generator does. Cost: no allocation.
    [[nodiscard]] awaiter<true> next() noexcept { return awaiter<true>(frame_, nullptr); }
    /// The next item in place, without a move: valid until the next call; nullptr after the last one.
    [[nodiscard]] awaiter<false> peek() noexcept { return awaiter<false>(frame_, nullptr); }

    /// The same, but the generator runs in another context from here on, e.g. one with a stop request of its
    /// own.
    [[nodiscard]] awaiter<true> next_under(const context& other) noexcept {
        return awaiter<true>(frame_, &other);
    }
    [[nodiscard]] awaiter<false> peek_under(const context& other) noexcept {
        return awaiter<false>(frame_, &other);
    }

    /// True once next() has given the empty optional.
    [[nodiscard]] bool finished() const noexcept { return frame_ && frame_.promise().finished; }

    /// What the generator returned. Only after next() has given the empty optional and not after it threw:
    /// anything else ends the program with a sentence. Lives as long as the stream; move from it if you like.
    [[nodiscard]] auto& result() noexcept
        requires(!std::is_void_v<R>)
    {
        if (!finished()) detail::die_without_result(false);
        auto& result = frame_.promise().result;
        if (!result.has_value()) {
            if constexpr (detail::has_stand_in<R>) {
                result.emplace(R::without_co_return());
            } else {
                detail::die_without_result(true);
            }
        }
        return *result;
    }

private:
    friend promise_type;
    explicit stream(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    std::coroutine_handle<promise_type> frame_;
};

template <class T, class R>
stream<T, R> detail::stream_promise<T, R>::get_return_object() noexcept {
    auto self = std::coroutine_handle<stream_promise>::from_promise(*this);
    this->ready.handle = self;
    return stream<T, R>(self);
}

template <class T>
stream<T, void> detail::stream_promise<T, void>::get_return_object() noexcept {
    auto self = std::coroutine_handle<stream_promise>::from_promise(*this);
    this->ready.handle = self;
    return stream<T, void>(self);
}

} // namespace thalweg
