// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who takes part in bench-decode. `input` outlives the contender; an item is an event of it, and a turn
// always reads whole bodies.

#include "chat_stream.hpp"
#include "harness.hpp"

namespace thalweg::bench {

// simdjson merely reads the fields that the library reads.
contender simdjson_reads(const chat_stream& input);
// Events only: the library's event-stream parser.
contender thalweg_events(const chat_stream& input);
// Bytes to deltas: event-stream parser and decoder.
contender thalweg_deltas(const chat_stream& input);
// Bytes to the messages of the session's stream: the same and the framing of the engine.
contender thalweg_messages(const chat_stream& input);

std::string simdjson_version();

} // namespace thalweg::bench
