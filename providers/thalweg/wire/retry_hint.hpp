// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. How long a server asks to be left alone, from the places where servers say it. The
// engine takes it as a lower bound of its own wait (D-05). No thread rule.

#include <thalweg/net/http_message.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace thalweg::wire {

/// "39s", "0.6s", "6m0s", "120ms", "1h2m": sums of decimal numbers with a unit. Nothing if it is of another
/// form.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "Sun, 06 Nov 1994 08:49:37 GMT" as milliseconds since 1970; nothing if it is of another form.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

/// What the headers of an error answer ask for: `retry-after-ms`, `retry-after` (seconds or a date), and on a
/// 429 the shortest of the `x-ratelimit-reset-*` that belong to a used-up limit (of all, if none says so).
/// `now_ms`: wall clock, milliseconds since 1970.
[[nodiscard]] std::optional<std::chrono::milliseconds> retry_after(const http::response_head& head,
                                                                   std::int64_t now_ms);

} // namespace thalweg::wire
