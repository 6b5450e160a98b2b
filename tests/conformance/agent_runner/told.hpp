// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a model is told, one line an item, whichever form it has: so that what convert_to_llm gave can be
// compared with what reached the provider (R-EVT-90, R-EVT-92).

#include <thalweg/agent/agent_message.hpp>
#include <thalweg/protocol/provider.hpp>

#include <span>
#include <string>
#include <vector>

namespace conformance {

/// Nothing comparable is left of messages that are broken: parts of them are kept from providers.
[[nodiscard]] bool is_comparable(std::span<const thalweg::agent_message> messages);
[[nodiscard]] std::vector<std::string> told_by(std::span<const thalweg::agent_message> messages);
[[nodiscard]] std::vector<std::string> told_by(const thalweg::model_request& request);

} // namespace conformance
