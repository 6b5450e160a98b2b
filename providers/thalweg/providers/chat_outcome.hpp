// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. How one exchange with a Chat Completions server ended, in the words of the engine:
// what the answer said about itself, and where it said nothing, what HTTP says. No thread rule.

#include <thalweg/net/http_events.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/chat_decoder.hpp>

#include <cstdint>
#include <string_view>

namespace thalweg::providers::detail {

/// The outcome of a request. The first decisive thing wins: what the decoder saw stands above how the
/// connection ended after that. `secret` does not appear in the message, even if the server repeats it
/// (H-21); `now_ms` is the wall clock, milliseconds since 1970.
[[nodiscard]] model_outcome chat_outcome(const chat_ending& said, const http::events_outcome& transport,
                                         std::string_view label, std::string_view secret,
                                         std::int64_t now_ms);

} // namespace thalweg::providers::detail
