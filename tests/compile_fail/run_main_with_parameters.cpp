// SPDX-License-Identifier: BSL-1.0
// error: thalweg: run_main calls its function without arguments; give it a lambda that passes them: run_main([&] { return f(argument); })

#include <thalweg/async/run_main.hpp>

using namespace thalweg;

task<int> talk(int number) {
    co_return number;
}

#ifndef FIXED
int status = run_main(talk);
#else
int status = run_main([] { return talk(1); });
#endif
