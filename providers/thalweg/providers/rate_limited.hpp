// SPDX-License-Identifier: BSL-1.0

#pragma once

// Requests that wait their turn, so that an account's limits are kept instead of run into:
//
//     const providers::rate_limit account({.requests = 50, .per = 1min, .concurrent = 4});
//     providers::rate_limited large(providers::anthropic({.model = "claude-opus-4-5"}), account);
//     providers::rate_limited small(providers::anthropic({.model = "claude-haiku-4-5"}), account);
//
// First come, first served, over all providers and sessions that share the limit. An outcome's wish to wait
// (a 429 with Retry-After) holds everybody back, not only the one who was told.
//
// A request that waits has sent nothing and yields nothing; an interrupt, or dropping its stream, takes it
// out of the line at once and leaves the others where they are. Time is the loop's, so virtual in tests.
//
// Thread rule: one loop. A limit and all that share it belong to the sessions of one loop.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/detail/provider_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace thalweg::providers {

struct rate_limit_options {
    std::size_t requests = 0; ///< begun within any `per`, interrupted ones too; 0 = any number
    /// Reported within any `per`, by answers and failures; a request begins only while fewer have been. 0 =
    /// any number. What a request will take is not known before, so the limit may be exceeded by those that
    /// run.
    std::int64_t tokens = 0;
    std::chrono::milliseconds per{60'000};
    std::size_t concurrent = 0; ///< at the same time; 0 = any number
    /// A provider's wish to wait is cut to this; zero or less: it holds nobody back.
    std::chrono::milliseconds longest_hold{60'000};
};

namespace detail {
class rate_queue;

[[nodiscard]] stream<delta, model_outcome> in_turn(std::shared_ptr<rate_queue> line, provider_ref inner,
                                                   model_request request);
} // namespace detail

/// A limit. Copies are the same limit.
class rate_limit {
public:
    explicit rate_limit(rate_limit_options options);

    [[nodiscard]] std::size_t waiting() const noexcept; ///< requests in the line
    [[nodiscard]] std::size_t running() const noexcept; ///< requests whose outcome is to come

private:
    template <class P>
    friend class rate_limited;
    std::shared_ptr<detail::rate_queue> line_;
};

/// P may be a std::reference_wrapper: then the provider outlives this one. Not to be moved while one of its
/// streams is read, and outlives them.
template <class P>
class rate_limited {
    static_assert(check_provider<P>());

public:
    rate_limited(P inner, rate_limit limit) : inner_(std::move(inner)), limit_(std::move(limit)) {}
    rate_limited(P inner, rate_limit_options options) : rate_limited(std::move(inner), rate_limit(options)) {}

    /// Suspends: until it is the request's turn, then as the provider inside.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return detail::in_turn(limit_.line_, detail::provider_ref::to(inner_), std::move(request));
    }

    [[nodiscard]] const rate_limit& limit() const noexcept { return limit_; }

private:
    P inner_;
    rate_limit limit_;
};

} // namespace thalweg::providers
