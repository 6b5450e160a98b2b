// SPDX-License-Identifier: BSL-1.0

// Producers on other threads. Threads here are real; nothing waits for time to pass, and the loop waits for
// them as external work.

#include "counted.hpp"
#include "numbered.hpp"
#include "sanitized.hpp"
#include "support/catch.hpp"

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

using numbers = merge<numbered>;

constexpr int many = sanitized ? 100'000 : 1'000'000;

/// Threads that are joined at the end of the test, whatever happens; declared before what they use is closed.
class threads {
public:
    threads() = default;
    threads(const threads&) = delete;
    threads& operator=(const threads&) = delete;
    ~threads() { join(); }

    template <class Work>
    void start(Work work) {
        all_.emplace_back(std::move(work));
    }
    void join() {
        for (std::thread& each : all_) {
            if (each.joinable()) each.join();
        }
    }

private:
    std::vector<std::thread> all_;
};

void send_numbers(numbers::remote_producer to, int producer, int count) {
    for (int n = 0; n < count; ++n) {
        if (!to.send(numbered(producer, n))) return;
    }
}

task<void> send_locally(numbers::producer to, int producer, int count) {
    for (int n = 0; n < count; ++n) {
        co_await to.send(numbered(producer, n));
        if (n % 16 == 0) co_await yield();
    }
}

/// Waits on the calling thread until `reached`; other threads bring it about.
template <class Condition>
void spin_until(Condition reached) {
    while (!reached())
        std::this_thread::yield();
}

} // namespace

CO_TEST_CASE("items of several threads and of the loop arrive once and in each producer's order") {
    for (const std::size_t budget : {1, 3, 64, 5000, 0}) {
        CAPTURE(budget);
        const int each = budget < 64 ? many / 500 : many / 20;
        threads running;
        numbers point;
        scope work(co_await this_coroutine());
        for (int p = 0; p < 4; ++p) {
            running.start([to = point.attach_remote({.budget = budget}), p, each]() mutable {
                send_numbers(std::move(to), p, each);
            });
        }
        for (int p = 4; p < 6; ++p)
            work.spawn(send_locally(point.attach({.budget = budget}), p, each));
        order_check check(6);
        while (auto item = co_await point.next())
            check.see(*item);
        REQUIRE(check.seen() == 6 * each);
    }
}

CO_TEST_CASE("a million items from many producers on few threads arrive whole") {
    constexpr int producers = 8;
    constexpr int threads_used = 2;
    threads running;
    numbers point;
    for (int t = 0; t < threads_used; ++t) {
        std::vector<numbers::remote_producer> mine;
        for (int p = 0; p < producers / threads_used; ++p)
            mine.push_back(point.attach_remote());
        running.start([mine = std::move(mine), t]() mutable {
            for (int n = 0; n < many / producers; ++n) {
                for (std::size_t p = 0; p < mine.size(); ++p) {
                    mine[p].send(numbered(t * (producers / threads_used) + static_cast<int>(p), n));
                }
            }
        });
    }
    order_check check(producers);
    for (;;) {
        const auto batch = co_await point.next_batch();
        if (batch.empty()) break;
        for (const numbered& item : batch)
            check.see(item);
    }
    REQUIRE(check.seen() == many / producers * producers);
}

CO_TEST_CASE("an item that was sent because of another one comes after it, across threads") {
    // The thread sends, then says so; the loop sees that and sends an item of its own. And the other way
    // round.
    threads running;
    numbers point;
    std::atomic<int> said{0};
    std::atomic<int> answered{0};
    constexpr int rounds = 300;
    running.start([to = point.attach_remote(), &said, &answered]() mutable {
        for (int n = 0; n < rounds; ++n) {
            spin_until([&] { return answered.load(std::memory_order_acquire) == n; });
            to.send(numbered(0, n));
            said.store(n + 1, std::memory_order_release);
        }
    });
    scope work(co_await this_coroutine());
    work.spawn([](numbers::producer to, std::atomic<int>& said, std::atomic<int>& answered) -> task<void> {
        for (int n = 0; n < rounds; ++n) {
            while (said.load(std::memory_order_acquire) != n + 1) {
                std::this_thread::yield();
                co_await yield();
            }
            co_await to.send(numbered(1, n));
            answered.store(n + 1, std::memory_order_release);
        }
    }(point.attach(), said, answered));
    int at = 0;
    while (auto item = co_await point.next()) {
        if (item->producer != at % 2 || item->number != at / 2) FAIL("effect before cause at " << at);
        ++at;
    }
    REQUIRE(at == 2 * rounds);
}

