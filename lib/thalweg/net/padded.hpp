// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. Appending so that a parser that reads in blocks may look behind the end (H-58): the
// promise of sse_parser::padding is kept here and nowhere else.

#include <thalweg/net/sse.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// Appends and keeps `sse_parser::padding` bytes of capacity behind the text. Grows at least twofold.
inline void append_padded(std::string& to, std::string_view text) {
    const auto needed = to.size() + text.size() + sse_parser::padding;
    if (to.capacity() < needed) to.reserve(std::max(needed, 2 * to.capacity()));
    to.append(text);
}

} // namespace thalweg::detail
