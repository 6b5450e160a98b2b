// SPDX-License-Identifier: BSL-1.0

#pragma once

// What is sent and what comes back over HTTP, as plain values. No thread rule.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::http {

/// One header field. Names of a response are in lower case; names of a request go out as written.
struct header {
    std::string name;
    std::string value;
};

/// How long a request may wait, each measured in real time; zero = no limit. Network time is real time, also
/// on a loop with virtual time.
struct timeouts {
    /// Name lookup, connection and TLS handshake together.
    std::chrono::milliseconds connect{30'000};
    /// From the start until the first byte of the answer: silence counts from the moment of sending (H-20).
    std::chrono::milliseconds first_byte{300'000};
    /// Between two bytes of the answer; any byte counts, a comment too. Does not run while the reader is so
    /// slow that nothing more is taken from the socket.
    std::chrono::milliseconds idle{300'000};
    /// The whole exchange.
    std::chrono::milliseconds total{0};
};

/// One request. `url` is absolute, http or https; user name and password in it become basic authentication.
/// Redirects are not followed, because a key in a header would follow them.
struct request {
    std::string method = "POST";
    std::string url;
    std::vector<header> headers = {};
    std::string body = {};
    http::timeouts timeouts = {};
};

/// Status line and headers of an answer.
struct response_head {
    int status = 0; ///< 0: none arrived
    std::vector<header> headers;

    /// The value of the first header of that name (in lower case), or nothing.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept {
        for (const auto& each : headers)
            if (each.name == name) return each.value;
        return std::nullopt;
    }
};

} // namespace thalweg::http
