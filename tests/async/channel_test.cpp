// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/channel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <memory>
#include <optional>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

task<void> send_range(channel<int>& to, int first, int count, int& accepted) {
    for (int n = first; n < first + count; ++n) {
        const bool sent = co_await to.send(n);
        if (!sent) co_return;
        ++accepted;
    }
}

task<void> send_counted(channel<counted>& to, int count) {
    for (int n = 0; n < count; ++n)
        co_await to.send(counted(n));
}

task<void> receive_all(channel<int>& from, std::vector<int>& seen, bool& ended) {
    while (auto item = co_await from.receive())
        seen.push_back(*item);
    ended = true;
}

} // namespace

CO_TEST_CASE("a channel keeps the order of its sends for every capacity") {
    for (const std::size_t capacity : {1, 2, 3, 64}) {
        CAPTURE(capacity);
        channel<int> pipe(capacity);
        int accepted = 0;
        scope work(co_await this_coroutine());
        work.spawn(send_range(pipe, 0, 500, accepted));
        REQUIRE(pipe.size() == capacity);
        for (int n = 0; n < 500; ++n) {
            const auto item = co_await pipe.receive();
            REQUIRE(*item == n);
            REQUIRE(pipe.size() <= capacity);
        }
        co_await work.join();
        REQUIRE(accepted == 500);
    }
}

CO_TEST_CASE("senders that wait get in first come, first served; nobody overtakes them") {
    channel<int> pipe(1);
    int accepted = 0;
    scope work(co_await this_coroutine());
    for (int sender = 0; sender < 5; ++sender)
        work.spawn(send_range(pipe, sender, 1, accepted));
    REQUIRE(accepted == 1);
    const auto first = co_await pipe.receive();
    REQUIRE(*first == 0);
    REQUIRE(!pipe.try_send(99));
    for (int sender = 1; sender < 5; ++sender) {
        const auto item = co_await pipe.receive();
        REQUIRE(*item == sender);
    }
    co_await work.join();
    REQUIRE(accepted == 5);
}

CO_TEST_CASE("try_send and try_receive never wait") {
    channel<std::unique_ptr<int>> pipe(1);
    auto nothing = pipe.try_receive();
    REQUIRE(!nothing);
    REQUIRE(pipe.try_send(std::make_unique<int>(1)));
    auto second = std::make_unique<int>(2);
    REQUIRE(!pipe.try_send(std::move(second)));
    REQUIRE(second);
    const auto first = pipe.try_receive();
    REQUIRE(**first == 1);
    REQUIRE(pipe.try_send(std::move(second)));
    co_return;
}

CO_TEST_CASE("try_receive lets a waiting sender in") {
    channel<int> pipe(1);
    int accepted = 0;
    scope work(co_await this_coroutine());
    work.spawn(send_range(pipe, 0, 2, accepted));
    REQUIRE(accepted == 1);
    const auto first = pipe.try_receive();
    REQUIRE(*first == 0);
    REQUIRE(pipe.size() == 1);
    co_await work.join();
    REQUIRE(accepted == 2);
}

CO_TEST_CASE("closing refuses waiting senders and ends the receiver behind what is inside") {
    channel<int> pipe(2);
    int accepted = 0;
    scope work(co_await this_coroutine());
    work.spawn(send_range(pipe, 0, 10, accepted));
    work.spawn(send_range(pipe, 100, 10, accepted));
    pipe.close();
    pipe.close();
    REQUIRE(pipe.is_closed());
    co_await work.join();
    REQUIRE(accepted == 2);
    const bool late = co_await pipe.send(1);
    REQUIRE(!late);
    REQUIRE(!pipe.try_send(1));
    std::vector<int> seen;
    bool ended = false;
    co_await receive_all(pipe, seen, ended);
    REQUIRE(seen == std::vector{0, 1});
    const auto nothing = co_await pipe.receive();
    REQUIRE(!nothing);
}

CO_TEST_CASE("closing wakes a receiver that waits") {
    channel<int> pipe(2);
    std::vector<int> seen;
    bool ended = false;
    scope work(co_await this_coroutine());
    work.spawn(receive_all(pipe, seen, ended));
    co_await pipe.send(5);
    pipe.close();
    co_await work.join();
    REQUIRE(seen == std::vector{5});
    REQUIRE(ended);
}

CO_TEST_CASE("a stop request ends a receive, not a send") {
    channel<int> pipe(1);
    std::vector<int> seen;
    bool ended = false;
    int accepted = 0;
    scope work(co_await this_coroutine());
    channel<int> full(1);
    work.spawn(receive_all(pipe, seen, ended));
    work.spawn(send_range(full, 0, 2, accepted));
    work.cancel(cancel_reason::user);
    co_await yield();
    REQUIRE(ended);
    REQUIRE(accepted == 1);
    const auto item = co_await full.receive();
    REQUIRE(*item == 0);
    co_await work.join();
    REQUIRE(accepted == 2);

    // Asked to stop before it waits: what is there is still received, then the end.
    scope stopped(co_await this_coroutine());
    stopped.cancel();
    seen.clear();
    ended = false;
    stopped.spawn(receive_all(full, seen, ended));
    REQUIRE(seen == std::vector{1});
    REQUIRE(ended);
}

CO_TEST_CASE("senders and receivers that are destroyed while they wait leave the channel usable") {
    counted::living = 0;
    {
        channel<counted> pipe(1);
        for (int rounds = 0; rounds < 3; ++rounds) {
            scope work(co_await this_coroutine());
            for (int sender = 0; sender < 3; ++sender)
                work.spawn(send_counted(pipe, 2));
            if (rounds == 1)
                REQUIRE(pipe.try_receive()); // one of them is admitted and waits in the ready queue
            if (rounds == 2) co_await yield();
        }
        while (pipe.try_receive()) {}
        {
            scope work(co_await this_coroutine());
            work.spawn([](channel<counted>& from) -> task<void> {
                [[maybe_unused]] const auto item = co_await from.receive();
            }(pipe));
        }
        co_await pipe.send(counted(4));
        const auto item = co_await pipe.receive();
        REQUIRE(item->number == 4);
    }
    REQUIRE(counted::living == 0);
}

CO_TEST_CASE("destroying a channel refuses those who wait to send") {
    std::optional<channel<int>> pipe(std::in_place, 1);
    int accepted = 0;
    scope work(co_await this_coroutine());
    work.spawn(send_range(*pipe, 0, 5, accepted));
    pipe.reset();
    co_await work.join();
    REQUIRE(accepted == 1);
}
