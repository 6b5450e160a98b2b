// SPDX-License-Identifier: BSL-1.0

#pragma once

// A scenario's options as those of an agent. Beside what the recorded files have, our own may say:
//
//     retry            {"most", "base_ms"}: failed requests are repeated inside the run
//     tool_timeout_ms  what every call gets
//     max_turns        of one run
//
// A hook that waits does so whatever happens to the run: only the model and the tools know of an abort. And a
// step of the model that opens a block may have `"cut": true`: the block gets no end.

#include "record.hpp"

#include <thalweg/agent/agent_options.hpp>

namespace conformance {

/// `options`, which may be nullptr, and `seen` outlive what uses the result.
[[nodiscard]] thalweg::agent_options options_of(const json::object* options, record& seen);

} // namespace conformance
