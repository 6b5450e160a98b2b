// SPDX-License-Identifier: BSL-1.0

#pragma once

// Bodies for bench-decode: a made-up answer in the wire form of OpenAI Chat Completions, or a recording.

#include <cstdint>
#include <string>

namespace thalweg::bench {

// A body of server-sent events. `bytes` has at least 64 readable bytes behind its end.
struct chat_stream {
    std::string name;
    std::string bytes;
    std::uint64_t events = 0; // with data
};

// Answers of short text deltas, with some reasoning and tool calls, until `size` bytes are reached: about 300
// bytes an event, one piece of 1 to 12 characters each, a few of them with escapes or beyond ASCII.
chat_stream synthetic_chat_stream(std::size_t size);

// A recorded body, or one JSON chunk per line, repeated until `size` bytes are reached. Prints why and exits
// when the file cannot be used.
chat_stream recorded_chat_stream(const std::string& path, std::size_t size);

} // namespace thalweg::bench
