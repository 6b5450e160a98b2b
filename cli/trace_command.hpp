// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg trace show|check FILE`: looks at a recorded session, or at a stream that --json wrote. FILE may be
// "-".

#include <string>

namespace cli {

/// Shows the records that can be read; what cannot is reported on standard error with its line.
[[nodiscard]] int trace_show(const std::string& file);

/// Prints what is wrong, a line each, and a summary; status 1 if anything is, or if there is no record at
/// all.
[[nodiscard]] int trace_check(const std::string& file);

} // namespace cli
