// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. What goes out: the JSON body of one Chat Completions request, a pure function of
// options and request. No thread rule.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/openai_chat.hpp>

#include <string>

namespace thalweg::providers::detail {

/// The whole body. Always valid JSON in valid UTF-8, whatever the messages hold. Precondition:
/// `options.extra` is empty or a JSON object, and `automatic` settings are resolved (resolved()).
[[nodiscard]] std::string chat_request_body(const openai_chat_options& options, const model_request& request);

/// The options with what depends on the address filled in.
[[nodiscard]] openai_chat_options resolved(openai_chat_options options);

/// Appends the value of `messages`. The history is repaired on the way, so that every server takes it (H-01):
/// each call of an answer has exactly one result, in call order, before anything else; results without a
/// call, calls that never became whole, and thinking that nobody wants back are left out.
void append_chat_messages(std::string& out, const openai_chat_options& options, const model_request& request);

} // namespace thalweg::providers::detail
