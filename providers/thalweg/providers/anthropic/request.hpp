// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. What goes out: the JSON body of one Anthropic Messages request, a pure function of
// options and request. No thread rule.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/anthropic.hpp>

#include <string>

namespace thalweg::providers::detail {

/// Why the server would refuse this request, as a sentence with the rule; empty = it would not.
[[nodiscard]] std::string anthropic_refusal(const model_request& request);

/// The whole body. Always valid JSON in valid UTF-8, whatever the messages hold. Precondition:
/// `options.extra` is empty or a JSON object.
[[nodiscard]] std::string anthropic_request_body(const anthropic_options& options,
                                                 const model_request& request);

} // namespace thalweg::providers::detail
