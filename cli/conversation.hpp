// SPDX-License-Identifier: BSL-1.0

#pragma once

// One run of a session as the program shows it: live on the terminal or as JSON lines, tool calls approved as
// the command line says. `run` does it with a new session, `resume` with one that goes on.

#include "run_command.hpp"

#include <thalweg/async/task.hpp>
#include <thalweg/engine/resume.hpp>
#include <thalweg/engine/session_options.hpp>

#include <optional>
#include <string>

namespace cli {

/// `error: sentence` on standard error; the status `failure`.
int complain(const std::string& sentence);

/// Replaces `-` by what standard input holds. False if there is nothing to say, which was told on standard
/// error.
[[nodiscard]] bool read_prompt(std::string& prompt);

/// `given` outlives the task. `from`: what the session goes on with. The exit status.
[[nodiscard]] thalweg::task<int> converse(const run_arguments& given, thalweg::session_options options,
                                          std::optional<thalweg::resumed_state> from);

} // namespace cli
