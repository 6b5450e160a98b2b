// SPDX-License-Identifier: BSL-1.0

#pragma once

// A whole scenario: some runs, compactions, crashes and resumes of one session, then a calm run after which
// nothing may be owed; then everything that can be said about what is left.

#include "simulation/coverage.hpp"
#include "simulation/mutants.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::simulation {

struct verdict {
    std::vector<std::string> complaints; ///< empty: all went well
    coverage seen;
};

[[nodiscard]] verdict play(std::uint64_t seed, mutant active = mutant::none);

} // namespace thalweg::simulation
