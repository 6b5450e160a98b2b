// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. One chunk of a Chat Completions answer as views into its payload: what stands in it,
// whatever the order of its members, before any meaning across chunks. Members that are not named here are
// skipped and not checked beyond the grammar that simdjson needs to skip them (H-13). No thread rule.

#include <thalweg/protocol/events.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/json_string.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

enum class piece_kind : std::uint8_t { text, thinking, refusal };

struct chunk_piece {
    piece_kind kind;
    wire::raw_string raw;
};

/// One element of `tool_calls`, or the old `function_call`. Empty members are absent, null or empty on the
/// wire.
struct chunk_call {
    std::optional<std::int64_t> index;
    wire::raw_string id;
    wire::raw_string name;
    wire::raw_string arguments;
    bool arguments_are_json = false; ///< an object instead of a string: `arguments` is its JSON text
    bool is_whole = false;           ///< stands in a complete message: never continues another call
};

/// Thinking texts by the name of their member, in the order in which they count.
inline constexpr std::array<std::string_view, 3> thinking_names = {"reasoning_content", "reasoning",
                                                                   "reasoning_text"};

/// What one chunk says about choice 0 and the answer. Views live as long as the payload.
struct chat_chunk {
    std::vector<chunk_piece> pieces; ///< in the order in which they are to be said
    std::vector<chunk_call> calls;
    std::string_view
        thinking_name;        ///< the member that the thinking pieces stood in; empty for content arrays
    std::string_view details; ///< JSON text of a non-empty `reasoning_details` array
    std::optional<wire::raw_string> finish_reason;
    std::string_view error;       ///< JSON text of an `error` member that is none of null, false, ""
    bool is_error_object = false; ///< `"object": "error"`: the payload itself is the error
    bool has_choices = false;     ///< whether the member exists at all
    std::optional<token_counts> usage;

    void clear();
};

/// How much a chunk may say by complete messages instead of deltas.
enum class message_member : std::uint8_t {
    skip, ///< deltas have come: a `message` would say everything twice
    read, ///< a server that does not stream
};

/// One simdjson parser; reads one payload at a time.
class chunk_reader {
public:
    chunk_reader();
    ~chunk_reader();
    chunk_reader(chunk_reader&&) noexcept;
    chunk_reader& operator=(chunk_reader&&) noexcept;

    /// Reads `payload` into `into`, which is cleared first. Precondition: sse_parser::padding readable bytes
    /// follow the payload. Cost: no allocation once the buffers have grown.
    [[nodiscard]] wire::verdict read(std::string_view payload, message_member messages, chat_chunk& into);

    [[nodiscard]] std::string_view complaint() const noexcept;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace thalweg::providers::detail
