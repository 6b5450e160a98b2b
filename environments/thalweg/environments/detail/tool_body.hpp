// SPDX-License-Identifier: BSL-1.0

#pragma once

// What stands behind a tool: the callable, put once where it stays, and one object per call with its
// arguments.
//
// A callable is never copied: a coroutine lambda points to its closure, so the closure stays where it is and
// every running call keeps it alive (H-54). The coroutines that drive a call are in tool_body.cpp and know no
// type of the user's: one copy of the code, and no coroutine frame with a type from somebody's anonymous
// namespace, which g++ would warn about. Everything but a blocking call is on the loop's thread.

#include <thalweg/environments/detail/callable.hpp>
#include <thalweg/environments/detail/job.hpp>
#include <thalweg/protocol/json_schema.hpp>

#include <coroutine>
#include <memory>
#include <optional>
#include <utility>

namespace thalweg::environments::detail {

using tool_stream = stream<chunk, tool_result>;

/// A tool's whole answer at once.
class answer {
public:
    explicit answer(tool_result r) : result(std::move(r)) {}
    explicit answer(text said) : result(tool_result::completed().with_output(std::move(said))) {}

    tool_result result;
};

template <class V>
answer to_answer(V&& value) {
    using type = std::remove_cvref_t<V>;
    if constexpr (std::is_same_v<type, tool_result>) {
        return answer(std::forward<V>(value));
    } else if constexpr (is_result<type>) {
        if (!value) return answer(tool_result::failed(value.error()));
        if constexpr (std::is_void_v<typename type::value_type>)
            return answer(tool_result::completed());
        else
            return to_answer(std::forward<V>(value).value());
    } else if constexpr (std::is_same_v<type, text>) {
        return answer(text(std::forward<V>(value)));
    } else if constexpr (is_string_like<type>) {
        return answer(text(std::string_view(value)));
    } else {
        std::string out;
        encode(out, value);
        return answer(text(out));
    }
}

// One call, without its types
// ----------------------------------------------------------------------------------

class any_call {
public:
    any_call() = default;
    any_call(const any_call&) = delete;
    any_call& operator=(const any_call&) = delete;
    virtual ~any_call() = default;

    /// Reads the arguments; first. What it gives is the tool's failure.
    virtual std::optional<error> prepare() = 0;
};

struct plain_call : any_call {
    virtual answer run() = 0;
};

struct task_call : any_call {
    using waiting = std::coroutine_handle<tool_stream::promise_type>;
    virtual void begin() = 0;               ///< calls the coroutine
    virtual bool suspend(waiting self) = 0; ///< these two as in an awaiter
    virtual answer resume() = 0;
};

template <class R>
struct stream_call : any_call {
    virtual stream<chunk, R> open() = 0;
};

struct blocking_call : any_call, job {
    virtual answer run(std::stop_token stop) = 0;
    std::optional<answer> said; ///< set when it ran

private:
    void work(std::stop_token stop) override { said.emplace(run(std::move(stop))); }
};

[[nodiscard]] tool_stream drive(std::unique_ptr<plain_call> call);
[[nodiscard]] tool_stream drive(std::unique_ptr<task_call> call);
[[nodiscard]] tool_stream drive(std::unique_ptr<stream_call<tool_result>> call);
[[nodiscard]] tool_stream drive(std::unique_ptr<stream_call<void>> call);
[[nodiscard]] tool_stream drive(std::shared_ptr<blocking_call> call);

/// A callable as an owner of calls.
class tool_body {
public:
    tool_body() = default;
    tool_body(const tool_body&) = delete;
    tool_body& operator=(const tool_body&) = delete;
    virtual ~tool_body() = default;

    /// `self` owns this object; the call shares it.
    virtual tool_stream start(std::shared_ptr<tool_body> self, tool_call call, tool_context context) = 0;
};

// The same with its types
// --------------------------------------------------------------------------------------

template <class F, argument_style Style>
class callable_body : public tool_body {
public:
    using parameters = parameters_of<typename signature<F>::parameters>;
    using returned = typename signature<F>::result;
    using declared = typename parameters::arguments; // with its const& or &&; void = none
    using plain = std::remove_cvref_t<declared>;
    struct nothing {};
    using arguments = std::conditional_t<std::is_void_v<declared>, nothing, plain>;

    callable_body(F callable, std::shared_ptr<const json_schema> schema)
        : callable_(std::move(callable)), schema_(std::move(schema)) {}

    /// What the callable takes; views point into `call`.
    result<arguments> read(const tool_call& call) const {
        if constexpr (Style == argument_style::raw) {
            auto parsed = thalweg::detail::parse_arguments(call);
            if (!parsed) return parsed.error();
            if (auto fault = schema_->fault(parsed.value()))
                return thalweg::detail::wrong_arguments(call, thalweg::detail::mismatch(std::move(*fault)));
            if constexpr (std::is_void_v<declared>)
                return nothing{};
            else if constexpr (std::is_same_v<plain, json::view>)
                return parsed.value();
            else
                return plain(parsed.value().raw());
        } else if constexpr (std::is_void_v<declared>) {
            return nothing{};
        } else {
            return call.decode<plain>();
        }
    }

