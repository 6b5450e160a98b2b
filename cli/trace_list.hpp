// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg trace list DIR`: the sessions of a folder of traces, the latest first, a line each.

#include <string>

namespace cli {

/// States: `answered`; `interrupted` by somebody, or given up; `open`: something is owed to the model,
/// because its process ended in the middle or a limit was reached; `closed` by a compaction, to go on in a
/// new context; `damaged`: a line of its newest file cannot be read.
[[nodiscard]] int trace_list(const std::string& folder);

} // namespace cli
