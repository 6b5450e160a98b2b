// SPDX-License-Identifier: BSL-1.0

#pragma once

// Several providers as one: the first that answers counts.
//
//     providers::fallback model(providers::openai_chat({.model = "gpt-5-mini"}), std::ref(local));
//
// Each request begins with the first provider. When that one fails before it has given anything, the next one
// is asked the same, and so on. Once a delta has been handed on there is no way back: the session shows it
// already, so the failure is the session's to retry, which begins with the first provider again.
//
// Every failure counts, those that would never go away as well: refused credentials, an unknown model or a
// context that is too long for the first provider say nothing about the next one. Answers that are completed
// (refusals and length stops are) and interrupts end the request.
//
// When all have failed the message has all causes in order, and the rest of the outcome is what the session
// needs to know before it tries them all again:
//
// | member | is |
// | --- | --- |
// | status | that of all if they agree, else failed; so auth only if no key was taken |
// | permanent | if every one was, refused credentials included |
// | context_too_long | if every one is hopeless and at least one for that: compacting may help then |
// | wait | the shortest wish among those worth another try, none if one of them has none |
// | usage | the sum (D-03) |
//
// What the failed ones have used is not lost when a later one completes: it is in the outcome, which the
// session adds to its own counts and not to those of the request.
//
// Thread rule: as the providers inside; they are asked one after the other.

#include <thalweg/protocol/provider.hpp>

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace thalweg::providers {

/// The n-th provider, from 0, has failed with nothing said, and the next one is asked.
struct provider_switch {
    std::size_t from = 0;
    std::size_t to = 0;
    const model_outcome* why = nullptr; ///< during the call only
};
/// What it throws fails the request.
using switch_listener = std::function<void(const provider_switch&)>;

namespace detail {

/// Providers in a row, whatever their types are. Outlives the streams.
class provider_row {
public:
    virtual stream<delta, model_outcome> ask(std::size_t which, model_request request) = 0;
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;

    switch_listener on_switch;

protected:
    ~provider_row() = default;
};

[[nodiscard]] stream<delta, model_outcome> first_answer(provider_row& row, model_request request);

} // namespace detail

/// A P may be a std::reference_wrapper: then the provider outlives this one. Not to be moved while one of its
/// streams is read, and outlives them.
template <class... P>
class fallback {
    static_assert(sizeof...(P) > 0, "thalweg: fallback needs at least one provider");
    static_assert((check_provider<P>() && ...));

public:
    explicit fallback(P... inner) : row_(std::move(inner)...) {}

    /// To be told of each switch, on the loop's thread, before the next provider is asked.
    fallback& on_switch(switch_listener listener) & {
        row_.on_switch = std::move(listener);
        return *this;
    }
    fallback&& on_switch(switch_listener listener) && {
        row_.on_switch = std::move(listener);
        return std::move(*this);
    }

    /// Cancel: reaches the provider that is being asked; no other one is asked then.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return detail::first_answer(row_, std::move(request));
    }

private:
    class row final : public detail::provider_row {
    public:
        explicit row(P... inner) : inner_(std::move(inner)...) {}
        stream<delta, model_outcome> ask(std::size_t which, model_request request) override {
            return ask_from<0>(which, std::move(request));
        }
        [[nodiscard]] std::size_t size() const noexcept override { return sizeof...(P); }

    private:
        template <std::size_t At>
        stream<delta, model_outcome> ask_from(std::size_t which, model_request request) {
            if constexpr (At + 1 < sizeof...(P)) {
                if (which != At) return ask_from<At + 1>(which, std::move(request));
            }
            std::unwrap_reference_t<std::tuple_element_t<At, std::tuple<P...>>>& it = std::get<At>(inner_);
            return it.generate(std::move(request));
        }
        std::tuple<P...> inner_;
    };

    row row_;
};

} // namespace thalweg::providers
