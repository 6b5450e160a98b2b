// SPDX-License-Identifier: BSL-1.0

// Items that are made in their place in a merge, and when the consumer gets its turn.

#include "counted.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <optional>
#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

/// Cannot be made from a negative number.
class wary {
public:
    explicit wary(int number) : number(number) {
        if (number < 0) throw std::invalid_argument("negative");
    }
    int number;
};

task<void> emplace_numbers(merge<numbered>::producer to, int producer, int count) {
    for (int n = 0; n < count; ++n) {
        const bool sent = co_await to.emplace(producer, n);
        if (!sent) FAIL("an open merge refused an item");
    }
}

task<void> emplace_counted(merge<counted>::producer& to, int count, bool& refused) {
    for (int n = 0; n < count; ++n) {
        const bool sent = co_await to.emplace(n);
        if (!sent) refused = true;
    }
}

task<void> count_wary(merge<wary>& point, int& seen, bool& ended) {
    while (const wary* item = co_await point.peek())
        seen += item->number;
    ended = true;
}

task<void> count_until_end(merge<numbered>& point, int& seen) {
    while (const numbered* item = co_await point.peek())
        seen = item->number + 1;
}

task<void> note_turn(const int& seen, int& seen_then) {
    co_await yield();
    seen_then = seen;
}

} // namespace

CO_TEST_CASE("emplaced items keep to order and budget like sent ones") {
    for (const std::size_t budget : {1, 2, 64, 0}) {
        merge<numbered> point;
        order_check check(3);
        scope work(co_await this_coroutine());
        for (int p = 0; p < 3; ++p)
            work.spawn(emplace_numbers(point.attach({.budget = budget}), p, 300));
        while (const numbered* item = co_await point.peek())
            check.see(*item);
        REQUIRE(check.seen() == 900);
    }
}

CO_TEST_CASE("an emplaced item that waits is destroyed with its coroutine, or when the merge refuses it") {
    counted::living = 0;
    {
        merge<counted> point;
        auto end = point.attach({.budget = 2});
        bool refused = false;
        std::optional<scope> work(std::in_place, co_await this_coroutine());
        work->spawn(emplace_counted(end, 3, refused));
        REQUIRE(counted::living == 3); // two inside, one that waits
        work.reset();
        REQUIRE(counted::living == 2);

        scope other(co_await this_coroutine());
        other.spawn(emplace_counted(end, 1, refused));
        REQUIRE(counted::living == 3);
        point.close();
        co_await other.join();
        REQUIRE(refused);
        REQUIRE(counted::living == 2);
    }
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("a constructor that throws leaves the merge and a consumer that waits as they were") {
    merge<wary> point;
    auto end = point.attach();
    int seen = 0;
    bool ended = false;
    scope work(co_await this_coroutine());
    work.spawn(count_wary(point, seen, ended));
    bool thrown = false;
    try {
        co_await end.emplace(-1);
    } catch (const std::invalid_argument&) {
        thrown = true;
    }
    co_await yield();
    REQUIRE(thrown);
    REQUIRE(!ended);
    co_await end.emplace(5);
    co_await yield();
    REQUIRE(seen == 5);
    end.finish();
    co_await work.join();
    REQUIRE(ended);
}

CO_TEST_CASE("a woken consumer lets the ready ones go first, but runs next once 64 items wait") {
    merge<numbered> point;
    auto end = point.attach({.budget = 0});
    int seen = 0;
    scope work(co_await this_coroutine());
    work.spawn(count_until_end(point, seen));
    int seen_by_first = -1;
    work.spawn(note_turn(seen, seen_by_first)); // ready before the consumer is woken
    for (int n = 0; n < 64; ++n)
        end.post(numbered(0, n));
    co_await yield();
    REQUIRE(seen_by_first == 0);
    REQUIRE(seen == 64);

    seen_by_first = -1;
    work.spawn(note_turn(seen, seen_by_first));
    for (int n = 64; n < 129; ++n)
        end.post(numbered(0, n));
    co_await yield();
    REQUIRE(seen_by_first == 129);
    end.finish();
    co_await work.join();
}
