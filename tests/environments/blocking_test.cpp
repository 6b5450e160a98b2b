// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/functions.hpp>

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include "support/run_tool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

using namespace thalweg;
using environments::functions;
using testing::run_tool;

namespace {

struct words_args {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(words_args, (), (text))

/// Runs a tool into a place of the caller's.
template <class E>
task<void> run_into(E& environment, std::string name, std::string arguments, testing::tool_seen& into) {
    auto seen = co_await run_tool(environment, std::move(name), std::move(arguments));
    into = std::move(seen);
}

const auto pool_size = std::max(4U, std::thread::hardware_concurrency());

} // namespace

CO_TEST_CASE("a blocking function runs on another thread and its answer comes back to the loop") {
    const auto here = std::this_thread::get_id();
    auto tools = functions(
        tool("where", "d", blocking([here] { return std::this_thread::get_id() != here; })),
        tool("words", "d", blocking([](const words_args& args) { return args.text.size(); })),
        tool("nothing", "d", blocking([](words_args) {})));
    const auto where = co_await run_tool(tools, "where", "");
    REQUIRE(where.output() == "true");
    const auto words = co_await run_tool(tools, "words", R"({"text":"four"})");
    REQUIRE(words.output() == "4");
    const auto nothing = co_await run_tool(tools, "nothing", R"({"text":""})");
    REQUIRE(nothing.pieces.empty());
    REQUIRE_FALSE(nothing.failed());
    REQUIRE(std::this_thread::get_id() == here);
}

CO_TEST_CASE("blocking calls run at the same time") {
    std::latch both(2); // neither can go on without the other
    auto tools = functions(tool("meet", "d", blocking([&both] { both.arrive_and_wait(); })));
    testing::tool_seen a;
    testing::tool_seen b;
    scope work(co_await this_coroutine());
    work.spawn(run_into(tools, "meet", "", a));
    work.spawn(run_into(tools, "meet", "", b));
    co_await work.join();
    REQUIRE_FALSE(a.failed());
    REQUIRE_FALSE(b.failed());
}

CO_TEST_CASE("many blocking calls all end, more than there are threads") {
    std::atomic<int> runs = 0;
    auto tools = functions(tool("count", "d", blocking([&runs] { ++runs; })));
    std::vector<testing::tool_seen> seen(200);
    scope work(co_await this_coroutine());
    for (auto& each : seen)
        work.spawn(run_into(tools, "count", "", each));
    co_await work.join();
    REQUIRE(runs == 200);
}

CO_TEST_CASE("an interrupt reaches a running function through its stop token and waits for it") {
    std::binary_semaphore started(0);
    bool saw_stop = false;
    auto tools = functions(tool("patient", "d", blocking([&](std::stop_token stop) {
                                    std::mutex mutex;
                                    std::condition_variable_any never;
                                    std::unique_lock lock(mutex);
                                    started.release();
                                    never.wait(lock, stop, [] { return false; });
                                    saw_stop = stop.stop_requested();
                                    return tool_result::aborted();
                                })));
    testing::tool_seen seen;
    scope work(co_await this_coroutine());
    work.spawn(run_into(tools, "patient", "", seen));
    started.acquire();
    work.cancel(cancel_reason::user);
    co_await work.join();
    REQUIRE(saw_stop);
    REQUIRE(seen.stop == stop_reason::aborted);
}

CO_TEST_CASE("an interrupt withdraws calls that no thread has begun") {
    std::counting_semaphore<> release(0);
    std::atomic<int> begun = 0;
    auto tools = functions(tool("block", "d", blocking([&] { release.acquire(); })),
                           tool("late", "d", blocking([&] { ++begun; })));
    std::vector<testing::tool_seen> seen(pool_size);
    testing::tool_seen late;
    scope blockers(co_await this_coroutine());
    for (auto& each : seen)
        blockers.spawn(run_into(tools, "block", "", each));
    scope waiting(co_await this_coroutine());
    waiting.spawn(run_into(tools, "late", "", late));
    waiting.cancel(cancel_reason::user);
    co_await waiting.join(); // although every thread is still blocked
    REQUIRE(late.stop == stop_reason::aborted);
    release.release(static_cast<std::ptrdiff_t>(pool_size));
    co_await blockers.join();
    REQUIRE(begun == 0);
}

CO_TEST_CASE("a call that is asked to stop before it starts does not start") {
    bool ran = false;
    auto tools = functions(tool("late", "d", blocking([&] { ran = true; })));
    testing::tool_seen late;
    scope work(co_await this_coroutine());
    work.cancel(cancel_reason::user);
    work.spawn(run_into(tools, "late", "", late));
    co_await work.join();
    REQUIRE(late.stop == stop_reason::aborted);
    REQUIRE_FALSE(ran);
}

TEST_CASE("a dropped call runs to its end without its coroutine, its environment and its loop") {
    struct shared_state {
        std::binary_semaphore started{0};
        std::binary_semaphore go_on{0};
        std::binary_semaphore ended{0};
        std::string argument;
        bool stopped = false;
    };
    auto shared = std::make_shared<shared_state>();
    {
        testing::virtual_loop on;
        on.run([](std::shared_ptr<shared_state> state) -> task<void> {
            auto tools = functions(
                raw_tool("late", "d", R"({"type":"object"})",
                         blocking([state](std::string_view argument, std::stop_token stop) {
                             state->started.release();
                             state->go_on.acquire();
                             state->argument = argument; // points into the call
                             state->stopped = stop.stop_requested();
                             state->ended.release();
                             return std::string(100, 'x');
                         })));
            testing::tool_seen seen;
            scope work(co_await this_coroutine());
            work.spawn(run_into(tools, "late", R"({"a":"longer than what fits into a text inline"})", seen));
            state->started.acquire();
        }(shared)); // the scope drops the running call
    }
    shared->go_on.release();
    shared->ended.acquire();
    REQUIRE(shared->argument == R"({"a":"longer than what fits into a text inline"})");
    REQUIRE(shared->stopped);
}

TEST_CASE("the end of a pool drops what has not begun and waits for what runs") {
    struct task_of_test final : environments::detail::job {
        std::function<void()> does;
        void work(std::stop_token) override { does(); }
    };
    std::binary_semaphore started(0);
    std::binary_semaphore go_on(0);
    bool finished = false;
    bool dropped_ran = false;
    auto running = std::make_shared<task_of_test>();
    running->does = [&] {
        started.release();
        go_on.acquire();
        finished = true;
    };
    auto waiting = std::make_shared<task_of_test>();
    waiting->does = [&] { dropped_ran = true; };
    std::weak_ptr<task_of_test> watched = waiting;
    std::thread release_when_dropped;
    {
        environments::detail::thread_pool pool(1);
        pool.push(running);
        pool.push(std::move(waiting));
        started.acquire();
        release_when_dropped = std::thread([&] {
            while (!watched.expired())
                std::this_thread::yield();
            go_on.release();
        });
    }
    REQUIRE(finished);
    REQUIRE_FALSE(dropped_ran);
    release_when_dropped.join();
}
