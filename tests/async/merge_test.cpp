// SPDX-License-Identifier: BSL-1.0

// What a merge delivers: each item once, in its producer's order, all in the order of arrival, within
// budgets, fairly.

#include "counted.hpp"
#include "numbered.hpp"
#include "support/catch.hpp"

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

using numbers = merge<numbered>;

task<void> send_numbers(numbers::producer to, int producer, int count) {
    for (int n = 0; n < count; ++n) {
        const bool sent = co_await to.send(numbered(producer, n));
        if (!sent) FAIL("an open merge refused an item");
    }
}

/// Sends and lets others run at random; writes down what it sent when it was in.
task<void> send_and_log(numbers::producer to, int producer, int count, unsigned seed,
                        std::vector<numbered>& log) {
    std::mt19937 random(seed);
    for (int n = 0; n < count; ++n) {
        co_await to.send(numbered(producer, n));
        log.emplace_back(producer, n);
        for (unsigned turns = random() % 3; turns > 0; --turns)
            co_await yield();
    }
}

/// How far each producer is ahead of the consumer.
class flight_log {
public:
    explicit flight_log(int producers) : under_way_(static_cast<std::size_t>(producers)) {}
    void sent(int producer) {
        int& mine = under_way_[static_cast<std::size_t>(producer)];
        most_ = std::max(most_, ++mine);
    }
    void taken(int producer) { --under_way_[static_cast<std::size_t>(producer)]; }
    [[nodiscard]] int most() const noexcept { return most_; }

private:
    std::vector<int> under_way_;
    int most_ = 0;
};

task<void> send_counting(numbers::producer to, int producer, int count, flight_log& flight) {
    for (int n = 0; n < count; ++n) {
        co_await to.send(numbered(producer, n));
        flight.sent(producer);
    }
}

task<void> send_until_closed(numbers::producer to, int producer, int& sent) {
    for (;;) {
        const bool in = co_await to.send(numbered(producer, sent));
        if (!in) co_return;
        ++sent;
    }
}

} // namespace

CO_TEST_CASE("a merge delivers each item once and keeps the order of each producer") {
    for (const std::size_t budget : {1, 2, 3, 7, 64, 65, 1000, 0}) {
        for (const int producers : {1, 2, 8, 100}) {
            CAPTURE(budget, producers);
            numbers point;
            scope work(co_await this_coroutine());
            for (int p = 0; p < producers; ++p) {
                work.spawn(send_numbers(point.attach({.budget = budget}), p, 300));
            }
            order_check check(producers);
            while (auto item = co_await point.next())
                check.see(*item);
            co_await work.join();
            REQUIRE(check.seen() == producers * 300);
        }
    }
}

CO_TEST_CASE("a merge is in the order in which its items went in") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        for (const std::size_t budget : {1, 2, 5, 64, 0}) {
            CAPTURE(seed, budget);
            numbers point;
            std::vector<numbered> log;
            scope work(co_await this_coroutine());
            for (int p = 0; p < 6; ++p) {
                work.spawn(
                    send_and_log(point.attach({.budget = budget}), p, 150, seed * 100 + unsigned(p), log));
            }
            std::size_t at = 0;
            while (auto item = co_await point.next()) {
                if (at >= log.size()) FAIL("an item came that nobody sent");
                if (item->producer != log[at].producer || item->number != log[at].number) FAIL("wrong order");
                ++at;
            }
            co_await work.join();
            REQUIRE(at == 6 * 150);
        }
    }
}

CO_TEST_CASE("a producer never has more items under way than its budget, and makes use of all of it") {
    for (const int budget : {1, 2, 3, 7, 64, 200}) {
        for (const int producers : {1, 3}) {
            CAPTURE(budget, producers);
            numbers point;
            flight_log flight(producers);
            scope work(co_await this_coroutine());
            for (int p = 0; p < producers; ++p) {
                auto end = point.attach({.budget = static_cast<std::size_t>(budget)});
                work.spawn(send_counting(std::move(end), p, 1000, flight));
            }
            order_check check(producers);
            while (auto item = co_await point.next()) {
                flight.taken(item->producer);
                check.see(*item);
                co_await yield();
            }
            REQUIRE(check.seen() == producers * 1000);
            REQUIRE(flight.most() == budget);
        }
    }
}

CO_TEST_CASE("items in place count as under way until the consumer comes back") {
    numbers point;
    flight_log flight(1);
    scope work(co_await this_coroutine());
    work.spawn(send_counting(point.attach({.budget = 10}), 0, 500, flight));
    std::size_t seen = 0;
    for (;;) {
        const auto batch = co_await point.next_batch();
        if (batch.empty()) break;
        for (int turn = 0; turn < 5; ++turn)
            co_await yield();
        seen += batch.size();
        for (std::size_t n = 0; n < batch.size(); ++n)
            flight.taken(0);
    }
    REQUIRE(seen == 500);
    REQUIRE(flight.most() == 10);
}