CO_TEST_CASE("a remote producer's items count as under way until they are taken") {
    for (const int budget : {1, 2, 7, 64, 300}) {
        CAPTURE(budget);
        threads running;
        numbers point;
        std::atomic<int> sent{0};
        running.start(
            [to = point.attach_remote({.budget = static_cast<std::size_t>(budget)}), &sent]() mutable {
                for (int n = 0; n < 2000; ++n) {
                    to.send(numbered(0, n));
                    sent.fetch_add(1);
                }
            });
        spin_until([&] { return sent.load() == budget; });
        int taken = 0;
        int most = 0;
        while (auto item = co_await point.next()) {
            most = std::max(most, sent.load() - taken);
            ++taken;
        }
        REQUIRE(taken == 2000);
        REQUIRE(most <= budget);
        REQUIRE(most > 0);
    }
}

CO_TEST_CASE("try_send gives false instead of waiting and leaves the item") {
    merge<counted> point;
    auto end = point.attach_remote({.budget = 2});
    REQUIRE(end.try_send(counted(0)));
    REQUIRE(end.try_send(counted(1)));
    counted third(2);
    REQUIRE(!end.try_send(std::move(third)));
    REQUIRE(third.number == 2);
    for (int n = 0; n < 2; ++n) {
        const auto item = co_await point.next();
        REQUIRE(item->number == n);
    }
    REQUIRE(!end.try_send(std::move(third))); // the place is free once the consumer comes back
    scope work(co_await this_coroutine());
    int next = 0;
    work.spawn([](merge<counted>& from, int& next) -> task<void> {
        const auto item = co_await from.next();
        next = item->number;
    }(point, next));
    REQUIRE(end.try_send(std::move(third)));
    co_await work.join();
    REQUIRE(next == 2);
    point.close();
    REQUIRE(!end.try_send(counted(3)));
    REQUIRE(end.is_closed());
    REQUIRE(!end.send(counted(3)));
}

CO_TEST_CASE("try_send is refused when the inbox is full, whatever the budget") {
    merge<counted> point;
    auto end = point.attach_remote({.budget = 0});
    int sent = 0;
    while (end.try_send(counted(sent)))
        ++sent;
    REQUIRE(sent == 1024);
    end.finish();
    int seen = 0;
    while (auto item = co_await point.next())
        REQUIRE(item->number == seen++);
    REQUIRE(seen == sent);
}

