// SPDX-License-Identifier: BSL-1.0
// error: thalweg: run_main needs a function that returns task<int> or task<void>

#include <thalweg/async/run_main.hpp>

using namespace thalweg;

#ifndef FIXED
int status = run_main([] { return 0; });
#else
int status = run_main([]() -> task<int> { co_return 0; });
#endif
