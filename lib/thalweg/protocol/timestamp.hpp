// SPDX-License-Identifier: BSL-1.0

#pragma once

// The only form of time on the wire: `YYYY-MM-DDThh:mm:ss.mmmZ`, UTC, always 24 characters.
//
// Pure functions: any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace thalweg {

inline constexpr std::size_t timestamp_length = 24;

/// Writes the 24 characters to `out`. `ms_since_epoch` must lie in the years 0 to 9999.
void format_timestamp(char* out, std::int64_t ms_since_epoch) noexcept;

/// Milliseconds since 1970, or nothing if `written` is not exactly of the form, or no date of the calendar.
[[nodiscard]] std::optional<std::int64_t> parse_timestamp(std::string_view written) noexcept;

} // namespace thalweg
