// SPDX-License-Identifier: BSL-1.0

#pragma once

// Asks a person on the terminal whether a tool call may run.

#include "renderer.hpp"

#include <thalweg/async/task.hpp>
#include <thalweg/protocol/environment.hpp>

#include <string>

namespace cli {

class asker {
public:
    /// Questions appear on `screen`, which outlives this, each behind the call it is about; without one they
    /// go to standard error at once.
    explicit asker(renderer* screen) noexcept : screen_(screen) {}

    /// Standard input is a terminal, so there is somebody to ask.
    [[nodiscard]] static bool can_ask();

    /// Shows the call and reads a line: y, yes, or a (this one and all later ones); anything else denies, as
    /// does the end of input. An interrupt ends the question.
    [[nodiscard]] thalweg::task<thalweg::decision> operator()(const thalweg::tool_call& call);

private:
    thalweg::task<std::string> read_line();

    renderer* screen_;
    bool always_ = false;
    char buffer_[256] = {};
};

} // namespace cli
