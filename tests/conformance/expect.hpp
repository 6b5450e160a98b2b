// SPDX-License-Identifier: BSL-1.0

#pragma once

// What is compared of one kind of scenario: everything it expects against everything that was seen. Each
// runner has its own.

#include "compare.hpp"

namespace conformance {

/// The first difference, or empty.
[[nodiscard]] std::optional<std::string> difference(const json::object& expect, const json::object& seen);

/// Wrong expectations, each of which difference() has to notice.
[[nodiscard]] std::vector<mutant> mutants(const json::object& expect);

} // namespace conformance
