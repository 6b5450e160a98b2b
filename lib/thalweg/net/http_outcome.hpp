// SPDX-License-Identifier: BSL-1.0

#pragma once

// How an HTTP exchange ended. Exactly one kind; the first decisive thing wins. No thread rule.

#include <thalweg/net/http_message.hpp>

#include <cstdint>
#include <string>

namespace thalweg::http {

enum class outcome_kind : std::uint8_t {
    ok, ///< status 2xx and the whole body arrived; whether the body makes sense is the reader's question
    http_error, ///< any other status; the body may hold the reason
    rejected,   ///< not sent at all: the URL, the method or a header is not valid. The same request never
                ///< succeeds
    transport,  ///< name lookup, connection, TLS or the connection while it was used
    timeout,    ///< one of our own limits ran out, see `timed_out`
    malformed,  ///< the bytes are not what HTTP (or the event stream) promises: cut short, garbage, too large
    cancelled,  ///< the reader was asked to stop, or the client is gone
};

/// Which limit of `timeouts` ran out.
enum class timeout_kind : std::uint8_t { none, connect, first_byte, idle, total };

struct outcome {
    outcome_kind kind = outcome_kind::ok;
    timeout_kind timed_out = timeout_kind::none;
    response_head head;

    /// One line for people: method, URL without user, password and query, then the chain of causes. Never the
    /// value of a header, never a part of the request (H-21). Empty when ok.
    std::string message;
};

} // namespace thalweg::http
