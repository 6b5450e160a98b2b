// SPDX-License-Identifier: BSL-1.0

#pragma once

// Chat Completions answers for tests of their decoder.

#include "providers/transcript.hpp"

#include <thalweg/providers/chat/decoder.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::testing {

using chat_transcript = transcript<providers::chat_decoder>;

/// A chunk whose choice 0 has this delta.
inline std::string chunk(std::string_view delta) {
    return R"({"choices":[{"index":0,"delta":{)" + std::string(delta) + R"(},"finish_reason":null}]})";
}
inline std::string last_chunk(std::string_view reason) {
    return R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) + R"("}]})";
}
inline std::string calls(std::string_view list) {
    return chunk(R"("tool_calls":[)" + std::string(list) + "]");
}

/// The transcript of whole events.
inline std::string transcript_of(const std::vector<std::string>& events) {
    chat_transcript all;
    for (const std::string& each : events)
        all.event(each);
    return all.finish();
}

} // namespace thalweg::testing
