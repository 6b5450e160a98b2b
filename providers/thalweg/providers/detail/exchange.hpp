// SPDX-License-Identifier: BSL-1.0

#pragma once

// One request and its answer as a line of a recording. Values; private to this room.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/detail/redactor.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

/// A delta that was copied, with the time since the request began.
struct kept_delta {
    delta::type type = delta::type::end;
    text content;
    text id;
    token_counts counts;
    message whole;
    std::optional<std::chrono::milliseconds> at;

    [[nodiscard]] static kept_delta of(delta& seen);
    [[nodiscard]] delta play() const;
};

struct exchange {
    std::string request; ///< as describe_request() gives it
    std::vector<kept_delta> answer;
    model_outcome outcome = model_outcome::aborted();
    std::optional<std::chrono::milliseconds> ended_at;
};

/// Replaces the secrets of the answer and the outcome, those too that came in pieces. Error: a whole message
/// that is none any more without them.
[[nodiscard]] result<void> redact(exchange& kept, const redactor& secrets);

/// Appends `{"exchange":1,"request":…,"answer":[…],"outcome":{…}}`, without a line end.
void append_json(std::string& out, const exchange& kept);

/// Errors: json::errc, with byte offset in `line`, member and what was expected.
[[nodiscard]] result<exchange> parse_exchange(std::string_view line);

} // namespace thalweg::providers::detail
