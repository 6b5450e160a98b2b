// SPDX-License-Identifier: BSL-1.0

#pragma once

// One request to a provider and all that came of it, for tests of what stands around providers.

#include <thalweg/async/task.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/scripted.hpp>

#include <string>
#include <utility>
#include <vector>

namespace thalweg::testing {

/// What a request is made of; outlives the stream.
struct question {
    std::vector<message> history = {};
    std::vector<message> input = {message::user_text("go")};
    std::vector<tool_definition> tools = {};
    text system = {};
    text thinking_level = {};
    text response_schema = {};

    [[nodiscard]] model_request request() const {
        model_request made(history, input, tools, system, thinking_level);
        return std::move(made).with_response_schema(response_schema);
    }
};

inline question asking(const char* prompt) {
    question made;
    made.input = {message::user_text(prompt)};
    return made;
}

/// The deltas, in short words, and the outcome.
struct answered {
    std::vector<std::string> deltas;
    std::string text;
    model_outcome outcome = model_outcome::aborted();
};

inline std::string in_words(delta& d) {
    using type = delta::type;
    switch (d.kind()) {
    case type::begin_text: return "begin text";
    case type::begin_thinking: return "begin thinking";
    case type::text: return "text " + d.content().str();
    case type::thinking: return "thinking " + d.content().str();
    case type::call: return "call " + d.id().str() + " " + d.content().str();
    case type::arguments: return "arguments " + d.content().str();
    case type::end: return "end";
    case type::fidelity: return "fidelity " + d.content().str();
    case type::usage:
        return "usage " + std::to_string(d.counts().cache_read) + " " +
               std::to_string(d.counts().cache_write) + " " + std::to_string(d.counts().output) + " " +
               std::to_string(d.counts().total);
    case type::whole: return "whole " + to_json(d.wrapped());
    }
    return "?";
}

template <class P>
task<answered> ask(P& provider, const question& what) {
    answered got;
    auto answer = provider.generate(what.request());
    while (delta* each = co_await answer.peek()) {
        if (each->kind() == delta::type::text) got.text += each->content().view();
        got.deltas.push_back(in_words(*each));
    }
    got.outcome = std::move(answer.result());
    co_return got;
}

template <class P>
task<answered> ask(P& provider) {
    const question what;
    co_return co_await ask(provider, what);
}

inline token_counts tokens(std::int64_t output, std::int64_t total) {
    token_counts made;
    made.output = output;
    made.total = total;
    return made;
}

} // namespace thalweg::testing
