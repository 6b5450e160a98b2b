// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a C++ callable tells about itself: its parameters, what it returns, whether it can be a tool. Every
// "no" stops the build with one sentence. No run-time part, so no thread rule.

#include <thalweg/async/stream.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/protocol/describe.hpp>
#include <thalweg/protocol/environment.hpp>

#include <concepts>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>

namespace thalweg::environments::detail {

template <class... Ts>
struct type_list {
    static constexpr std::size_t size = sizeof...(Ts);
};

/// Result and parameters of a function, or of a class with exactly one call operator.
template <class F>
struct signature {
    static constexpr bool known = false;
};
template <class R, class... Ps>
struct known_signature {
    static constexpr bool known = true;
    using result = R;
    using parameters = type_list<Ps...>;
};
template <class R, class... Ps>
struct signature<R(Ps...)> : known_signature<R, Ps...> {};
template <class R, class... Ps>
struct signature<R(Ps...) noexcept> : known_signature<R, Ps...> {};
template <class F>
struct signature<F*> : signature<F> {};
template <class F>
struct signature<std::reference_wrapper<F>> : signature<F> {};
template <class M>
struct member_signature;
template <class C, class R, class... Ps>
struct member_signature<R (C::*)(Ps...)> : known_signature<R, Ps...> {};
template <class C, class R, class... Ps>
struct member_signature<R (C::*)(Ps...) const> : known_signature<R, Ps...> {};
template <class C, class R, class... Ps>
struct member_signature<R (C::*)(Ps...) noexcept> : known_signature<R, Ps...> {};
template <class C, class R, class... Ps>
struct member_signature<R (C::*)(Ps...) const noexcept> : known_signature<R, Ps...> {};
template <class F>
    requires requires { &F::operator(); }
struct signature<F> : member_signature<decltype(&F::operator())> {};

// Parameters
// -------------------------------------------------------------------------------------------------

/// What a callable takes, in this order, each part optional: arguments, tool_context, std::stop_token.
template <class Arguments, bool Context, bool Stop>
struct takes {
    using arguments = Arguments; ///< as declared; void = none
    static constexpr bool context = Context;
    static constexpr bool stop = Stop;
    static constexpr bool fits = true;
};
struct takes_something_else {
    using arguments = void;
    static constexpr bool fits = false;
};

/// Bound to a local of ours: by value, const& and && are fine; a plain & would promise the caller sees
/// changes.
template <class P>
inline constexpr bool is_plain_reference = std::is_lvalue_reference_v<P> &&
                                           !std::is_const_v<std::remove_reference_t<P>>;

template <class P>
inline constexpr bool is_context = std::is_same_v<std::remove_cvref_t<P>, tool_context> &&
                                   !is_plain_reference<P>;
template <class P>
inline constexpr bool is_stop = std::is_same_v<std::remove_cvref_t<P>, std::stop_token> &&
                                !is_plain_reference<P>;
template <class P>
inline constexpr bool is_arguments = !is_context<P> && !is_stop<P>;

template <class List>
struct parameters_of : takes_something_else {};
template <>
struct parameters_of<type_list<>> : takes<void, false, false> {};
template <class A>
struct parameters_of<type_list<A>>
    : takes<std::conditional_t<is_arguments<A>, A, void>, is_context<A>, is_stop<A>> {};
template <class A, class B>
    requires(is_arguments<A> && !is_arguments<B>)
struct parameters_of<type_list<A, B>> : takes<A, is_context<B>, is_stop<B>> {};
template <class A, class B>
    requires(is_context<A> && is_stop<B>)
struct parameters_of<type_list<A, B>> : takes<void, true, true> {};
template <class A, class B, class C>
    requires(is_arguments<A> && is_context<B> && is_stop<C>)
struct parameters_of<type_list<A, B, C>> : takes<A, true, true> {};

template <class A>
inline constexpr bool is_raw_argument = std::is_same_v<A, json::view> || std::is_same_v<A, text> ||
                                        std::is_same_v<A, std::string> || std::is_same_v<A, std::string_view>;

// Results
// ----------------------------------------------------------------------------------------------------

template <class R>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;
template <class R>
inline constexpr bool is_stream = false;
template <class T, class R>
inline constexpr bool is_stream<stream<T, R>> = true;
template <class R>
inline constexpr bool is_tool_stream = std::is_same_v<R, stream<chunk, tool_result>> ||
                                       std::is_same_v<R, stream<chunk>>;
template <class R>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;
template <class V>
inline constexpr bool is_string_like = std::is_convertible_v<V, std::string_view>;

template <class R>
struct value_of {
    using type = R;
};
template <class T>
struct value_of<task<T>> {
    using type = T;
};

/// Whether V can be a tool's answer: nothing, text, tool_result, a result<> of these, or anything with a JSON
/// form.
template <class V>
consteval bool check_value() {
    if constexpr (std::is_void_v<V> || std::is_same_v<V, tool_result> || is_string_like<V>)
        return true;
    else if constexpr (is_result<V>)
        return check_value<typename V::value_type>();
    else
        return thalweg::detail::check_described<V>();
}

// blocking()
// -------------------------------------------------------------------------------------------------

/// What blocking() gives.
template <class F>
class blocking_callable {
public:
    explicit blocking_callable(F f) : callable(std::move(f)) {}
    F callable;
};

template <class F>
struct marked_blocking {
    static constexpr bool value = false;
    using callable = F;
    static F&& take(F&& f) noexcept { return std::move(f); }
};
template <class F>
struct marked_blocking<blocking_callable<F>> {
    static constexpr bool value = true;
    using callable = F;
    static F&& take(blocking_callable<F>&& f) noexcept { return std::move(f.callable); }
};

// The check
// --------------------------------------------------------------------------------------------------

enum class argument_style { described, raw };

template <class F, argument_style Style, bool Blocking>
consteval bool check_parameters() {
    using parameters = parameters_of<typename signature<F>::parameters>;
    constexpr bool fits = parameters::fits;
    static_assert(fits, "thalweg: a tool's callable takes, each optional and in this order: its arguments, "
                        "a tool_context and, if it is blocking, a std::stop_token");
    if constexpr (fits) {
        using arguments = typename parameters::arguments;
        using plain = std::remove_cvref_t<arguments>;
        constexpr bool stops = Blocking || !parameters::stop;
        static_assert(stops, "thalweg: only a blocking() tool takes a std::stop_token; a coroutine asks "
                             "`co_await this_coroutine()`");
        constexpr bool bound = !is_plain_reference<arguments>;
        static_assert(bound,
                      "thalweg: a tool takes its arguments by value, const& or &&, not by plain reference");
        if constexpr (!stops || !bound) {
            return false;
        } else if constexpr (std::is_void_v<arguments>) {
            return true;
        } else if constexpr (Style == argument_style::raw) {
            static_assert(is_raw_argument<plain>, "thalweg: a raw_tool takes its arguments as thalweg::text, "
                                                  "std::string, std::string_view or json::view");
            return is_raw_argument<plain>;
        } else {
            constexpr bool typed = !is_raw_argument<plain>;
            static_assert(typed,
                          "thalweg: a tool's first parameter is a described struct, which gives the schema; "
                          "with text or json::view use raw_tool and write the schema");
            if constexpr (typed) {
                constexpr bool described = thalweg::detail::check_described<plain>();
                if constexpr (described) {
                    static_assert(
                        thalweg::detail::is_described_struct<plain>,
                        "thalweg: a tool's first parameter is a described struct; put this type into one, "
                        "so that the model sees a name");
                    return thalweg::detail::is_described_struct<plain>;
                }
            }
            return false;
        }
    } else {
        return false;
    }
}

template <class F, bool Blocking>
consteval bool check_result() {
    using returned = typename signature<F>::result;
    constexpr bool streams = !is_stream<returned> || is_tool_stream<returned>;
    static_assert(streams,
                  "thalweg: a streaming tool returns `stream<chunk, tool_result>` or `stream<chunk>`");
    constexpr bool plain = !Blocking || (!is_task<returned> && !is_stream<returned>);
    static_assert(
        plain,
        "thalweg: blocking() is for plain functions; a coroutine does not block, give it to tool() as it is");
    if constexpr (!streams || !plain)
        return false;
    else if constexpr (is_stream<returned>)
        return true;
    else
        return check_value<std::remove_cvref_t<typename value_of<returned>::type>>();
}

/// Whether F can be a tool. One mistake gives one sentence.
template <class F, argument_style Style, bool Blocking>
consteval bool check_callable() {
    constexpr bool callable = std::is_class_v<F> || std::is_function_v<std::remove_pointer_t<F>>;
    static_assert(callable,
                  "thalweg: a tool needs something to call: a function, a lambda or a function object");
    if constexpr (callable) {
        constexpr bool known = signature<F>::known;
        static_assert(
            known, "thalweg: a tool must not be a generic lambda or have several call operators; the types "
                   "of its parameters make the schema, so write them out");
        if constexpr (known) {
            constexpr bool parameters = check_parameters<F, Style, Blocking>();
            if constexpr (parameters) return check_result<F, Blocking>();
        }
    }
    return false;
}

} // namespace thalweg::environments::detail
