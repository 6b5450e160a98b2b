// SPDX-License-Identifier: BSL-1.0

#pragma once

// The environment of a session that only talks. Nothing of it can go wrong; no thread rule.

#include <thalweg/protocol/environment.hpp>

#include <vector>

namespace thalweg {

namespace environments {

/// Nothing to call; `thalweg::none` is one.
class no_tools {
public:
    [[nodiscard]] std::vector<tool_definition> tools() const { return {}; }
    /// Says that the tool is not known.
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context) const;
};
static_assert(is_environment<no_tools>);

} // namespace environments

/// The environment without tools.
inline constexpr environments::no_tools none;

} // namespace thalweg
