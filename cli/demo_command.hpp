// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg demo`: one run of the scripted model with real tools, every message on a line with its time, and
// beside the telling ones a sentence that says which guarantee is seen there. A few seconds, no key, no
// network.

namespace cli {

[[nodiscard]] int demo();

} // namespace cli
