// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. Where OpenAI's two protocols are spoken, and what OpenAI itself refuses while the
// servers that speak its dialects may not. No thread rule.

#include <thalweg/wire/request_rules.hpp>

#include <string>
#include <string_view>

namespace thalweg::providers::detail {

/// Whether it is OpenAI's own server.
[[nodiscard]] bool is_openai(std::string_view base_url);

/// `given`, else the environment's OPENAI_BASE_URL, else OpenAI's own.
[[nodiscard]] std::string openai_base(std::string given);

/// OpenAI's rules at OpenAI; elsewhere those that hold everywhere.
[[nodiscard]] const wire::request_rules& openai_rules(std::string_view base_url);

} // namespace thalweg::providers::detail
