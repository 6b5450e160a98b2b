// SPDX-License-Identifier: BSL-1.0

#pragma once

// The summary that takes the place of a context after a compaction: taken out of what the model answered, and
// put into the message that the next context begins with. A compaction and a resume of its file must read the
// same answer in the same way, so both do it here.
//
// Pure functions. Any thread.

#include <thalweg/protocol/message.hpp>

#include <span>
#include <string>
#include <string_view>

namespace thalweg {

/// The summary inside `answer` (R-ENG-72): what the first pair of `[summary]` tags holds that holds anything,
/// else the same with `<summary>`; without such a pair the whole text. Tags inside of it are taken out, white
/// space at its ends (ASCII) too. Empty = the answer is unusable as a summary.
[[nodiscard]] std::string extract_summary(std::string_view answer);

/// The same of an answer in messages: its complete assistant texts, one behind the other without anything
/// between.
[[nodiscard]] std::string extract_summary(std::span<const message> answer);

/// The user text that a new context begins with (R-ENG-77). `summary` is verbatim. Not stamped.
[[nodiscard]] message context_summary(std::string_view summary);

} // namespace thalweg
