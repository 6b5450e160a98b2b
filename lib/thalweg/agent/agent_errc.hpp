// SPDX-License-Identifier: BSL-1.0

#pragma once

// Why an agent could not do what it was asked to. Any thread.

#include <system_error>

namespace thalweg {

enum class agent_errc {
    busy = 1,       ///< a run is going on; it is not disturbed (R-EVT-54)
    empty,          ///< nothing to continue from: no messages and nothing queued (R-EVT-57)
    assistant_tail, ///< the last message is the model's, and nothing is queued (R-EVT-57)
    aborted,        ///< somebody asked the run to stop
    model_failed,   ///< the request to the model failed
    hook_failed,    ///< a hook of the program threw or gave what cannot be used (R-EVT-74)
    bad_prompt,     ///< a prompt has no message, or one that is not of the user or of the program
    mismatch,       ///< the model's answer does not fit the type that was asked for
};

[[nodiscard]] std::error_code make_error_code(agent_errc e) noexcept;

} // namespace thalweg

template <>
struct std::is_error_code_enum<thalweg::agent_errc> : std::true_type {};
