// SPDX-License-Identifier: BSL-1.0

#pragma once

// The scenario's scripts in the words of the test kit.

#include "scenario.hpp"

#include <thalweg/protocol/message.hpp>
#include <thalweg/testing/scripted.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace conformance {

[[nodiscard]] thalweg::providers::scripted model_of(const json::array& requests);
[[nodiscard]] thalweg::testing::tool_script tool_steps(const json::array& steps);

/// What stands under `input`; nothing if there is none.
[[nodiscard]] std::vector<thalweg::message> input_of(const json::object& operation);

/// The id as the provider gave it: scripts are looked up by it.
[[nodiscard]] std::string provider_id(std::string_view session_id);

/// Some tool's environment breaks: it has no frames then, not even one on entry.
[[nodiscard]] bool breaks(const scenario& s);

/// The constants of the recordings.
[[nodiscard]] thalweg::session_meta recorded_meta();

} // namespace conformance
