// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/with_timeout.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

/// Works for a while; says what stopped it, if anything did.
task<cancel_reason> work_for(loop::clock::duration time) {
    const context here = co_await this_coroutine();
    co_await sleep_for(time);
    co_return here.reason();
}

task<void> hold_deaf(counted held) {
    counted local(held.number);
    co_await sleep_through(1h);
}

stream<int, cancel_reason> count_seconds(int last) {
    const context here = co_await this_coroutine();
    for (int n = 1; n <= last; ++n) {
        const bool whole = co_await sleep_for(1s);
        if (!whole) break;
        co_yield int{n};
    }
    co_return here.reason();
}

} // namespace

CO_TEST_CASE("work that ends in time knows nothing of its time-out, and no timer is left behind") {
    const context here = co_await this_coroutine();
    const auto started = here.loop().now();
    const auto why = co_await with_timeout(5s, work_for(2s));
    REQUIRE(why == cancel_reason::none);
    REQUIRE(here.loop().now() - started == 2s);
    co_await with_timeout(5s, []() -> task<void> { co_return; }());
    REQUIRE(!here.stop_requested());
}

CO_TEST_CASE("work that takes too long is asked to stop, for the reason timeout") {
    const context here = co_await this_coroutine();
    const auto started = here.loop().now();
    auto why = co_await with_timeout(5s, work_for(1h));
    REQUIRE(why == cancel_reason::timeout);
    REQUIRE(here.loop().now() - started == 5s);
    REQUIRE(!here.stop_requested());
    why = co_await with_timeout(0s, work_for(1h));
    REQUIRE(why == cancel_reason::timeout);
}

CO_TEST_CASE("of nested time-outs the shorter one counts; a stop request from above keeps its reason") {
    const context here = co_await this_coroutine();
    const auto started = here.loop().now();
    auto why = co_await with_timeout(3s, with_timeout(10s, work_for(1h)));
    REQUIRE(why == cancel_reason::timeout);
    why = co_await with_timeout(10s, with_timeout(3s, work_for(1h)));
    REQUIRE(why == cancel_reason::timeout);
    REQUIRE(here.loop().now() - started == 6s);

    scope above(here);
    above.spawn([](cancel_reason& why) -> task<void> { why = co_await with_timeout(1h, work_for(2h)); }(why));
    above.cancel(cancel_reason::user);
    co_await above.join();
    REQUIRE(why == cancel_reason::user);
}

CO_TEST_CASE("an exception comes through a time-out") {
    std::string what;
    try {
        co_await with_timeout(5s, []() -> task<void> {
            co_await sleep_for(1s);
            throw std::runtime_error("it broke");
        }());
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
    REQUIRE(what == "it broke");
}

CO_TEST_CASE("destroying the wait destroys the work, deaf or not") {
    counted::living = 0;
    {
        scope work(co_await this_coroutine());
        work.spawn(with_timeout(5s, hold_deaf(counted(1))));
        co_await sleep_for(10s);
        REQUIRE(counted::living > 0);
    }
    REQUIRE(counted::living == 0);
    const auto never_awaited = with_timeout(5s, hold_deaf(counted(1)));
    REQUIRE(counted::living == 1);
}

CO_TEST_CASE("a stream has one time-out for all its items; its result comes through") {
    auto in_time = with_timeout(10s, count_seconds(3));
    int expected = 1;
    while (auto n = co_await in_time.next())
        REQUIRE(*n == expected++);
    REQUIRE(expected == 4);
    REQUIRE(in_time.result() == cancel_reason::none);

    auto too_long = with_timeout(2500ms, count_seconds(10));
    std::vector<int> seen;
    while (auto n = co_await too_long.next())
        seen.push_back(*n);
    REQUIRE(seen == std::vector{1, 2});
    REQUIRE(too_long.result() == cancel_reason::timeout);

    auto dropped = with_timeout(10s, count_seconds(10));
    [[maybe_unused]] const auto first = co_await dropped.next();
    dropped.reset();
}
