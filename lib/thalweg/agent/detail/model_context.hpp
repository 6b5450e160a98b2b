// SPDX-License-Identifier: BSL-1.0

#pragma once

// From a transcript to what a provider gets: the model boundary behind convert_to_llm. Whatever a host did to
// the transcript, what leaves here is legal for a model:
//
//   * behind each answer stand the results of its calls, in call order (R-EVT-32);
//   * a call without a result gets a placeholder that says so, one of a broken answer is left out, the rest
//   of
//     which stays (R-EVT-64);
//   * a result without a call is shown as a text of the user.
//
// Pure functions; any thread.

#include <thalweg/agent/agent_message.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/protocol/result.hpp>

#include <span>
#include <vector>

namespace thalweg::detail {

/// Errors: agent_errc::hook_failed, naming a message of a type that no model takes.
[[nodiscard]] result<std::vector<message>> model_context(std::span<const agent_message> messages);

/// How many of `context`'s messages, from its front, are history; the rest is new to the model.
[[nodiscard]] std::size_t history_size(std::span<const message> context) noexcept;

/// An image block as a model message takes it: its URL, or a data URL.
[[nodiscard]] text image_url_of(const content_block& image);

} // namespace thalweg::detail
