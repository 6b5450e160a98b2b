// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a turn that did not go straight leaves for the model: text blocks that tell it what happened
// (R-ENG-43, R-ENG-53). They reach the model only, never the stream or the trace.

#include <thalweg/protocol/message.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

/// Collects the lines of one `[turn_aborted]` or `[turn_retried]` block. Bodies are verbatim.
class turn_block {
public:
    explicit turn_block(std::string_view tag) : tag_(tag) {}

    /// A user text of the request's input. One that is itself a whole block is unwrapped: always one level
    /// (R-ENG-44).
    void add_input(std::string_view text);
    /// What one attempt produced: thinking and text in order, then calls, then outputs in call order.
    /// Closure-only calls are left out (R-ENG-45).
    void add_attempt(std::span<const message> segments, std::span<const message> outputs);

    [[nodiscard]] bool has_lines() const noexcept { return !lines_.empty(); }
    [[nodiscard]] message to_message() const; ///< one user text

private:
    void line(std::string_view content);

    std::string tag_;
    std::string lines_;
};

/// The text that stands in for the output of a call that was interrupted (R-ENG-40).
inline constexpr std::string_view interrupted_output = "[interrupted: tool aborted by user]";

} // namespace thalweg
