// SPDX-License-Identifier: BSL-1.0
// error: thalweg: run_main takes the function itself and not its task: run_main(f), not run_main(f())

#include <thalweg/async/run_main.hpp>

using namespace thalweg;

task<int> talk() {
    co_return 0;
}

#ifndef FIXED
int status = run_main(talk());
#else
int status = run_main(talk);
#endif
