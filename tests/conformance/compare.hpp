// SPDX-License-Identifier: BSL-1.0

#pragma once

// Compares JSON values, and makes wrong ones of right ones to prove that comparing works. What a kind of
// scenario makes of it is in expect.hpp.

#include "scenario.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// The first difference as `path: expected …, got …`, or empty. Key order does not matter; `{{ANY}}` in an
/// expected string stands for any non-empty text.
[[nodiscard]] std::optional<std::string> difference(const json::value& expected, const json::value& seen,
                                                    const std::string& path);
[[nodiscard]] std::optional<std::string> difference(const json::object& expected, const json::object& seen,
                                                    const std::string& path);

/// A changed expectation, and in words what was changed.
struct mutant {
    std::string what;
    json::object expect;
};

/// A list of an expectation, and what it is a list of.
using named_list = std::pair<std::string, json::array*>;

/// Wrong expectations of every kind, for each of the lists that `lists_of` finds: two neighbors swapped, one
/// dropped, one doubled, one altered, one late.
[[nodiscard]] std::vector<mutant> mutants_of(const json::object& expect,
                                             std::vector<named_list> (*lists_of)(json::object& expect));

/// Changes one thing deep inside: appends to the last text, or turns a number or a flag. False if there is
/// none.
bool alter(json::value& v);

} // namespace conformance
