// SPDX-License-Identifier: BSL-1.0

#pragma once

// What somebody may have meant who wrote a name that nobody knows: for sentences about models, providers,
// tools, members and options. Pure functions; any thread.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

/// The candidates that are most like `name`, the best first, at most `most`: those within a few slips of the
/// keyboard (a letter too many, too few, wrong, or two swapped; one for every three letters, case does not
/// count), then those that have all of `name` in them. Views of the candidates. Names longer than 100 bytes
/// are like nothing.
[[nodiscard]] std::vector<std::string_view> nearest(std::string_view name,
                                                    std::span<const std::string_view> candidates,
                                                    std::size_t most = 3);

/// `; did you mean "a", "b" or "c"?`, to be put behind a sentence; empty if nothing is like it.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

} // namespace thalweg
