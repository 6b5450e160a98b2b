// SPDX-License-Identifier: BSL-1.0

#pragma once

// A request whose answer is an event stream, as a stream of events. It decides by status and content type
// whether there is an event stream at all, so a decoder sees events of a good answer and nothing else; error
// bodies and JSON answers come in the outcome.
//
//     auto events = http::events(client::of(loop), std::move(request));
//     while (auto event = co_await events.next()) decode(event->data);
//     if (events.result().kind != outcome_kind::ok) …
//
// Thread rule: loop thread only. Nothing throws.

#include <thalweg/async/stream.hpp>
#include <thalweg/net/http.hpp>
#include <thalweg/net/sse.hpp>

#include <cstddef>
#include <string>

namespace thalweg::http {

/// How an event stream ended. `kind` is ok when HTTP and the event grammar were kept; whether the protocol's
/// own end marker came is the decoder's question.
struct events_outcome : outcome {
    /// Of an answer that was no event stream: the error body (at most 64 KiB), or the whole JSON text of a
    /// server that ignored the wish for a stream (kind ok, no events).
    std::string body;
    /// The first 512 bytes of whatever came, for messages about it.
    std::string excerpt;
    /// Bare JSON lines between the events, see sse_parser::stray().
    std::string stray;
    /// The content type is none that can hold an answer: a web page, mostly. kind is malformed then.
    bool foreign = false;
    /// The body stopped inside an event, which was dropped.
    bool cut = false;
};

/// Sends the request (with `Accept: text/event-stream` unless it names another) when the stream is first
/// read.
///
/// Each event is a view that is valid until the next call of next() or peek(); where an event arrived whole,
/// its data lies in the receive buffer, not in a copy. sse_parser::padding readable bytes follow it. Cancel:
/// a stop request ends it with kind cancelled; dropping the stream closes the connection. Lifetime: `on`
/// outlives the stream. Errors: see events_outcome; a 2xx answer without a body, with a foreign content type
/// (HTML of a proxy) or beyond `limits` is malformed.
[[nodiscard]] stream<sse_event, events_outcome> events(client& on, request what, sse_limits limits = {});

} // namespace thalweg::http
