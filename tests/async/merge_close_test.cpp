// SPDX-License-Identifier: BSL-1.0

// How a merge ends: by its producers, by its consumer, by exception and destruction, in any order.

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <optional>
#include <stdexcept>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

using point_of_counted = merge<counted>;

/// Sends until it is refused and says how much went in.
task<void> send_while_open(point_of_counted::producer to, int& sent, bool& refused) {
    for (;;) {
        const bool in = co_await to.send(counted(sent));
        if (!in) break;
        ++sent;
    }
    refused = true;
}

task<void> send_then_throw(point_of_counted::producer to, int count) {
    for (int n = 0; n < count; ++n)
        co_await to.send(counted(n));
    throw std::runtime_error("the producer broke");
}

task<void> send_slowly(point_of_counted::producer to, int count) {
    for (int n = 0; n < count; ++n) {
        co_await sleep_for(1s);
        co_await to.send(counted(n));
    }
}

task<void> finish_later(point_of_counted::producer to) {
    co_await sleep_for(1s);
    to.finish();
    co_await sleep_for(1h); // finished is finished, whatever its coroutine does
}

task<void> count_items(point_of_counted& from, int& seen, bool& ended) {
    while (auto item = co_await from.next())
        ++seen;
    ended = true;
}

} // namespace

CO_TEST_CASE("a merge without producers has ended, and goes on when one is attached") {
    point_of_counted point;
    for (int round = 0; round < 3; ++round) {
        const auto nothing = co_await point.next();
        REQUIRE(!nothing);
        const auto* still_nothing = co_await point.peek();
        REQUIRE(still_nothing == nullptr);
        const auto no_batch = co_await point.next_batch();
        REQUIRE(no_batch.empty());
        auto end = point.attach();
        REQUIRE(point.producers() == 1);
        co_await end.send(counted(round));
        end.finish();
        REQUIRE(end.is_finished());
        REQUIRE(point.producers() == 0);
        const auto item = co_await point.next();
        REQUIRE(item->number == round);
    }
}

CO_TEST_CASE("a merge ends when the last producer has finished and nothing is left, not before") {
    point_of_counted point;
    int seen = 0;
    bool ended = false;
    scope work(co_await this_coroutine());
    work.spawn(send_slowly(point.attach(), 3));
    work.spawn(finish_later(point.attach()));
    work.spawn(count_items(point, seen, ended));
    co_await sleep_for(2500ms);
    REQUIRE(seen == 2);
    REQUIRE(!ended);
    co_await sleep_for(1s);
    REQUIRE(seen == 3);
    REQUIRE(ended);
}

CO_TEST_CASE("a finished producer refuses, and so does a default-made one") {
    point_of_counted point;
    auto end = point.attach();
    end.finish();
    end.finish();
    counted item(5);
    bool sent = co_await end.send(std::move(item));
    REQUIRE(!sent);
    REQUIRE(item.number == 5);
    REQUIRE(!end.post(counted(1)));
    point_of_counted::producer none;
    sent = co_await none.send(std::move(item));
    REQUIRE(!sent);
    REQUIRE(none.is_finished());
}

CO_TEST_CASE("moving a producer's handle does not end it; assigning over one does") {
    point_of_counted point;
    auto first = point.attach();
    auto moved = std::move(first);
    REQUIRE(point.producers() == 1);
    co_await moved.send(counted(1));
    auto second = point.attach();
    moved = std::move(second);
    REQUIRE(point.producers() == 1);
    co_await moved.send(counted(2));
    moved.finish();
    const auto batch = co_await point.next_batch();
    REQUIRE(batch.size() == 2);
}

CO_TEST_CASE("closing a merge refuses what comes, delivers what is inside, then ends") {
    for (const std::size_t budget : {1, 2, 10, 0}) {
        CAPTURE(budget);
        point_of_counted point;
        int sent[3] = {};
        bool refused[3] = {};
        scope work(co_await this_coroutine());
        for (int p = 0; p < 3; ++p)
            work.spawn(send_while_open(point.attach({.budget = budget}), sent[p], refused[p]));
        for (int n = 0; n < 100; ++n) {
            const auto item = co_await point.next();
            REQUIRE(item);
        }
        point.close();
        point.close();
        int left = 0;
        while (auto item = co_await point.next())
            ++left;
        REQUIRE(sent[0] + sent[1] + sent[2] == 100 + left);
        co_await work.join();
        REQUIRE((refused[0] && refused[1] && refused[2]));

        auto late = point.attach();
        const bool in = co_await late.send(counted(0));
        REQUIRE(!in);
        REQUIRE(!late.post(counted(0)));
        const auto nothing = co_await point.next();
        REQUIRE(!nothing);
    }
}

CO_TEST_CASE("closing wakes a consumer that waits") {
    point_of_counted point;
    auto silent = point.attach();
    int seen = 0;
    bool ended = false;
    scope work(co_await this_coroutine());
    work.spawn(count_items(point, seen, ended));
    point.close();
    co_await work.join();
    REQUIRE(ended);
}

