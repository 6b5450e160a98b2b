// SPDX-License-Identifier: BSL-1.0

#pragma once

// Makes a context out of messages that came from somewhere: a program's own store, a list that was cut or
// filtered. Providers refuse a context whose calls and outputs do not pair, and with it each later request,
// so such a list never gets into a session as it is (H-01).
//
// Plain functions; no thread rule. Nothing can fail but memory.

#include <thalweg/protocol/message.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace thalweg {

/// The output of a call that has none in a history that was handed over; its stop reason is aborted.
inline constexpr std::string_view missing_output = "[no output: the history has none for this call]";

/// Puts behind each answer of `history` one output for each of its calls, in call order: its own where there
/// is one before the next answer, else `missing_output`. Outputs of the last answer may stand in `carry_over`
/// instead, which is not submitted yet. Left out is what pairs with nothing: an output without a call before
/// it, a second one, a call that is closure only (R-PRO-28), a second call of one answer with the same id.
/// Returns how many messages were made up or left out; a context in order stays as it is.
[[nodiscard]] std::size_t repair_context(std::vector<message>& history, std::vector<message>& carry_over);

} // namespace thalweg
