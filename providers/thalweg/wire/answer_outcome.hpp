// SPDX-License-Identifier: BSL-1.0

#pragma once

// How one exchange with a model's server ended, in the words of the engine: what the answer said about
// itself, and where it said nothing, what HTTP says. The one list of what is permanent, what is a matter of
// time and what means that the context is too long lies here, for all protocols. No thread rule.

#include <thalweg/net/http_events.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/endpoint.hpp>

#include <cstdint>

namespace thalweg::wire {

/// The outcome of a request to `at`. The first decisive thing wins: what the decoder saw stands above how the
/// connection ended after that. No secret of `at` appears in the message, even if the server repeats it
/// (H-21); `now_ms` is the wall clock, milliseconds since 1970.
[[nodiscard]] model_outcome answer_outcome(const answer_ending& said, const http::events_outcome& transport,
                                           const endpoint& at, std::int64_t now_ms);

} // namespace thalweg::wire
