// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

task<void> wait_and_log(loop::clock::duration wait, int what, std::vector<int>& log) {
    const bool whole = co_await sleep_for(wait);
    log.push_back(whole ? what : -what);
}

task<void> fail_after(loop::clock::duration wait, std::string what) {
    co_await sleep_for(wait);
    throw std::runtime_error(what);
}

task<void> own_for(loop::clock::duration wait, counted held) {
    co_await sleep_for(wait);
    counted local(held.number);
}

task<void> reason_when_asked(cancel_reason& seen) {
    seen = co_await stop_requested();
}

task<std::string> join_and_say(scope& work) {
    std::string what = "nothing";
    try {
        co_await work.join();
    } catch (const std::exception& e) {
        what = e.what();
    }
    co_return what;
}

} // namespace

CO_TEST_CASE("a scope runs its children at once and joins them all") {
    std::vector<int> log;
    scope work(co_await this_coroutine());
    REQUIRE(work.empty());
    co_await work.join();
    work.spawn(wait_and_log(2s, 2, log));
    work.spawn(wait_and_log(1s, 1, log));
    work.spawn([](std::vector<int>& log) -> task<void> {
        log.push_back(0);
        co_return;
    }(log));
    REQUIRE(log == std::vector{0});
    REQUIRE(!work.empty());
    co_await work.join();
    REQUIRE(log == std::vector{0, 1, 2});
    REQUIRE(work.empty());
    work.spawn(wait_and_log(1s, 3, log));
    co_await work.join();
    REQUIRE(log == std::vector{0, 1, 2, 3});
}

CO_TEST_CASE("what a child owns is destroyed when it ends, not with the scope") {
    counted::living = 0;
    scope work(co_await this_coroutine());
    work.spawn(own_for(1s, counted(1)));
    REQUIRE(counted::living == 1);
    co_await sleep_for(2s);
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("dropping a scope destroys its children where they are suspended") {
    counted::living = 0;
    std::vector<int> log;
    {
        scope work(co_await this_coroutine());
        for (int n = 0; n < 10; ++n)
            work.spawn(own_for(1h, counted(n)));
        work.spawn(wait_and_log(1h, 1, log));
    }
    REQUIRE(counted::living == 0);
    co_await yield();
    REQUIRE(log.empty());
}

CO_TEST_CASE("cancelling asks the children with a typed reason; the first reason counts") {
    std::vector<int> log;
    cancel_reason seen = cancel_reason::none;
    scope work(co_await this_coroutine());
    work.spawn(wait_and_log(1h, 1, log));
    work.spawn(reason_when_asked(seen));
    work.cancel(cancel_reason::timeout);
    work.cancel(cancel_reason::user);
    REQUIRE(log.empty()); // asked, not resumed from inside
    co_await work.join();
    REQUIRE(log == std::vector{-1});
    REQUIRE(seen == cancel_reason::timeout);
}

CO_TEST_CASE("a stop request reaches grandchildren with its reason") {
    cancel_reason seen = cancel_reason::none;
    scope outer(co_await this_coroutine());
    outer.spawn([](cancel_reason& seen) -> task<void> {
        scope inner(co_await this_coroutine());
        inner.spawn(reason_when_asked(seen));
        co_await inner.join();
    }(seen));
    outer.cancel(cancel_reason::shutdown);
    co_await outer.join();
    REQUIRE(seen == cancel_reason::shutdown);

    seen = cancel_reason::none;
    scope late(outer.context()); // asked already
    late.spawn(reason_when_asked(seen));
    REQUIRE(seen == cancel_reason::shutdown);
}

CO_TEST_CASE("the first exception of a child cancels the others and comes out of join, once") {
    std::vector<int> log;
    scope work(co_await this_coroutine());
    work.spawn(wait_and_log(1h, 1, log));
    work.spawn(fail_after(2s, "second"));
    work.spawn(fail_after(1s, "first"));
    auto what = co_await join_and_say(work);
    REQUIRE(what == "first");
    REQUIRE(log == std::vector{-1});
    what = co_await join_and_say(work);
    REQUIRE(what == "nothing");
}

CO_TEST_CASE("an exception thrown before the first suspension comes out of join, too") {
    scope work(co_await this_coroutine());
    work.spawn(fail_after(0s, "soon"));
    work.spawn([]() -> task<void> {
        throw std::runtime_error("at once");
        co_return;
    }());
    const auto what = co_await join_and_say(work);
    REQUIRE(what == "at once");
}

CO_TEST_CASE("children may spawn siblings, and join waits for them") {
    std::vector<int> log;
    scope work(co_await this_coroutine());
    work.spawn([](scope& work, std::vector<int>& log) -> task<void> {
        co_await sleep_for(1s);
        work.spawn(wait_and_log(1s, 2, log));
        log.push_back(1);
    }(work, log));
    co_await work.join();
    REQUIRE(log == std::vector{1, 2});
}

CO_TEST_CASE("drop destroys the children and ends a join") {
    counted::living = 0;
    scope work(co_await this_coroutine());
    work.spawn(own_for(1h, counted(1)));
    bool joined = false;
    scope waiting(co_await this_coroutine());
    waiting.spawn([](scope& work, bool& joined) -> task<void> {
        co_await work.join();
        joined = true;
    }(work, joined));
    work.drop();
    REQUIRE(counted::living == 0);
    REQUIRE(!joined);
    co_await waiting.join();
    REQUIRE(joined);
}

CO_TEST_CASE("a join that is destroyed while it waits, or is on its way back, is forgotten") {
    std::vector<int> log;
    for (const bool on_its_way : {false, true}) {
        scope work(co_await this_coroutine());
        work.spawn(wait_and_log(1s, 1, log));
        {
            scope waiting(co_await this_coroutine());
            waiting.spawn([](scope& work) -> task<void> { co_await work.join(); }(work));
            if (on_its_way) work.drop();
        }
        co_await work.join();
    }
    REQUIRE(log == std::vector{1});
}

CO_TEST_CASE("a child may run in a context of the caller's") {
    const context here = co_await this_coroutine();
    cancel_source own;
    const context other(here.loop(), own);
    cancel_reason seen = cancel_reason::none;
    scope work(here);
    work.spawn(reason_when_asked(seen), other);
    own.request(cancel_reason::user);
    co_await work.join();
    REQUIRE(seen == cancel_reason::user);
}
