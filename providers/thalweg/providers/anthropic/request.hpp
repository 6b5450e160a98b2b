// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. What goes out: the JSON body of one Anthropic Messages request, a pure function of
// options and request. No thread rule.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/anthropic.hpp>
#include <thalweg/wire/request_rules.hpp>

#include <string>

namespace thalweg::providers::detail {

/// What the server refuses.
[[nodiscard]] const wire::request_rules& anthropic_rules();

/// The whole body. Always valid JSON in valid UTF-8, whatever the messages hold. Precondition:
/// `options.extra` is empty or a JSON object.
[[nodiscard]] std::string anthropic_request_body(const anthropic_options& options,
                                                 const model_request& request);

} // namespace thalweg::providers::detail
