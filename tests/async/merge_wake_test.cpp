// SPDX-License-Identifier: BSL-1.0

// How a merge's consumer hears of other threads: when they wake its loop, when they get credit back, and what
// holds when a loop ends while that is under way. Nothing here depends on how long anything takes.

#include "numbered.hpp"
#include "support/catch.hpp"

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

using numbers = merge<numbered>;

task<void> take_all(numbers& from, order_check& check) {
    while (auto item = co_await from.next())
        check.see(*item);
}

template <class Condition>
void spin_until(Condition reached) {
    while (!reached())
        std::this_thread::yield();
}

/// Stops its thread on its first move, which is the one into the inbox, until told to go on.
class stopped_item {
public:
    explicit stopped_item(int n) noexcept : number(n) {}
    stopped_item(int n, std::atomic<bool>& arrived, std::atomic<bool>& go) noexcept
        : number(n), arrived_(&arrived), go_(&go) {}
    stopped_item(stopped_item&& other) noexcept : number(other.number) {
        if (other.go_ == nullptr) return;
        other.arrived_->store(true);
        spin_until([&] { return other.go_->load(); });
    }

    int number;

private:
    std::atomic<bool>* arrived_ = nullptr;
    std::atomic<bool>* go_ = nullptr;
};

} // namespace

TEST_CASE("a loop that sleeps is woken once for all that comes until it runs, and that is counted") {
    asio::io_context io;
    loop on(io);
    numbers point;
    order_check check(2);
    auto first = point.attach_remote({.budget = 0});
    auto second = point.attach_remote({.budget = 0});
    scope work(on.root_context());
    REQUIRE(point.remote_wakes() == 0);
    work.spawn(take_all(point, check));
    for (int round = 0; round < 4; ++round) {
        io.poll(); // the consumer waits, and the loop is about to sleep
        REQUIRE(point.remote_wakes() == static_cast<std::uint64_t>(round));
        for (int n = 0; n < 100; ++n) {
            REQUIRE(first.try_send(numbered(0, round * 100 + n)));
            REQUIRE(second.try_send(numbered(1, round * 100 + n)));
        }
        REQUIRE(point.remote_wakes() == static_cast<std::uint64_t>(round + 1));
    }
    first.finish();
    second.finish();
    io.poll();
    REQUIRE(check.seen() == 800);
    REQUIRE(work.empty());
}

TEST_CASE("items that are there already wake nobody") {
    asio::io_context io;
    loop on(io);
    numbers point;
    order_check check(1);
    auto to = point.attach_remote({.budget = 0});
    for (int n = 0; n < 500; ++n)
        REQUIRE(to.try_send(numbered(0, n)));
    scope work(on.root_context());
    work.spawn(take_all(point, check));
    to.finish();
    io.poll();
    REQUIRE(check.seen() == 500);
    REQUIRE(work.empty());
    REQUIRE(point.remote_wakes() == 0);
}

TEST_CASE("what is sent from a handler that runs while the consumer rests reaches it") {
    asio::io_context io;
    loop on(io);
    numbers point;
    order_check check(1);
    auto to = point.attach_remote({.budget = 0});
    auto local = point.attach(); // may send at any time, so the consumer stays
    scope work(on.root_context());
    work.spawn(take_all(point, check));
    for (int n = 0; n < 50; ++n)
        asio::post(io, [&to, n] { REQUIRE(to.try_send(numbered(0, n))); });
    io.poll();
    REQUIRE(check.seen() == 50);
    to.finish(); // not the last producer: nothing ends
    io.poll();
    REQUIRE(!work.empty());
    io.restart(); // nothing outside holds it any more
    local.finish();
    io.poll();
    REQUIRE(work.empty());
}

TEST_CASE("a remote producer with a budget of 64 gets half of it back when half of it is consumed") {
    virtual_loop on;
    on.run([]() -> task<void> {
        numbers point;
        auto to = point.attach_remote({.budget = 64});
        int sent = 0;
        while (to.try_send(numbered(0, sent)))
            ++sent;
        REQUIRE(sent == 64);
        for (int n = 0; n < 33; ++n) {
            REQUIRE(!to.try_send(numbered(0, sent)));
            const auto item = co_await point.next(); // the 33rd call gives the first 32 back
            REQUIRE(item->number == n);
        }
        while (to.try_send(numbered(0, sent)))
            ++sent;
        REQUIRE(sent == 64 + 32);
        to.finish();
        for (int n = 33; n < sent; ++n) {
            const auto item = co_await point.next();
            REQUIRE(item->number == n);
        }
        const auto end = co_await point.next();
        REQUIRE(!end);
    }());
}

TEST_CASE("a merge outlives a loop that ends armed or with a wake-up under way, and works on the next one") {
    numbers point;
    auto to = point.attach_remote({.budget = 0});
    order_check check(1);
    int sent = 0;
    enum class leaving { armed, woken };
    for (const auto how : {leaving::armed, leaving::woken, leaving::armed, leaving::woken}) {
        auto io = std::make_unique<asio::io_context>();
        auto on = std::make_unique<loop>(*io);
        auto work = std::make_unique<scope>(on->root_context());
        work->spawn(take_all(point, check));
        io->poll();
        REQUIRE(check.seen() == sent); // also what came while there was no loop
        const auto before = point.remote_wakes();
        REQUIRE(to.try_send(numbered(0, sent++)));
        REQUIRE(point.remote_wakes() == before + 1);
        io->poll();
        REQUIRE(check.seen() == sent);
        if (how == leaving::woken) REQUIRE(to.try_send(numbered(0, sent++)));
        work.reset();
        on.reset();
        io.reset(); // drops the wake-up unread
        const auto after = point.remote_wakes();
        REQUIRE(to.try_send(numbered(0, sent++)));
        REQUIRE(point.remote_wakes() == after); // nobody is there to be woken
    }
}

TEST_CASE("an item that overtakes another thread's is not overtaken by what is sent because of it") {
    merge<stopped_item> point;
    std::atomic<bool> arrived{false};
    std::atomic<bool> sent{false};
    std::atomic<bool> sending{false};
    std::atomic<bool> go{false};
    auto local = point.attach();
    std::thread stopped(
        [to = point.attach_remote(), &arrived, &go]() mutable { to.send(stopped_item(0, arrived, go)); });
    std::thread quick([to = point.attach_remote(), &arrived, &sent, &sending, &go]() mutable {
        spin_until([&] { return arrived.load(); });
        to.send(stopped_item(1));
        sent.store(true);
        spin_until([&] { return sending.load(); });
        go.store(true);
    });
    spin_until([&] { return sent.load(); });
    sending.store(true);
    local.post(stopped_item(2)); // because of 1
    local.finish();
    stopped.join();
    quick.join();
    std::vector<int> order;
    virtual_loop on;
    on.run([](merge<stopped_item>& from, std::vector<int>& order) -> task<void> {
        while (auto item = co_await from.next())
            order.push_back(item->number);
    }(point, order));
    REQUIRE(order == std::vector<int>{0, 1, 2});
}
