// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/channel.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

task<int> answer() {
    co_await yield();
    co_return 42;
}

task<void> wait_for_ever(counted held) {
    channel<int> nobody_writes(1);
    [[maybe_unused]] const auto item = co_await nobody_writes.receive();
    counted local(held.number);
}

template <class Loop>
std::string what_run_throws(Loop& on, task<void> work) {
    try {
        on.run(std::move(work));
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing";
}

} // namespace

TEST_CASE("run gives the value, rethrows the exception, and may be called again") {
    loop on;
    REQUIRE(on.run(answer()) == 42);
    const auto text = on.run([]() -> task<std::string> { co_return "text"; }());
    REQUIRE(text == "text");
    const auto what = what_run_throws(on, []() -> task<void> {
        co_await yield();
        throw std::runtime_error("it broke");
    }());
    REQUIRE(what == "it broke");
    REQUIRE(on.run(answer()) == 42);
}

TEST_CASE("waiting for what nothing can bring is reported in a sentence, and the waiting task is destroyed") {
    counted::living = 0;
    testing::virtual_loop imagined;
    REQUIRE_THAT(what_run_throws(imagined, wait_for_ever(counted(1))),
                 Catch::Contains("every coroutine waits"));
    REQUIRE(counted::living == 0);
    loop real;
    REQUIRE_THAT(what_run_throws(real, wait_for_ever(counted(1))), Catch::Contains("every coroutine waits"));
    REQUIRE(counted::living == 0);
    REQUIRE(real.run(answer()) == 42);
}

TEST_CASE("a wait that was taken back does not hide that everything waits in vain") {
    loop on;
    const auto started = loop::clock::now();
    const auto what = what_run_throws(on, []() -> task<void> {
        {
            scope work(co_await this_coroutine());
            work.spawn([]() -> task<void> { co_await sleep_for(1h); }());
        }
        co_await wait_for_ever(counted(1));
    }());
    REQUIRE_THAT(what, Catch::Contains("every coroutine waits"));
    REQUIRE(loop::clock::now() - started < 30min);
}

TEST_CASE("external work holds virtual time and keeps the loop waiting") {
    testing::virtual_loop on;
    std::optional<std::thread> outside;
    std::vector<int> log;
    on.run([](loop& on, std::optional<std::thread>& outside, std::vector<int>& log) -> task<void> {
        scope work(co_await this_coroutine());
        std::optional<loop::external_work> busy(std::in_place, on);
        work.spawn([](std::vector<int>& log) -> task<void> {
            co_await sleep_for(1s);
            log.push_back(2);
        }(log));
        channel<int> done(1);
        outside.emplace([&on, &busy, &done, &log] {
            on.post([&busy, &done, &log] {
                log.push_back(1);
                busy.reset();
                static_cast<void>(done.try_send(1));
            });
        });
        [[maybe_unused]] const auto item = co_await done.receive();
        co_await work.join();
    }(on, outside, log));
    outside->join();
    REQUIRE(log == std::vector{1, 2});
    REQUIRE(on.elapsed() == 1s);
}

TEST_CASE("posted work runs in order, on the loop's thread, also when posted before the run") {
    loop on;
    std::vector<int> log;
    bool right_thread = true;
    const auto home = std::this_thread::get_id();
    on.post([&] { log.push_back(-1); });
    on.run([](loop& on, std::vector<int>& log, bool& right_thread, std::thread::id home) -> task<void> {
        channel<int> done(1);
        loop::external_work busy(on);
        std::thread outside([&] {
            for (int n = 0; n < 100; ++n) {
                on.post([&log, &right_thread, home, n] {
                    log.push_back(n);
                    right_thread = right_thread && std::this_thread::get_id() == home;
                });
            }
            on.post([&done] { static_cast<void>(done.try_send(1)); });
        });
        [[maybe_unused]] const auto item = co_await done.receive();
        outside.join();
    }(on, log, right_thread, home));
    REQUIRE(right_thread);
    REQUIRE(log.size() == 101);
    for (int n = -1; n < 100; ++n)
        REQUIRE(log[static_cast<std::size_t>(n + 1)] == n);
}

TEST_CASE("an exception of posted work leaves run, which destroys its task; the loop may be used again") {
    counted::living = 0;
    loop on;
    on.post([] { throw std::runtime_error("posted"); });
    const auto what = what_run_throws(on, [](counted held) -> task<void> {
        for (;;) {
            counted local(held.number);
            co_await yield();
        }
    }(counted(1)));
    REQUIRE(what == "posted");
    REQUIRE(counted::living == 0);
    REQUIRE(on.run(answer()) == 42);
}

TEST_CASE("request_stop from another thread reaches everything under the loop") {
    loop on;
    std::thread outside;
    const auto why = on.run([](loop& on, std::thread& outside) -> task<cancel_reason> {
        loop::external_work busy(on);
        outside = std::thread([&on] { on.request_stop(cancel_reason::shutdown); });
        const auto why = co_await stop_requested();
        co_return why;
    }(on, outside));
    outside.join();
    REQUIRE(why == cancel_reason::shutdown);
}

TEST_CASE("a loop runs on somebody else's io_context and is found there") {
    asio::io_context io;
    {
        loop on(io);
        REQUIRE(&loop::of(io) == &on);
        REQUIRE(on.run(answer()) == 42);
    }
    loop& made = loop::of(io);
    REQUIRE(&made == &loop::of(io));
    loop own;
    REQUIRE(&loop::of(own.io()) == &own);
}

TEST_CASE("coroutines that always have work do not keep the io_context's other handlers waiting") {
    loop on;
    bool heard = false;
    const int turns = on.run([](loop& on, bool& heard) -> task<int> {
        asio::post(on.io(), [&heard] { heard = true; });
        int turns = 0;
        while (!heard) {
            co_await yield();
            ++turns;
        }
        co_return turns;
    }(on, heard));
    REQUIRE(turns <= 2048);
}

TEST_CASE("handlers and wake-ups that are under way when their loop is destroyed find nobody") {
    counted::living = 0;
    asio::io_context io;
    {
        loop on(io);
        on.request_stop(cancel_reason::user);
        scope work(on.root_context());
        work.spawn([](counted held) -> task<void> {
            co_await yield();
            counted local(held.number);
        }(counted(1)));
        work.spawn([](counted) -> task<void> { co_await sleep_for(0s); }(counted(2)));
    }
    REQUIRE(counted::living == 0);
    io.run();
}

TEST_CASE("several loops run on several threads") {
    std::atomic<int> sum{0};
    std::vector<std::thread> all;
    for (int n = 0; n < 3; ++n) {
        all.emplace_back([&sum] {
            loop on;
            for (int round = 0; round < 100; ++round)
                sum += on.run(answer());
        });
    }
    for (auto& each : all)
        each.join();
    REQUIRE(sum == 3 * 100 * 42);
}

TEST_CASE("wall time is read once per turn, and is a fixed calendar on a virtual loop") {
    testing::virtual_loop on;
    on.run([](loop& on) -> task<void> {
        REQUIRE(on.wall_ms() == 1'893'456'000'000);
        co_await sleep_for(1500ms);
        REQUIRE(on.wall_ms() == 1'893'456'001'500);
    }(on));
    REQUIRE(on.elapsed() == 1500ms);
}

TEST_CASE("a real sleep takes at least its time") {
    loop on;
    const auto started = loop::clock::now();
    on.run([]() -> task<void> { co_await sleep_for(5ms); }());
    REQUIRE(loop::clock::now() - started >= 5ms);
}
