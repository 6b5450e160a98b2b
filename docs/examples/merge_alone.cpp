// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/merge.hpp>
#include <thalweg/async/run_main.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace thalweg;

class event {
public:
    event(std::string source, int number) : source(std::move(source)), number(number) {}
    std::string source;
    int number;
};

task<void> pump(std::string name, std::chrono::milliseconds pace, merge<event>::producer out) {
    for (int n = 1; n <= 3; ++n) {
        co_await sleep_for(pace);
        event next(name, n);
        const bool taken = co_await out.send(std::move(next)); // suspends beyond the budget
        if (!taken) co_return;                                 // nobody reads any more
    }
} // the producer is finished with the coroutine

task<int> listen() {
    using namespace std::chrono_literals;
    merge<event> point;
    scope work(co_await this_coroutine()); // inherits loop and stop request
    work.spawn(pump("brook", 30ms, point.attach({.budget = 64})));
    work.spawn(pump("river", 20ms, point.attach({.budget = 64})));

    while (auto e = co_await point.next())
        std::cout << e->source << ' ' << e->number << '\n'; // arrival order
    co_await work.join();
    co_return 0; // all sources have ended and nothing is left
}

int main() {
    return run_main(listen);
}