CO_TEST_CASE("a producer that dies by an exception ends cleanly: its items arrive, then the stream ends") {
    point_of_counted point;
    scope work(co_await this_coroutine());
    work.spawn(send_then_throw(point.attach({.budget = 2}), 5));
    int seen = 0;
    while (auto item = co_await point.next()) {
        REQUIRE(item->number == seen);
        ++seen;
    }
    REQUIRE(seen == 5);
    std::string what;
    try {
        co_await work.join();
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
    REQUIRE(what == "the producer broke");
}

CO_TEST_CASE("producers that are destroyed while they wait end cleanly") {
    counted::living = 0;
    for (const std::size_t budget : {1, 5, 0}) {
        point_of_counted point;
        int sent[2] = {};
        bool refused[2] = {};
        std::optional<scope> work;
        work.emplace(co_await this_coroutine());
        for (int p = 0; p < 2; ++p) {
            work->spawn(send_while_open(point.attach({.budget = budget}), sent[p], refused[p]));
        }
        int seen = 0;
        for (; seen < 10; ++seen) {
            [[maybe_unused]] const auto item = co_await point.next();
        }
        work.reset(); // suspended in the merge, or woken already and in the ready queue
        REQUIRE(point.producers() == 0);
        while (auto item = co_await point.next())
            ++seen;
        REQUIRE(seen == sent[0] + sent[1]);
        REQUIRE((!refused[0] && !refused[1]));
    }
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("destroying a merge gives its suspended senders false; handles may outlive it") {
    counted::living = 0;
    scope work(co_await this_coroutine());
    std::optional<point_of_counted> point(std::in_place);
    int sent[3] = {};
    bool refused[3] = {};
    const std::size_t budgets[] = {1, 7, 0};
    for (int p = 0; p < 3; ++p)
        work.spawn(send_while_open(point->attach({.budget = budgets[p]}), sent[p], refused[p]));
    auto idle = point->attach();
    auto first = co_await point->next();
    first.reset();
    point.reset();
    REQUIRE(counted::living <= 3); // those waiting in their senders' frames; none inside
    co_await work.join();
    REQUIRE((refused[0] && refused[1] && refused[2]));
    counted item(9);
    const bool in = co_await idle.send(std::move(item));
    REQUIRE(!in);
    REQUIRE(item.number == 9);
    REQUIRE(!idle.post(counted(1)));
    idle.finish();
    REQUIRE(counted::living == 1);
}

CO_TEST_CASE("a refused item is left untouched, also when the refusal came while it waited") {
    point_of_counted point;
    auto end = point.attach({.budget = 1});
    co_await end.send(counted(1));
    scope work(co_await this_coroutine());
    work.spawn([](point_of_counted& to_close) -> task<void> {
        to_close.close();
        co_return;
    }(point));
    counted waiting(7);
    const bool in = co_await end.send(std::move(waiting));
    REQUIRE(!in);
    REQUIRE(waiting.number == 7);
}

CO_TEST_CASE("post puts an item in whatever the budget, behind what is there") {
    point_of_counted point;
    auto end = point.attach({.budget = 2});
    co_await end.send(counted(0));
    co_await end.send(counted(1));
    for (int n = 2; n < 200; ++n)
        REQUIRE(end.post(counted(n)));
    end.finish();
    int expected = 0;
    while (auto item = co_await point.next())
        REQUIRE(item->number == expected++);
    REQUIRE(expected == 200);
}

CO_TEST_CASE("post wakes a waiting consumer") {
    point_of_counted point;
    auto end = point.attach();
    int seen = 0;
    bool ended = false;
    scope work(co_await this_coroutine());
    work.spawn(count_items(point, seen, ended));
    end.post(counted(1));
    co_await yield();
    REQUIRE(seen == 1);
    end.finish();
    co_await work.join();
}

CO_TEST_CASE("items that hold a producer of the same merge do not keep it alive") {
    class letter {
    public:
        explicit letter(merge<letter>::producer reply) : reply(std::move(reply)) {}
        merge<letter>::producer reply;
        counted weight;
    };
    counted::living = 0;
    {
        merge<letter> point;
        auto end = point.attach();
        co_await end.send(letter(point.attach()));
        co_await end.send(letter(point.attach()));
        const auto first = co_await point.next();
        REQUIRE(first);
    }
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("a consumer that is destroyed while it waits leaves the merge usable") {
    point_of_counted point;
    auto end = point.attach();
    int seen = 0;
    bool ended = false;
    for (int round = 0; round < 2; ++round) {
        scope work(co_await this_coroutine());
        work.spawn(count_items(point, seen, ended));
        if (round == 1) co_await end.send(counted(1)); // woken, and destroyed in the ready queue
    }
    REQUIRE(seen == 0);
    const auto item = co_await point.next();
    REQUIRE(item->number == 1);
}
