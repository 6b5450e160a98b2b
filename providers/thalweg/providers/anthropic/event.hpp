// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. One event of an Anthropic answer as views into its payload: what stands in it,
// whatever the order of its members, before any meaning across events. No thread rule.

#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/json_string.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace thalweg::providers::detail {

/// Counts as far as the event states them; null and absent ones are not there.
struct anthropic_usage {
    std::optional<std::int64_t> input;
    std::optional<std::int64_t> cache_read;
    std::optional<std::int64_t> cache_write;
    std::optional<std::int64_t> output;
};

struct anthropic_event {
    wire::raw_string type; ///< of the event
    std::int64_t index = -1;
    std::string_view message_id; ///< as it stands in the payload
    wire::raw_string part;       ///< type of the content block or of the delta
    wire::raw_string id;         ///< of a tool call
    wire::raw_string name;
    wire::raw_string text; ///< text, thinking or a piece of arguments: whatever the part is about
    wire::raw_string signature;
    wire::raw_string data;  ///< of redacted thinking
    std::string_view input; ///< JSON text of a call's input that came whole; empty = none, or `{}`
    wire::raw_string stop_reason;
    anthropic_usage usage;
};

/// One simdjson parser; reads one payload at a time.
class anthropic_reader {
public:
    anthropic_reader();
    ~anthropic_reader();
    anthropic_reader(anthropic_reader&&) noexcept;
    anthropic_reader& operator=(anthropic_reader&&) noexcept;

    /// Precondition: sse_parser::padding readable bytes follow the payload. Cost: no allocation once the
    /// buffers have grown.
    [[nodiscard]] wire::verdict read(std::string_view payload, anthropic_event& into);
    [[nodiscard]] std::string_view complaint() const noexcept;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace thalweg::providers::detail