CO_TEST_CASE("a producer without a bound is never held back, but lets others run") {
    numbers point;
    scope work(co_await this_coroutine());
    work.spawn(send_numbers(point.attach({.budget = 0}), 0, 10'000));
    int turns = 0;
    while (!work.empty()) {
        co_await yield();
        ++turns;
    }
    REQUIRE(turns > 100);
    order_check check(1);
    while (auto item = co_await point.next())
        check.see(*item);
    REQUIRE(check.seen() == 10'000);
}

CO_TEST_CASE("producers that always have items take turns") {
    for (const std::size_t budget : {1, 8, 64, 0}) {
        CAPTURE(budget);
        constexpr int producers = 10;
        const int share = budget == 0 ? 64 : static_cast<int>(budget);
        numbers point;
        int sent[producers] = {};
        scope work(co_await this_coroutine());
        for (int p = 0; p < producers; ++p) {
            work.spawn(send_until_closed(point.attach({.budget = budget}), p, sent[p]));
        }
        int last_seen[producers] = {};
        int worst = 0;
        for (int at = 1; at <= 20'000; ++at) {
            const auto item = co_await point.next();
            int& last = last_seen[item->producer];
            worst = std::max(worst, at - last);
            last = at;
        }
        for (const int last : last_seen)
            worst = std::max(worst, 20'000 - last);
        REQUIRE(worst <= 2 * producers * share);
        point.close();
        co_await work.join();
    }
}

CO_TEST_CASE("a quiet producer's item overtakes what a chatty one has not sent yet") {
    for (const std::size_t budget : {1, 64, 0}) {
        numbers point;
        int chatter = 0;
        scope work(co_await this_coroutine());
        work.spawn(send_until_closed(point.attach({.budget = budget}), 0, chatter));
        auto quiet = point.attach();
        int between = 0;
        int worst = 0;
        int quiet_sent = 0;
        bool under_way = false;
        for (int at = 0; at < 20'000; ++at) {
            const auto item = co_await point.next();
            ++between;
            if (item->producer == 1) {
                worst = std::max(worst, between);
                under_way = false;
            }
            if (!under_way) {
                co_await quiet.send(numbered(1, quiet_sent++));
                between = 0;
                under_way = true;
            }
        }
        REQUIRE(quiet_sent > 100);
        REQUIRE(worst <= 2 * 64);
        point.close();
        co_await work.join();
    }
}

CO_TEST_CASE("next, peek and next_batch can be mixed") {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        numbers point;
        std::vector<numbered> log;
        scope work(co_await this_coroutine());
        for (int p = 0; p < 4; ++p) {
            work.spawn(
                send_and_log(point.attach({.budget = 1 + random() % 100}), p, 400, seed + unsigned(p), log));
        }
        order_check check(4);
        for (bool more = true; more;) {
            switch (random() % 4) {
            case 0: {
                const auto item = co_await point.next();
                more = item.has_value();
                if (item) check.see(*item);
                break;
            }
            case 1: {
                const numbered* item = co_await point.peek();
                more = item != nullptr;
                if (item != nullptr) check.see(*item);
                break;
            }
            case 2: {
                const auto batch = co_await point.next_batch();
                more = !batch.empty();
                for (const numbered& item : batch)
                    check.see(item);
                break;
            }
            default: co_await yield();
            }
        }
        REQUIRE(check.seen() == 4 * 400);
    }
}

CO_TEST_CASE("an item in place stays where it is while others are sent") {
    merge<std::string> point;
    auto end = point.attach({.budget = 0});
    co_await end.send(std::string("the first one, too long to lie inside of the string itself"));
    const std::string* first = co_await point.peek();
    for (int n = 0; n < 300; ++n)
        co_await end.send(std::to_string(n));
    REQUIRE(*first == "the first one, too long to lie inside of the string itself");
    const auto batch = co_await point.next_batch();
    REQUIRE(batch.front() == "0");
    for (int n = 0; n < 300; ++n)
        co_await end.send(std::string("more"));
    REQUIRE(batch.front() == "0");
    REQUIRE(batch.back() == std::to_string(batch.size() - 1));
}

CO_TEST_CASE("a merge takes items that can only be moved, and copies what it may not move from") {
    merge<std::unique_ptr<int>> moving;
    auto mover = moving.attach();
    auto value = std::make_unique<int>(7);
    co_await mover.send(std::move(value));
    const auto moved = co_await moving.next();
    REQUIRE(**moved == 7);

    merge<std::string> copying;
    auto copier = copying.attach();
    const std::string kept = "kept";
    co_await copier.send(kept);
    const auto copy = co_await copying.next();
    REQUIRE(*copy == "kept");
    REQUIRE(kept == "kept");
}

TEST_CASE("a merge destroys every item it was given, once") {
    counted::living = 0;
    for (const int taken : {0, 1, 63, 64, 65, 200, 500}) {
        testing::virtual_loop on;
        on.run([](int take) -> task<void> {
            merge<counted> point;
            auto end = point.attach({.budget = 0});
            for (int n = 0; n < 500; ++n)
                co_await end.send(counted(n));
            for (int n = 0; n < take; ++n) {
                const auto item = co_await point.next();
                REQUIRE(item->number == n);
            }
        }(taken));
        REQUIRE(counted::living == 0);
    }
}
