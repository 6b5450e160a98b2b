// SPDX-License-Identifier: BSL-1.0

// Signals are raised in child processes, each with a main of its own.

#include "support/catch.hpp"

#include <thalweg/async/run_main.hpp>
#include <thalweg/async/sleep.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

using namespace thalweg;
using namespace std::chrono_literals;

namespace {

/// The wait status of a child that runs `make` in run_main, silently.
template <class Make>
int status_of(Make make) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(99);
        std::_Exit(run_main(make));
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

bool exited_with(int status, int code) {
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}
bool died_of(int status, int number) {
    return WIFSIGNALED(status) && WTERMSIG(status) == number;
}

task<int> reason_as_status(int number) {
    std::raise(number);
    const auto why = co_await stop_requested();
    co_return 10 + static_cast<int>(why);
}

} // namespace

TEST_CASE("run_main gives the task's status, zero for void") {
    REQUIRE(run_main([]() -> task<int> {
                co_await yield();
                co_return 7;
            }) == 7);
    REQUIRE(run_main([]() -> task<void> { co_await yield(); }) == 0);
}

TEST_CASE("an exception that leaves the task gives status 1, whatever its type") {
    REQUIRE(exited_with(status_of([]() -> task<void> {
                            co_await yield();
                            throw std::runtime_error("it broke");
                        }),
                        1));
    REQUIRE(exited_with(status_of([]() -> task<void> {
                            co_await yield();
                            throw 5;
                        }),
                        1));
}

TEST_CASE("the first signal asks everything to stop and tells who asked") {
    REQUIRE(exited_with(status_of([] { return reason_as_status(SIGINT); }),
                        10 + static_cast<int>(cancel_reason::user)));
    REQUIRE(exited_with(status_of([] { return reason_as_status(SIGTERM); }),
                        10 + static_cast<int>(cancel_reason::shutdown)));
}

TEST_CASE("the second signal ends the program as if there were no handler") {
    for (const int second : {SIGINT, SIGTERM}) {
        REQUIRE(died_of(status_of([second]() {
                            return [](int second) -> task<void> {
                                std::raise(SIGINT);
                                [[maybe_unused]] const auto why = co_await stop_requested();
                                std::raise(second);
                                co_await sleep_through(1h);
                            }(second);
                        }),
                        second));
    }
}

TEST_CASE("the second signal ends a program whose coroutines never let the loop look again") {
    REQUIRE(died_of(status_of([]() -> task<void> {
                        std::raise(SIGINT);
                        [[maybe_unused]] const auto why = co_await stop_requested();
                        std::raise(SIGINT);
                        for (;;)
                            pause();
                    }),
                    SIGINT));
}

// Two of a kind may become one on the way: signals that are held back are not counted, and the thread
// sanitizer holds back what comes in the child of a process that has had threads.
TEST_CASE("two signals before the loop looks end the program") {
    REQUIRE(died_of(status_of([]() -> task<void> {
                        std::raise(SIGINT);
                        std::raise(SIGTERM);
                        co_await sleep_through(1h);
                    }),
                    SIGTERM));
}
