// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg trace show|check TARGET [SESSION]`: looks at recorded sessions, or at a stream that --json wrote.

#include "trace_target.hpp"

namespace cli {

/// Shows the records that can be read; what cannot is reported on standard error with its line.
[[nodiscard]] int trace_show(const trace_target& target);

/// Prints what is wrong, a line each, and a summary for each file; status 1 if anything is, or if there is no
/// record at all.
[[nodiscard]] int trace_check(const trace_target& target);

} // namespace cli
