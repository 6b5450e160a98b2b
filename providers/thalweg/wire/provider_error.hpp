// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. What a server says about a failure, read from the many forms that servers of the
// Chat Completions kind use for it. No thread rule.

#include <thalweg/protocol/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg::wire {

struct provider_error {
    std::string message; ///< for people, as sent, valid UTF-8
    std::string type;
    std::string code; ///< a word; a number lies in `status`
    int status = 0;   ///< a code that is an HTTP status; 0 = none
    std::optional<std::chrono::milliseconds> retry_delay;

    /// "type, code: message" with what there is of it; "no reason given" if there is nothing.
    [[nodiscard]] std::string sentence() const;
};

/// Reads `{"error": {…}}`, `{"error": "text"}`, `{"detail": …}`, `{"message", "code"}` and an array of them.
/// Nothing if the text is not JSON or says nothing about an error.
[[nodiscard]] std::optional<provider_error> read_error(std::string_view json);

/// The value of an `error` member itself: an object or a text. Null, false and empty ones are no errors.
[[nodiscard]] std::optional<provider_error> read_error_value(const json::view& value);

} // namespace thalweg::wire
