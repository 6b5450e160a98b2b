// SPDX-License-Identifier: BSL-1.0

#pragma once

// The names of events in JSON, in the order of the enums. For the sources of this room only.

#include <array>
#include <string_view>

namespace thalweg::detail {

inline constexpr std::array<std::string_view, 12> agent_event_names = {
    "agent_start",           "agent_end",          "turn_start",       "turn_end",
    "message_start",         "message_update",     "message_end",      "tool_execution_start",
    "tool_execution_update", "tool_execution_end", "auto_retry_start", "auto_retry_end"};

inline constexpr std::array<std::string_view, 9> assistant_update_names = {
    "text_start",   "text_delta",     "text_end",       "thinking_start", "thinking_delta",
    "thinking_end", "toolcall_start", "toolcall_delta", "toolcall_end"};

inline constexpr std::array<std::string_view, 5> agent_stop_names = {"stop", "length", "toolUse", "error",
                                                                     "aborted"};

inline constexpr std::array<std::string_view, 5> content_block_names = {"text", "thinking", "toolCall",
                                                                        "image", "omni"};

} // namespace thalweg::detail
