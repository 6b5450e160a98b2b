// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/channel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/seeded_loop.hpp>

#include <set>
#include <string>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

task<void> say(std::string& to, char what, bool by_timer) {
    if (by_timer)
        co_await sleep_for(5ms);
    else
        co_await yield();
    to += what;
}

task<std::string> race(bool by_timer) {
    std::string order;
    scope all(co_await this_coroutine());
    for (const char each : {'a', 'b', 'c'})
        all.spawn(say(order, each, by_timer));
    co_await all.join();
    co_return order;
}

std::set<std::string> orders(bool by_timer) {
    std::set<std::string> seen;
    for (std::uint64_t from = 0; from < 100; ++from) {
        seeded_loop on(from);
        seen.insert(on.run(race(by_timer)));
    }
    return seen;
}

} // namespace

TEST_CASE("seeds bring up every order of what is runnable, and of timers of one instant") {
    CHECK(orders(false).size() == 6);
    CHECK(orders(true).size() == 6);
}

TEST_CASE("the same seed gives the same order") {
    for (std::uint64_t from = 0; from < 20; ++from) {
        seeded_loop first(from);
        seeded_loop second(from);
        CHECK(first.run(race(true)) == second.run(race(true)));
    }
}

TEST_CASE("timers of different instants keep their order, and time is virtual") {
    const auto sleep_sort = []() -> task<std::string> {
        std::string order;
        const auto after = [](std::string& to, std::chrono::hours d, char what) -> task<void> {
            co_await sleep_for(d);
            to += what;
        };
        scope all(co_await this_coroutine());
        all.spawn(after(order, 3h, 'c'));
        all.spawn(after(order, 1h, 'a'));
        all.spawn(after(order, 2h, 'b'));
        co_await all.join();
        co_return order;
    };
    for (std::uint64_t from = 0; from < 20; ++from) {
        seeded_loop on(from);
        CHECK(on.run(sleep_sort()) == "abc");
        CHECK(on.elapsed() == 3h);
        CHECK_FALSE(on.has_timers());
    }
}

TEST_CASE("numbers of a seed are the same everywhere and stay in their bounds") {
    seed draw(42);
    CHECK(draw.next() == 13679457532755275413U);
    for (int i = 0; i < 1'000; ++i) {
        CHECK(draw.below(7) < 7);
        const std::size_t n = draw.between(3, 5);
        CHECK((n >= 3 && n <= 5));
    }
    CHECK(draw.chance(100));
    CHECK_FALSE(draw.chance(0));
}
