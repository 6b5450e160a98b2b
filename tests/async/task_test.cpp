// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

task<int> seven() {
    co_return 7;
}

task<std::string> late(std::string text) {
    co_await sleep_for(1s);
    co_return text;
}

task<void> note(std::vector<int>& log, int what) {
    log.push_back(what);
    co_return;
}

task<int> depth(int levels) {
    if (levels == 0) co_return 0;
    const int below = co_await depth(levels - 1);
    co_return below + 1;
}

task<void> fail_at_once() {
    throw std::runtime_error("at once");
    co_return;
}

task<int> fail_late() {
    co_await sleep_for(1s);
    throw std::runtime_error("late");
}

template <class T>
task<std::string> what_it_throws(task<T> work) {
    std::string what = "nothing";
    try {
        co_await std::move(work);
    } catch (const std::exception& e) {
        what = e.what();
    }
    co_return what;
}

task<void> hold(counted held, loop::clock::duration wait) {
    counted local(held.number);
    co_await sleep_for(wait);
    counted after(local.number);
    co_await yield();
}

task<void> hold_nested(counted held) {
    co_await hold(std::move(held), 1h);
}

} // namespace

CO_TEST_CASE("a task gives its value to who awaits it") {
    const int value = co_await seven();
    REQUIRE(value == 7);
    const auto text = co_await late("the text");
    REQUIRE(text == "the text");
    const auto unique = co_await []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); }();
    REQUIRE(*unique == 3);
    const int levels = co_await depth(500);
    REQUIRE(levels == 500);
}

CO_TEST_CASE("a task starts when it is awaited, not before") {
    std::vector<int> log;
    auto first = note(log, 1);
    auto second = note(log, 2);
    auto never = note(log, 3);
    REQUIRE(log.empty());
    co_await std::move(second);
    co_await std::move(first);
    REQUIRE(log == std::vector{2, 1});
}

CO_TEST_CASE("an exception comes out where the task is awaited, at once or late, through every level") {
    auto what = co_await what_it_throws(fail_at_once());
    REQUIRE(what == "at once");
    what = co_await what_it_throws(fail_late());
    REQUIRE(what == "late");
    what = co_await what_it_throws(
        []() -> task<void> { co_await []() -> task<void> { co_await fail_late(); }(); }());
    REQUIRE(what == "late");
}

CO_TEST_CASE("a task can be moved, assigned over and reset") {
    counted::living = 0;
    auto first = hold(counted(1), 0s);
    auto second = std::move(first);
    REQUIRE(!first);
    REQUIRE(second);
    REQUIRE(counted::living == 1);
    second = hold(counted(2), 0s);
    REQUIRE(counted::living == 1);
    auto& itself = second;
    second = std::move(itself);
    REQUIRE(second);
    co_await std::move(second);
    second.reset();
    second.reset();
    REQUIRE(counted::living == 0);
    const task<> none;
    REQUIRE(!none);
}

CO_TEST_CASE("destroying a suspended task destroys its locals and parameters at every level, and it never "
             "runs again") {
    counted::living = 0;
    {
        scope work(co_await this_coroutine());
        work.spawn(hold(counted(1), 1h));    // waits for a timer
        work.spawn(hold(counted(2), 0s));    // will be in the ready queue
        work.spawn(hold_nested(counted(3))); // two levels deep
        co_await yield();
        REQUIRE(counted::living > 0);
    }
    REQUIRE(counted::living == 0);
    for (int turn = 0; turn < 5; ++turn)
        co_await yield();
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("what a task returns may be converted, and is moved out once") {
    counted::living = 0;
    {
        const auto item = co_await []() -> task<counted> { co_return 5; }();
        REQUIRE(item.number == 5);
        REQUIRE(counted::living == 1);
        const auto maybe = co_await []() -> task<std::optional<int>> { co_return std::nullopt; }();
        REQUIRE(!maybe);
    }
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("a task inherits the context of who awaits it; under() gives it another") {
    const context here = co_await this_coroutine();
    const auto same = co_await []() -> task<bool> {
        const context mine = co_await this_coroutine();
        co_return mine.stop_requested();
    }();
    REQUIRE(!same);

    cancel_source own;
    own.request(cancel_reason::timeout);
    const context other(here.loop(), own);
    auto reason_of = []() -> task<cancel_reason> {
        const context mine = co_await this_coroutine();
        co_return mine.reason();
    };
    auto inside = reason_of();
    const auto reason = co_await std::move(inside).under(other);
    REQUIRE(reason == cancel_reason::timeout);
    const auto outside = co_await reason_of();
    REQUIRE(outside == cancel_reason::none);
}
