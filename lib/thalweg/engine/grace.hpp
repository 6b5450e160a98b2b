// SPDX-License-Identifier: BSL-1.0

#pragma once

// Bounds an interrupt (R-ENG-35): who has not reacted to a stop request when the grace is over is destroyed
// where it is suspended. What it had begun outside (a thread, a process) is its owner's to take back; nothing
// of it is heard again.

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/task.hpp>

#include <chrono>

namespace thalweg {

/// Runs beside `work`, in a scope that is dropped when `work` has ended; `work` outlives it.
[[nodiscard]] inline task<void> drop_when_deaf(scope& work, std::chrono::milliseconds grace) {
    co_await stop_requested();
    co_await sleep_through(grace);
    work.drop();
}

/// Runs `work` to its end, or until it has been deaf for `grace`. What it lets out comes out of here.
[[nodiscard]] inline task<void> unless_deaf(task<void> work, std::chrono::milliseconds grace) {
    const context here = co_await this_coroutine();
    scope working(here);
    scope clock(here);
    working.spawn(std::move(work));
    if (!working.empty()) clock.spawn(drop_when_deaf(working, grace));
    co_await working.join();
    clock.drop();
}

} // namespace thalweg
