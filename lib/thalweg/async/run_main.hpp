// SPDX-License-Identifier: BSL-1.0

#pragma once

// A main() of coroutines: a loop, a root task, and Ctrl-C as a polite stop request.

#include <thalweg/async/loop.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace thalweg {

namespace detail {

/// Runs `work` on a loop of its own under the signal rules of run_main; prints what it throws and gives 1
/// then.
int run_main(task<int> work);

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

inline task<int> exit_zero(task<void> work) {
    co_await std::move(work);
    co_return 0;
}

} // namespace detail

/// Runs `make()`, a `task<int>` or `task<void>`, to its end and gives the exit status (0 for void).
///
/// The first SIGINT asks everything to stop with cancel_reason::user, SIGTERM with cancel_reason::shutdown: a
/// run ends in order and the program goes on behind it. The second one ends the program at once, as if there
/// were no handler, so that a shell sees status 130 or 143. An exception that leaves the task is printed on
/// stderr; the status is 1 then.
template <class Make>
[[nodiscard]] int run_main(Make make) {
    static_assert(
        !detail::is_task<Make>,
        "thalweg: run_main takes the function itself and not its task: run_main(f), not run_main(f())");
    if constexpr (!detail::is_task<Make>) {
        constexpr bool callable = std::invocable<Make&>;
        static_assert(callable,
                      "thalweg: run_main calls its function without arguments; give it a lambda that "
                      "passes them: run_main([&] { return f(argument); })");
        if constexpr (callable) {
            using made = std::invoke_result_t<Make&>;
            constexpr bool is_main = std::same_as<made, task<int>> || std::same_as<made, task<void>>;
            static_assert(is_main, "thalweg: run_main needs a function that returns task<int> or task<void>");
            if constexpr (std::same_as<made, task<int>>) {
                return detail::run_main(make());
            } else if constexpr (is_main) {
                return detail::run_main(detail::exit_zero(make()));
            }
        }
    }
    return 1;
}

} // namespace thalweg
