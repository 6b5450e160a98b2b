// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace thalweg;
using namespace std::chrono_literals;

namespace {

task<void> sleep_and_log(loop::clock::duration wait, int what, std::vector<int>& log) {
    const bool whole = co_await sleep_for(wait);
    if (whole) log.push_back(what);
}

} // namespace

CO_TEST_CASE("sleeping takes its time, and no time when there is none to take") {
    const context here = co_await this_coroutine();
    const auto start = here.loop().now();
    bool whole = co_await sleep_for(90min);
    REQUIRE(whole);
    REQUIRE(here.loop().now() - start == 90min);
    whole = co_await sleep_for(0s);
    REQUIRE(whole);
    whole = co_await sleep_for(-5s);
    REQUIRE(whole);
    whole = co_await sleep_for(std::chrono::duration<double>(0.5));
    REQUIRE(whole);
    REQUIRE(here.loop().now() - start == 90min + 500ms);
}

CO_TEST_CASE("timers fire in the order of their deadlines; equal ones in the order of their arming") {
    std::vector<int> log;
    scope work(co_await this_coroutine());
    for (int n = 0; n < 5; ++n)
        work.spawn(sleep_and_log(3s, 100 + n, log));
    work.spawn(sleep_and_log(2s, 2, log));
    work.spawn(sleep_and_log(1s, 1, log));
    for (int n = 5; n < 10; ++n)
        work.spawn(sleep_and_log(3s, 100 + n, log));
    co_await work.join();
    REQUIRE(log == std::vector{1, 2, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109});
}

CO_TEST_CASE("ten thousand timers, half of them taken back at random") {
    std::mt19937 random(1);
    std::vector<int> log;
    std::vector<int> expected;
    const context here = co_await this_coroutine();
    scope kept(here);
    std::vector<std::unique_ptr<scope>> dropped;
    for (int n = 0; n < 10'000; ++n) {
        const int due = static_cast<int>(random() % 5000);
        if (random() % 2 == 0) {
            kept.spawn(sleep_and_log(std::chrono::milliseconds(due), due, log));
            expected.push_back(due);
        } else {
            dropped.push_back(std::make_unique<scope>(here));
            dropped.back()->spawn(sleep_and_log(std::chrono::milliseconds(due), due, log));
        }
    }
    std::shuffle(dropped.begin(), dropped.end(), random);
    dropped.clear();
    co_await kept.join();
    std::stable_sort(expected.begin(), expected.end());
    REQUIRE(log == expected);
}

CO_TEST_CASE("a stop request ends a sleep at once; one that came before does not let it begin") {
    const context here = co_await this_coroutine();
    const auto start = here.loop().now();
    scope work(here);
    bool whole = true;
    bool second = true;
    work.spawn([](bool& whole, bool& second) -> task<void> {
        whole = co_await sleep_for(1h);
        second = co_await sleep_for(1h);
    }(whole, second));
    work.cancel(cancel_reason::user);
    co_await work.join();
    REQUIRE(!whole);
    REQUIRE(!second);
    REQUIRE(here.loop().now() == start);
}

TEST_CASE("a sleep whose time has passed says so, though a stop request comes before it runs again") {
    loop on; // real time: both are due when the loop looks, and are queued together
    bool whole = false;
    on.run([](bool& whole) -> task<void> {
        scope work(co_await this_coroutine());
        work.spawn([](scope& work) -> task<void> {
            co_await sleep_for(0s);
            work.cancel(cancel_reason::user);
        }(work));
        work.spawn([](bool& whole) -> task<void> { whole = co_await sleep_for(0s); }(whole));
        co_await work.join();
    }(whole));
    REQUIRE(whole);
}

CO_TEST_CASE("sleep_through is not ended by a stop request") {
    const context here = co_await this_coroutine();
    const auto start = here.loop().now();
    scope work(here);
    bool whole = false;
    work.cancel(cancel_reason::user);
    work.spawn([](bool& whole) -> task<void> { whole = co_await sleep_through(2s); }(whole));
    co_await work.join();
    REQUIRE(whole);
    REQUIRE(here.loop().now() - start == 2s);
}

CO_TEST_CASE("stop_requested waits for the request and gives its reason") {
    scope work(co_await this_coroutine());
    std::vector<cancel_reason> seen;
    auto note = [](std::vector<cancel_reason>& seen) -> task<void> {
        const auto why = co_await stop_requested();
        seen.push_back(why);
    };
    work.spawn(note(seen));
    co_await sleep_for(1s);
    REQUIRE(seen.empty());
    work.cancel(cancel_reason::timeout);
    work.spawn(note(seen)); // asked already: no wait
    REQUIRE(seen.size() == 1);
    co_await work.join();
    REQUIRE(seen == std::vector{cancel_reason::timeout, cancel_reason::timeout});
}

CO_TEST_CASE("a sleep for ever can be ended and does not overflow") {
    scope work(co_await this_coroutine());
    std::vector<int> log;
    work.spawn(sleep_and_log(loop::clock::duration::max(), 1, log));
    work.spawn([](std::vector<int>& log) -> task<void> {
        const bool whole = co_await sleep_for(std::chrono::hours::max());
        if (whole) log.push_back(2);
    }(log));
    co_await sleep_for(1h);
    work.cancel();
    co_await work.join();
    REQUIRE(log.empty());
}

CO_TEST_CASE("yield lets everything that is runnable run first") {
    std::vector<int> log;
    scope work(co_await this_coroutine());
    for (int n = 0; n < 3; ++n) {
        work.spawn([](int n, std::vector<int>& log) -> task<void> {
            for (int round = 0; round < 2; ++round) {
                log.push_back(10 * round + n);
                co_await yield();
            }
        }(n, log));
    }
    co_await work.join();
    REQUIRE(log == std::vector{0, 1, 2, 10, 11, 12});
}
