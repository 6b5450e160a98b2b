// SPDX-License-Identifier: BSL-1.0

#pragma once

// Says what is wrong with a context that is handed to a model: every call of an answer has exactly one output
// directly behind its answer, in call order, and every output has its call (H-01, H-02). Outputs that stand
// in for calls that were interrupted may come behind the others (R-ENG-40).

#include <thalweg/protocol/message.hpp>

#include <span>
#include <string>

namespace thalweg::testing {

/// A sentence about the first fault in `history` followed by `input`, or empty.
[[nodiscard]] std::string context_fault(std::span<const message> history, std::span<const message> input);

} // namespace thalweg::testing
