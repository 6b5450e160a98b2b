// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a model is told about a tool, and what people are told beside it (D-13).

#include <thalweg/protocol/text.hpp>

namespace thalweg {

/// A plain value: copied freely, no thread rule.
struct tool_definition {
    text name;        ///< `[A-Za-z0-9_-]{1,64}`, unique in its environment
    text description; ///< for the model
    text parameters;  ///< JSON Schema of an object, as JSON text; empty = none
    text label = {};  ///< for people; empty = the name
};

} // namespace thalweg
