// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg resume SESSION [PROMPT]`: goes on with a recorded session, or shows it.

#include "run_command.hpp"

#include <optional>
#include <string>

namespace cli {

struct resume_arguments {
    run_arguments run; ///< without model, system, trace and prompt, which are below or the session's
    std::string model; ///< empty = the session's
    std::string traces;
    std::string session;               ///< an id or `latest`
    std::optional<std::string> prompt; ///< none: show the conversation so far, and write nothing
};

/// The exit status.
[[nodiscard]] int resume(const resume_arguments& given);

} // namespace cli
