// SPDX-License-Identifier: BSL-1.0

#pragma once

// The data of model_catalogue.hpp. Private to this room.

#include <cstdint>
#include <span>
#include <string_view>

namespace thalweg::providers::detail {

enum class known_thinking : std::uint8_t { never, optional, always, unknown };

/// A row of the table. Numbers in tokens, 0 = not known.
struct known_model {
    std::string_view name; ///< with a ':' at its end: of exactly this model and its tags
    std::int64_t window;
    std::int64_t output;
    bool sees;
    bool makes;
    bool tools;
    known_thinking thinking;
    std::string_view levels; ///< words with blanks between them; empty = none that have names
};

[[nodiscard]] std::span<const known_model> known_model_rows() noexcept;

} // namespace thalweg::providers::detail
