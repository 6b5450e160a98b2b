// SPDX-License-Identifier: BSL-1.0

#pragma once

// Tools that show what tools can do and do nothing: for the program's `--tools demo`, the demo and examples.
// The same arguments always give the same output.
//
//   forecast           streams a line per day, 200 ms each, with progress: the slow one
//   roll_dice          answers at once
//   count_words        computes on the thread pool
//   delete_everything  deletes nothing; there to be denied
//
// Thread rule: as environments::functions.

#include <thalweg/environments/functions.hpp>

namespace thalweg::environments {

[[nodiscard]] functions demo();

} // namespace thalweg::environments
