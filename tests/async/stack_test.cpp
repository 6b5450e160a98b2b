// SPDX-License-Identifier: BSL-1.0

// Things that are ready cost no stack (H-53), however many in a row, in builds without optimization, too. The
// whole program may run with a stack of 256 KiB.

#include "sanitized.hpp"
#include "support/catch.hpp"

#include <thalweg/async/channel.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <cstdint>

using namespace thalweg;

namespace {

constexpr int many = testing::sanitized ? 1'000'000 : 10'000'000;

task<int> ready(int n) {
    co_return n;
}

stream<int> ready_items(int count) {
    for (int n = 0; n < count; ++n)
        co_yield int{n};
}

stream<int> passed_on(stream<int> source) {
    while (auto n = co_await source.next())
        co_yield int{*n};
}

task<void> send_to_channel(channel<int>& to, int count) {
    for (int n = 0; n < count; ++n)
        co_await to.send(n);
    to.close();
}

task<void> send_to_merge(merge<int>::producer to, int count) {
    for (int n = 0; n < count; ++n)
        co_await to.send(int{n});
}

} // namespace

CO_TEST_CASE("millions of tasks that are ready") {
    std::int64_t sum = 0;
    for (int n = 0; n < many; ++n) {
        const int value = co_await ready(n);
        sum += value;
    }
    REQUIRE(sum == std::int64_t{many} * (many - 1) / 2);
}

CO_TEST_CASE("millions of items of a stream, through another one") {
    auto source = passed_on(ready_items(many));
    int seen = 0;
    while (auto n = co_await source.next())
        seen += *n == seen ? 1 : 0;
    REQUIRE(seen == many);
}

CO_TEST_CASE("millions of items through a channel") {
    for (const std::size_t capacity : {1, 1000}) {
        channel<int> pipe(capacity);
        scope work(co_await this_coroutine());
        work.spawn(send_to_channel(pipe, many / 4));
        int seen = 0;
        while (auto n = co_await pipe.receive())
            seen += *n == seen ? 1 : 0;
        REQUIRE(seen == many / 4);
    }
}

CO_TEST_CASE("millions of sends and receives that never wait") {
    channel<int> pipe(1);
    merge<int> point;
    auto end = point.attach();
    int seen = 0;
    for (int n = 0; n < many / 4; ++n) {
        co_await pipe.send(n);
        const auto received = co_await pipe.receive();
        co_await end.send(int{*received});
        const auto taken = co_await point.next();
        seen += *taken == n ? 1 : 0;
    }
    REQUIRE(seen == many / 4);
}

CO_TEST_CASE("millions of items through a merge") {
    for (const std::size_t budget : {1, 64, 0}) {
        merge<int> point;
        scope work(co_await this_coroutine());
        work.spawn(send_to_merge(point.attach({.budget = budget}), many / 4));
        int seen = 0;
        while (auto n = co_await point.next())
            seen += *n == seen ? 1 : 0;
        REQUIRE(seen == many / 4);
    }
}

CO_TEST_CASE("many children that end at once, and turns through the ready queue") {
    scope work(co_await this_coroutine());
    for (int n = 0; n < many / 50; ++n) {
        work.spawn([]() -> task<void> { co_return; }());
        co_await work.join();
        co_await yield();
        co_await sleep_for(std::chrono::seconds(0));
    }
    REQUIRE(work.empty());
}
