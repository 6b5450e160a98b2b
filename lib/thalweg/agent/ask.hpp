// SPDX-License-Identifier: BSL-1.0

#pragma once

// Answers as values: agent::ask<T>() for a described struct T (describe.hpp).
//
//     struct trip { std::string city; int days = 1; };
//     BOOST_DESCRIBE_STRUCT(trip, (), (city, days))
//
//     auto planned = co_await helper.ask<trip>("Where to, and for how long?");
//     if (planned) book(planned.value().city); else complain(planned.error().message());
//
// The prompt and, where it comes to that, one correction are turns of the agent like any other: tools run,
// listeners are told, and all of it stays in the transcript. An answer is JSON text, with nothing around it
// but white space and at most one block fenced with ```json; it is read as strictly as arguments of tools
// are. The provider gets the schema too (model_request::response_schema()); whether it makes use of it is its
// own business, the answer is checked either way.
//
// Errors: those of the run as they are (`busy`, `aborted`, `model_failed`, `hook_failed`);
// agent_errc::mismatch when the second answer does not fit either, with the path of the first mismatch in it.
// Loop thread.

#include <thalweg/agent/agent.hpp>
#include <thalweg/protocol/describe.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

namespace detail {

[[nodiscard]] std::vector<agent_message> question(const text& words, const text& schema);
[[nodiscard]] std::vector<agent_message> correction(const error& mismatch);
/// The JSON of an answer, without its fence. Points into it.
[[nodiscard]] std::string_view json_of_answer(std::string_view answer) noexcept;

template <class T>
[[nodiscard]] result<T> read_answer(const std::string& answer) {
    const auto parsed = json::parse(json_of_answer(answer));
    if (!parsed) return error(agent_errc::mismatch, "not JSON: " + parsed.error().message());
    auto read = decode<T>(parsed.value());
    if (!read) return error(agent_errc::mismatch, read.error().message());
    return read;
}

/// `first` is begun; busy again at once behind it, so that nobody comes between question and correction.
template <class T>
[[nodiscard]] task<result<T>> answer_to(agent_core& core, task<agent_outcome> first, text schema) {
    agent_outcome how = co_await std::move(first);
    first.reset();
    if (!how.ok()) co_return how.error();
    result<T> value = read_answer<T>(how.answer());
    if (value) co_return std::move(value);
    if (core.was_aborted())
        co_return error(agent_errc::aborted, "the question was aborted before it was put right");

    auto second = core.prompt(correction(value.error()), std::move(schema));
    how = co_await std::move(second);
    if (!how.ok()) co_return how.error();
    value = read_answer<T>(how.answer());
    co_return std::move(value);
}

} // namespace detail

template <class P, class E, class... Custom>
template <class T>
task<result<T>> agent<P, E, Custom...>::ask(text words) {
    text form = schema<T>();
    auto first = core_.prompt(detail::question(words, form), form);
    return detail::answer_to<T>(core_, std::move(first), std::move(form));
}

} // namespace thalweg
