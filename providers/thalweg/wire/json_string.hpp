// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. Text out of JSON strings that lie in a payload, without an intermediate copy: the end
// of a string is found where it stands, and only what is kept is copied, once.
//
// A provider may send half of a surrogate pair in one string and the other half in the next one;
// `string_joiner` puts them together, and makes U+FFFD of halves that stay alone (H-14). No thread rule.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::wire {

/// The inside of a JSON string as it stands in the payload.
struct raw_string {
    std::string_view bytes;
    bool escaped = false; ///< has a backslash: is not yet text
};

/// The string that begins at `inside`, the byte behind the opening quote. Preconditions: a closing quote
/// follows (simdjson has checked that), and at least 8 readable bytes follow the text that holds it.
[[nodiscard]] raw_string string_at(const char* inside) noexcept;

/// Unescapes consecutive strings of one text.
class string_joiner {
public:
    /// Appends the text of `raw` to `out`. False: it holds an escape that JSON does not know.
    [[nodiscard]] bool append(std::string_view raw, std::string& out);

    /// The text ends: a half that waits becomes U+FFFD.
    void flush(std::string& out);

    /// Whether half a pair waits for the next string.
    [[nodiscard]] bool waits() const noexcept { return high_ != 0; }

private:
    void add_unit(std::uint16_t unit, std::string& out);

    std::uint16_t high_ = 0;
};

} // namespace thalweg::wire
