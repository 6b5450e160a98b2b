// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a model is told about a tool, and what people are told beside it (D-13).

#include <thalweg/protocol/text.hpp>

#include <chrono>
#include <optional>

namespace thalweg {

/// What a call may take whose tool is a session: it has several requests to make, and their retries.
inline constexpr std::chrono::milliseconds session_call_timeout{600'000};

/// A plain value: copied freely, no thread rule.
struct tool_definition {
    text name;        ///< `[A-Za-z0-9_-]{1,64}`, unique in its environment
    text description; ///< for the model
    text parameters;  ///< JSON Schema of an object, as JSON text; empty = none
    text label = {};  ///< for people; empty = the name
    /// What one call may take (R-ENV-05); zero or less: any time. Without it, and where the session has
    /// limits for this very tool, those of the session hold.
    std::optional<std::chrono::milliseconds> timeout = {};
    bool sequential = false; ///< no other call of an agent's answer runs beside it (R-EVT-34)
};

} // namespace thalweg
