// SPDX-License-Identifier: BSL-1.0
// error: ignoring return value of

#include <thalweg/async/sleep.hpp>
#include <thalweg/async/task.hpp>

using namespace thalweg;

#pragma GCC diagnostic error "-Wunused-result"

#ifndef FIXED
task<void> nap() {
    sleep_for(std::chrono::seconds(1));
    co_return;
}
#else
task<void> nap() {
    co_await sleep_for(std::chrono::seconds(1));
}
#endif