CO_TEST_CASE("a consumer that waits already hears of a remote producer attached later") {
    threads running;
    numbers point;
    auto silent = point.attach(); // keeps the consumer waiting
    order_check check(1);
    scope work(co_await this_coroutine());
    work.spawn([](numbers& from, order_check& check) -> task<void> {
        while (auto item = co_await from.next())
            check.see(*item);
    }(point, check));
    running.start([to = point.attach_remote()]() mutable { send_numbers(std::move(to), 0, 10'000); });
    silent.finish();
    co_await work.join();
    REQUIRE(check.seen() == 10'000);
}

TEST_CASE("a batch from outside wakes the loop once") {
    asio::io_context io;
    loop on(io);
    numbers point;
    order_check check(1);
    auto to = point.attach_remote({.budget = 0});
    scope work(on.root_context());
    work.spawn([](numbers& from, order_check& check) -> task<void> {
        while (auto item = co_await from.next())
            check.see(*item);
    }(point, check));
    for (int round = 0; round < 3; ++round) {
        io.poll(); // the consumer waits
        for (int n = 0; n < 500; ++n)
            REQUIRE(to.try_send(numbered(0, round * 500 + n)));
        REQUIRE(io.poll() == 2); // the wake-up, and the ready queue with the consumer
        REQUIRE(check.seen() == (round + 1) * 500);
    }
    to.finish();
    io.poll();
    REQUIRE(work.empty());
}

CO_TEST_CASE("finishing the last remote producer wakes the consumer") {
    for (int round = 0; round < 200; ++round) {
        threads running;
        numbers point;
        running.start([to = point.attach_remote()]() mutable { to.finish(); });
        const auto nothing = co_await point.next();
        REQUIRE(!nothing);
        REQUIRE(point.producers() == 0);
    }
}

CO_TEST_CASE("threads that flood a merge do not keep the loop's own coroutines waiting") {
    threads running;
    numbers point;
    for (int p = 0; p < 2; ++p) {
        running.start(
            [to = point.attach_remote({.budget = 0}), p]() mutable { send_numbers(std::move(to), p, many); });
    }
    int turns = 0;
    scope work(co_await this_coroutine());
    work.spawn([](int& turns) -> task<void> {
        for (;;) {
            ++turns;
            co_await yield();
        }
    }(turns));
    int seen = 0;
    int between = 0;
    int worst = 0;
    int last_turn = 0;
    while (seen < many / 2) {
        [[maybe_unused]] const auto item = co_await point.next();
        ++seen;
        between = turns == last_turn ? between + 1 : 0;
        last_turn = turns;
        worst = std::max(worst, between);
    }
    REQUIRE(worst <= 1024);
    point.close();
}

CO_TEST_CASE(
    "closing refuses threads that wait for their budget or for room, and loses nothing that was accepted") {
    for (const std::size_t budget : {1, 64, 0}) {
        for (int round = 0; round < 10; ++round) {
            CAPTURE(budget, round);
            threads running;
            numbers point;
            std::array<std::atomic<int>, 3> accepted{};
            for (int p = 0; p < 3; ++p) {
                auto& mine = accepted[static_cast<std::size_t>(p)];
                running.start([to = point.attach_remote({.budget = budget}), p, &mine]() mutable {
                    while (to.send(numbered(p, mine.load())))
                        mine.fetch_add(1);
                });
            }
            order_check check(3);
            for (int n = 0; n < round * 100; ++n) {
                const auto item = co_await point.next();
                check.see(*item);
            }
            point.close();
            while (auto item = co_await point.next())
                check.see(*item);
            running.join();
            for (int p = 0; p < 3; ++p)
                REQUIRE(check.seen_of(p) == accepted[static_cast<std::size_t>(p)].load());
        }
    }
}

TEST_CASE("a merge destroyed while threads wait in send lets them go") {
    for (const std::size_t budget : {1, 50, 0}) {
        threads running;
        std::atomic<int> refused{0};
        {
            testing::virtual_loop on;
            on.run([](std::size_t budget, threads& running, std::atomic<int>& refused) -> task<void> {
                merge<int> point;
                for (int p = 0; p < 3; ++p) {
                    running.start([to = point.attach_remote({.budget = budget}), &refused, p]() mutable {
                        while (to.send(int{p})) {}
                        refused.fetch_add(1);
                    });
                }
                std::array<bool, 3> seen{};
                while (!(seen[0] && seen[1] && seen[2])) {
                    const auto from = co_await point.next();
                    seen[static_cast<std::size_t>(*from)] = true;
                }
            }(budget, running, refused));
        }
        running.join();
        REQUIRE(refused.load() == 3);
    }
}

CO_TEST_CASE("remote handles may outlive the merge; what they sent is destroyed with it") {
    counted::living = 0;
    merge<counted>::remote_producer survivor;
    {
        merge<counted> point;
        survivor = point.attach_remote();
        survivor.send(counted(1));
        survivor.send(counted(2));
        REQUIRE(counted::living == 2);
    }
    REQUIRE(counted::living == 0);
    REQUIRE(survivor.is_closed());
    REQUIRE(!survivor.send(counted(3)));
    survivor.finish();
    REQUIRE(!survivor.send(counted(3)));
    co_await yield();
}

CO_TEST_CASE("a consumer destroyed while it waits for threads leaves them unharmed") {
    threads running;
    numbers point;
    std::atomic<bool> go{false};
    running.start([to = point.attach_remote(), &go]() mutable {
        spin_until([&] { return go.load(); });
        send_numbers(std::move(to), 0, 100);
    });
    {
        scope work(co_await this_coroutine());
        work.spawn([](numbers& from) -> task<void> {
            [[maybe_unused]] const auto never = co_await from.next();
        }(point));
    }
    go.store(true);
    order_check check(1);
    while (auto item = co_await point.next())
        check.see(*item);
    REQUIRE(check.seen() == 100);
}
