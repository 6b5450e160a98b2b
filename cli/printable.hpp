// SPDX-License-Identifier: BSL-1.0

#pragma once

// Text of models and tools for a terminal: control characters are shown, not obeyed, so that nobody's output
// moves the cursor, changes the title or hides what was written before.

#include <string>
#include <string_view>

namespace cli {

/// `utf8` with every control character but LF and TAB replaced by its visible picture (U+2400…), C1 controls
/// by U+FFFD.
[[nodiscard]] std::string printable(std::string_view utf8);

/// The same on one line of at most `columns` code points, an ellipsis where it was cut.
[[nodiscard]] std::string one_line(std::string_view utf8, std::size_t columns);

} // namespace cli
