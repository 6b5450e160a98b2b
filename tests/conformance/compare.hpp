// SPDX-License-Identifier: BSL-1.0

#pragma once

// Compares what was seen with what a scenario expects, and makes wrong expectations to prove that comparing
// works.

#include "scenario.hpp"

#include <optional>
#include <string>
#include <vector>

namespace conformance {

/// The first difference as `path: expected …, got …`, or empty. Key order does not matter; `{{ANY}}` in an
/// expected string stands for any non-empty text.
[[nodiscard]] std::optional<std::string> difference(const json::value& expected, const json::value& seen,
                                                    const std::string& path);

/// Everything a scenario expects against everything that was seen.
[[nodiscard]] std::optional<std::string> difference(const json::object& expect, const json::object& seen);

/// A changed expectation, and in words what was changed.
struct mutant {
    std::string what;
    json::object expect;
};

/// Wrong expectations of every kind: two neighbors swapped, one dropped, one doubled, one altered, one late.
[[nodiscard]] std::vector<mutant> mutants(const json::object& expect);

} // namespace conformance
