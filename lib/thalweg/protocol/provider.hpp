// SPDX-License-Identifier: BSL-1.0

#pragma once

// The seam to a model: a provider turns one request into a stream of deltas and an outcome.
//
// A provider is stateless between requests: the engine owns the context and hands over all of it each time,
// so one provider object serves many sessions at once (all on one loop unless the provider says otherwise).
// It never retries (the engine does), never throws, and reacts to the stop token of the running coroutine.

#include <thalweg/async/stream.hpp>
#include <thalweg/protocol/delta.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// How one request ended. Built by a factory, refined by the `with_` members.
class model_outcome {
public:
    static model_outcome completed(finish why = finish::end, text raw_stop_reason = {});
    static model_outcome failed(std::string message);
    static model_outcome timeout(std::string message);
    static model_outcome malformed(std::string message);
    static model_outcome auth(std::string message);
    static model_outcome aborted();
    /// Of a provider whose generator ended without co_return: failed and permanent, with a sentence.
    static model_outcome without_co_return();

    model_outcome permanent() &&;        ///< the same request can never succeed
    model_outcome context_too_long() &&; ///< implies permanent; the agent may compact and go on
    model_outcome with_wait(
        std::chrono::milliseconds w) &&; ///< the provider's wish before a retry; a lower bound
    /// Of a failed request (D-03). Of a completed one: what attempts inside the provider have used that came
    /// to nothing; the session counts it, the request does not.
    model_outcome with_usage(token_counts counts) &&;
    model_outcome with_raw_stop_reason(text raw) &&;

    [[nodiscard]] stop_reason status() const noexcept { return status_; } ///< never none
    [[nodiscard]] finish why() const noexcept { return why_; }
    [[nodiscard]] const text& raw_stop_reason() const noexcept { return raw_stop_reason_; }
    [[nodiscard]] const std::string& message() const noexcept {
        return message_;
    } ///< chain of causes, no secrets (H-21)
    [[nodiscard]] bool is_permanent() const noexcept { return permanent_; }
    [[nodiscard]] bool is_context_too_long() const noexcept { return context_too_long_; }
    [[nodiscard]] std::optional<std::chrono::milliseconds> wait() const noexcept { return wait_; }
    [[nodiscard]] const std::optional<token_counts>& usage() const noexcept { return usage_; }

private:
    model_outcome() = default;
    static model_outcome with_status(stop_reason status, std::string message);

    stop_reason status_ = stop_reason::completed;
    finish why_ = finish::end;
    bool permanent_ = false;
    bool context_too_long_ = false;
    text raw_stop_reason_;
    std::string message_;
    std::optional<std::chrono::milliseconds> wait_;
    std::optional<token_counts> usage_;
};

/// One request to a model. The spans and lists belong to the engine and outlive the stream that generate()
/// returns.
class model_request {
public:
    model_request(std::span<const thalweg::message> history, std::span<const thalweg::message> input,
                  std::span<const tool_definition> tools, text system, text thinking_level) noexcept
        : history_(history),
          input_(input),
          tools_(tools),
          system_(std::move(system)),
          thinking_level_(std::move(thinking_level)) {}

    model_request with_response_schema(text json) && {
        response_schema_ = std::move(json);
        return std::move(*this);
    }

    /// Everything committed so far, complete messages only, in the order for the model.
    [[nodiscard]] std::span<const thalweg::message> history() const noexcept { return history_; }
    /// What is new in this request; comes after the history.
    [[nodiscard]] std::span<const thalweg::message> input() const noexcept { return input_; }
    [[nodiscard]] std::span<const tool_definition> tools() const noexcept { return tools_; }
    [[nodiscard]] const text& system() const noexcept { return system_; }
    [[nodiscard]] const text& thinking_level() const noexcept {
        return thinking_level_;
    } ///< empty = the model's default

    /// JSON Schema of an object that the answer's text is to be; empty = any text. For providers that can ask
    /// their model for it; the others leave it alone, since the prompt says it as well.
    [[nodiscard]] const text& response_schema() const noexcept { return response_schema_; }

    /// The last user text of the input, or empty.
    [[nodiscard]] std::string_view last_text() const noexcept;

private:
    std::span<const thalweg::message> history_;
    std::span<const thalweg::message> input_;
    std::span<const tool_definition> tools_;
    text system_;
    text thinking_level_;
    text response_schema_;
};

namespace detail {

template <class P>
concept has_generate = requires { &P::generate; } ||
                       requires(P& p, model_request r) { p.generate(std::move(r)); };
template <class P>
concept generate_takes_request = requires(P& p, model_request r) { p.generate(std::move(r)); };
template <class P>
concept generate_returns_stream = requires(P& p, model_request r) {
    { p.generate(std::move(r)) } -> std::same_as<stream<delta, model_outcome>>;
};

} // namespace detail

/// A model behind `stream<delta, model_outcome> generate(model_request)`.
template <class P>
concept Provider = detail::generate_returns_stream<std::unwrap_reference_t<P>>;

/// The same question as Provider, but a "no" stops the build with a sentence that names what is missing.
template <class P>
consteval bool check_provider() {
    using type = std::unwrap_reference_t<P>;
    constexpr bool named = detail::has_generate<type>;
    static_assert(
        named, "thalweg: a provider needs the member `stream<delta, model_outcome> generate(model_request)`; "
               "this type has no generate");
    if constexpr (named) {
        constexpr bool takes = detail::generate_takes_request<type>;
        static_assert(takes, "thalweg: a provider's generate must take one `model_request` by value");
        if constexpr (takes) {
            static_assert(detail::generate_returns_stream<type>,
                          "thalweg: a provider's generate must return `stream<delta, model_outcome>`");
        }
    }
    return Provider<P>;
}

template <class P>
inline constexpr bool is_provider = check_provider<P>();

} // namespace thalweg
