// SPDX-License-Identifier: BSL-1.0

#pragma once

// The JSON form of agent messages and events (D-44): for recorders, snapshot tests, transports and saved
// transcripts. The names are those of the event stream (agent_start, toolCallId, stopReason, …).
//
// Writers append one line without a line end. Readers are strict: a missing member, a wrong type or an
// unknown word is an error whose sentence has the byte offset and the path; members that nobody knows are
// skipped, those of a custom message are kept. What was written is read back equal, but for the white
// space in JSON of several lines that a message carries along (details, fidelity).
//
// A call's arguments that are no JSON object (they still stream, or the model wrote something else) are
// written as `"arguments":{}` with the text beside it as `"partialJson"`; `args` of a tool event that are no
// object are written as a string.
//
// No thread rule: everything here may be called from any thread.

#include <thalweg/agent/agent_event.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

void append_json(std::string& out, const agent_message& m);
[[nodiscard]] std::string to_json(const agent_message& m);

void append_json(std::string& out, const agent_event& e);
[[nodiscard]] std::string to_json(const agent_event& e);

/// A whole transcript as one JSON array.
[[nodiscard]] std::string transcript_json(std::span<const agent_message> messages);

/// `customs` are the program's own types (custom_types<…>()): a message of one of these roles gets its value
/// and is an error if its members do not fit. Other roles are read as data.
/// Errors: code json::errc; "expected WHAT at byte N (PATH)".
[[nodiscard]] result<agent_message> parse_agent_message(std::string_view text,
                                                        std::span<const custom_type* const> customs = {});
[[nodiscard]] result<agent_event> parse_agent_event(std::string_view text,
                                                    std::span<const custom_type* const> customs = {});
[[nodiscard]] result<std::vector<agent_message>> parse_transcript(
    std::string_view text, std::span<const custom_type* const> customs = {});

} // namespace thalweg
