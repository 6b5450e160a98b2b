// SPDX-License-Identifier: BSL-1.0

#pragma once

// Plays a scenario on a session under virtual time.

#include "scenario.hpp"

#include <string>

namespace conformance {

struct observation {
    json::object seen;   ///< the same shape as a scenario's `expect`
    std::string checker; ///< what the stream checker has to say; empty = nothing
};

/// May throw what the scenario's data or a stuck run throws.
[[nodiscard]] observation play(const scenario& s);

} // namespace conformance