    returned invoke(arguments& a, tool_context& context, [[maybe_unused]] std::stop_token stop) {
        if constexpr (parameters::context && parameters::stop)
            return pass(a, std::move(context), std::move(stop));
        else if constexpr (parameters::context)
            return pass(a, std::move(context));
        else if constexpr (parameters::stop)
            return pass(a, std::move(stop));
        else
            return pass(a);
    }

private:
    template <class... Rest>
    returned pass([[maybe_unused]] arguments& a, Rest&&... rest) {
        if constexpr (std::is_void_v<declared>)
            return callable_(std::forward<Rest>(rest)...);
        else
            return callable_(static_cast<declared&&>(a), std::forward<Rest>(rest)...);
    }

    F callable_;
    std::shared_ptr<const json_schema> schema_; // raw tools only
};

/// What all kinds of typed calls have. Kind: one of the interfaces above.
template <class Kind, class Body>
class typed_call : public Kind {
public:
    typed_call(std::shared_ptr<Body> self, tool_call call, tool_context context)
        : self_(std::move(self)), call_(std::move(call)), context_(std::move(context)) {}

    std::optional<error> prepare() final {
        auto read = self_->read(call_);
        if (!read) return read.error();
        arguments_.emplace(std::move(read.value()));
        return std::nullopt;
    }

protected:
    typename Body::returned invoke(std::stop_token stop = {}) {
        return self_->invoke(*arguments_, context_, std::move(stop));
    }
    answer invoke_for_answer(std::stop_token stop = {}) {
        if constexpr (std::is_void_v<typename Body::returned>) {
            invoke(std::move(stop));
            return answer(tool_result::completed());
        } else {
            return to_answer(invoke(std::move(stop)));
        }
    }

private:
    std::shared_ptr<Body> self_;
    tool_call call_; // views among the arguments point into it
    tool_context context_;
    std::optional<typename Body::arguments> arguments_;
};

template <class Body>
class typed_plain_call final : public typed_call<plain_call, Body> {
    using typed_call<plain_call, Body>::typed_call;
    answer run() override { return this->invoke_for_answer(); }
};

template <class Body>
class typed_blocking_call final : public typed_call<blocking_call, Body> {
    using typed_call<blocking_call, Body>::typed_call;
    answer run(std::stop_token stop) override { return this->invoke_for_answer(std::move(stop)); }
};

template <class Body>
class typed_task_call final : public typed_call<task_call, Body> {
    using typed_call<task_call, Body>::typed_call;
    using returned = typename Body::returned;
    using awaiter = typename returned::awaiter;

    /// An awaiter does not move: made in place by converting to it.
    struct made_in_place {
        returned& from;
        operator awaiter() const { return std::move(from).operator co_await(); }
    };

    void begin() override { work_ = this->invoke(); }
    bool suspend(task_call::waiting self) override {
        awaiter_.emplace(made_in_place{work_});
        return awaiter_->await_suspend(self);
    }
    answer resume() override {
        if constexpr (std::is_void_v<typename returned::value_type>) {
            awaiter_->await_resume();
            return answer(tool_result::completed());
        } else {
            return to_answer(awaiter_->await_resume());
        }
    }

    returned work_;
    std::optional<awaiter> awaiter_;
};

template <class Body>
class typed_stream_call final : public typed_call<stream_call<typename Body::returned::result_type>, Body> {
    using typed_call<stream_call<typename Body::returned::result_type>, Body>::typed_call;
    typename Body::returned open() override { return this->invoke(); }
};

template <class F, argument_style Style, bool Blocking>
class running_body final : public callable_body<F, Style> {
public:
    using base = callable_body<F, Style>;
    using base::base;

    tool_stream start(std::shared_ptr<tool_body> self, tool_call call, tool_context context) override {
        auto owner = std::static_pointer_cast<base>(std::move(self));
        using returned = typename base::returned;
        if constexpr (Blocking) {
            std::shared_ptr<blocking_call> made = std::make_shared<typed_blocking_call<base>>(
                std::move(owner), std::move(call), std::move(context));
            return drive(std::move(made));
        } else if constexpr (is_stream<returned>) {
            std::unique_ptr<stream_call<typename returned::result_type>>
                made = std::make_unique<typed_stream_call<base>>(std::move(owner), std::move(call),
                                                                 std::move(context));
            return drive(std::move(made));
        } else if constexpr (is_task<returned>) {
            std::unique_ptr<task_call> made = std::make_unique<typed_task_call<base>>(
                std::move(owner), std::move(call), std::move(context));
            return drive(std::move(made));
        } else {
            std::unique_ptr<plain_call> made = std::make_unique<typed_plain_call<base>>(
                std::move(owner), std::move(call), std::move(context));
            return drive(std::move(made));
        }
    }
};

} // namespace thalweg::environments::detail
