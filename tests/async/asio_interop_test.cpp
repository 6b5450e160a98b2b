// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/asio_interop.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/detached.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>
#include <asio/write.hpp>

#include <array>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

using local_socket = asio::local::stream_protocol::socket;

class socket_pair {
public:
    explicit socket_pair(loop& on) : here(on.io()), there(on.io()) { asio::local::connect_pair(here, there); }
    local_socket here;
    local_socket there;
};

task<asio_result<std::size_t>> read_some(local_socket& from, std::array<char, 64>& into) {
    const auto buffer = asio::buffer(into);
    auto got = co_await from.async_read_some(buffer, use_task);
    co_return got;
}

task<int> half(int n) {
    co_await sleep_for(0s);
    if (n % 2 != 0) throw std::runtime_error("odd");
    co_return n / 2;
}

task<int> wait_for_stop(cancel_reason& why) {
    why = co_await stop_requested();
    co_return 1;
}

task<void> hold_for_ever(counted held) {
    counted local(held.number);
    co_await sleep_for(1h);
}

std::string what_of(std::exception_ptr thrown) {
    if (!thrown) return "nothing";
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const std::exception& e) {
        return e.what();
    }
}

} // namespace

// Inside a task: use_task
// -----------------------------------------------------------------------------------------

CO_TEST_CASE("an operation with an error code gives it, one with a value gives both") {
    const context here = co_await this_coroutine();
    asio::steady_timer timer(here.loop().io());
    timer.expires_after(0s);
    std::error_code failed = co_await timer.async_wait(use_task);
    REQUIRE(!failed);

    socket_pair sockets(here.loop());
    const std::string sent = "hello";
    const auto outgoing = asio::buffer(sent);
    const auto written = co_await asio::async_write(sockets.there, outgoing, use_task);
    REQUIRE(!written.failed);
    REQUIRE(written.value == 5);
    std::array<char, 64> bytes{};
    const auto got = co_await read_some(sockets.here, bytes);
    REQUIRE(!got.failed);
    REQUIRE(std::string(bytes.data(), got.value) == "hello");

    sockets.there.close();
    const auto end = co_await read_some(sockets.here, bytes);
    REQUIRE(end.failed == asio::error::eof);
}

CO_TEST_CASE("an operation holds virtual time while it is under way") {
    const context here = co_await this_coroutine();
    const auto started = here.loop().now();
    asio::steady_timer timer(here.loop().io());
    timer.expires_after(1ms); // real time
    scope work(here);
    work.spawn([]() -> task<void> { co_await sleep_for(1h); }());
    const std::error_code failed = co_await timer.async_wait(use_task);
    REQUIRE(!failed);
    REQUIRE(here.loop().now() == started);
}

CO_TEST_CASE("a stop request cancels an operation, also one that came before it") {
    const context here = co_await this_coroutine();
    socket_pair sockets(here.loop());
    std::array<char, 64> bytes{};
    for (const bool before : {false, true}) {
        scope work(here);
        if (before) work.cancel(cancel_reason::user);
        std::error_code seen;
        work.spawn([](local_socket& from, std::array<char, 64>& bytes, std::error_code& seen) -> task<void> {
            const auto got = co_await read_some(from, bytes);
            seen = got.failed;
        }(sockets.here, bytes, seen));
        if (!before) work.cancel(cancel_reason::user);
        co_await work.join();
        REQUIRE(seen == asio::error::operation_aborted);
    }
}

CO_TEST_CASE("destroying a coroutine cancels its operation; the socket can be used again") {
    const context here = co_await this_coroutine();
    socket_pair sockets(here.loop());
    std::array<char, 64> bytes{};
    counted::living = 0;
    for (int turns = 0; turns < 3; ++turns) {
        scope work(here);
        work.spawn([](local_socket& from, std::array<char, 64>& bytes, counted held) -> task<void> {
            counted local(held.number);
            [[maybe_unused]] const auto got = co_await read_some(from, bytes);
        }(sockets.here, bytes, counted(1)));
        for (int turn = 0; turn < turns; ++turn)
            co_await yield();
    }
    REQUIRE(counted::living == 0);
    const std::string sent = "x";
    const auto outgoing = asio::buffer(sent);
    [[maybe_unused]] const auto written = co_await asio::async_write(sockets.there, outgoing, use_task);
    const auto got = co_await read_some(sockets.here, bytes);
    REQUIRE(got.value == 1);
}

CO_TEST_CASE("completion, stop and destruction of an operation in any order") {
    const context here = co_await this_coroutine();
    for (int order = 0; order < 8; ++order) {
        socket_pair sockets(here.loop());
        std::array<char, 64> bytes{};
        scope work(here);
        work.spawn([](local_socket& from, std::array<char, 64>& bytes) -> task<void> {
            [[maybe_unused]] const auto got = co_await read_some(from, bytes);
        }(sockets.here, bytes));
        const std::string sent = "x";
        if (order & 1) asio::write(sockets.there, asio::buffer(sent));
        if (order & 2) work.cancel(cancel_reason::user);
        if (order & 4) co_await yield();
    }
}

TEST_CASE("a loop may be destroyed while a dropped operation is still on its way") {
    counted::living = 0;
    for (const bool imagined : {false, true}) {
        std::optional<loop> real;
        std::optional<testing::virtual_loop> virtually;
        loop& on = imagined ? static_cast<loop&>(virtually.emplace()) : real.emplace();
        {
            asio::steady_timer timer(on.io());
            timer.expires_after(1h);
            on.run([](asio::steady_timer& timer, counted held) -> task<void> {
                scope work(co_await this_coroutine());
                work.spawn([](asio::steady_timer& timer, counted) -> task<void> {
                    [[maybe_unused]] const std::error_code failed = co_await timer.async_wait(use_task);
                }(timer, std::move(held)));
            }(timer, counted(1)));
        }
        REQUIRE(counted::living == 0);
    }
}

// From an Asio program: spawn
// -------------------------------------------------------------------------------------

TEST_CASE("spawn completes a callback with the value or the exception") {
    asio::io_context io;
    int value = 0;
    std::string what;
    spawn(io.get_executor(), half(8), [&](std::exception_ptr thrown, int got) {
        what = what_of(std::move(thrown));
        value = got;
    });
    io.run();
    REQUIRE(value == 4);
    REQUIRE(what == "nothing");
    io.restart();
    spawn(io.get_executor(), half(7), [&](std::exception_ptr thrown, int got) {
        what = what_of(std::move(thrown));
        value = got;
    });
    io.run();
    REQUIRE(value == 0);
    REQUIRE(what == "odd");
}

TEST_CASE("spawn with use_future gives a future of the value, of nothing, or of the exception") {
    asio::io_context io;
    auto good = spawn(io.get_executor(), half(10), asio::use_future);
    auto bad = spawn(io.get_executor(), half(11), asio::use_future);
    auto nothing = spawn(io.get_executor(), []() -> task<void> { co_await yield(); }(), asio::use_future);
    io.run();
    REQUIRE(good.get() == 5);
    REQUIRE_THROWS_WITH(bad.get(), "odd");
    nothing.get();
}

TEST_CASE("a spawned task that waits keeps the io_context running, and no longer than that") {
    asio::io_context io;
    bool done = false;
    merge<int> point;
    std::thread outside([to = point.attach_remote()]() mutable { to.send(5); });
    spawn(
        io.get_executor(),
        [](merge<int>& from) -> task<int> {
            const auto item = co_await from.next();
            scope dropped(co_await this_coroutine());
            dropped.spawn([]() -> task<void> { co_await sleep_for(1h); }()); // its alarm must not hold run()
            co_return *item;
        }(point),
        [&](std::exception_ptr, int got) { done = got == 5; });
    io.run();
    outside.join();
    REQUIRE(done);
}

TEST_CASE("the token's cancellation slot asks the task to stop") {
    asio::io_context io;
    asio::cancellation_signal signal;
    cancel_reason why = cancel_reason::none;
    int value = 0;
    auto done = [&](std::exception_ptr, int got) { value = got; };
    spawn(io.get_executor(), wait_for_stop(why), asio::bind_cancellation_slot(signal.slot(), done));
    io.poll();
    REQUIRE(value == 0);
    signal.emit(asio::cancellation_type::terminal);
    io.restart();
    io.run();
    REQUIRE(why == cancel_reason::user);
    REQUIRE(value == 1);
    signal.emit(asio::cancellation_type::terminal); // nobody there any more
}

TEST_CASE("a handler runs on its own executor") {
    asio::io_context io;
    asio::thread_pool pool(1);
    std::promise<std::thread::id> where;
    auto handler = [&](std::exception_ptr, int) { where.set_value(std::this_thread::get_id()); };
    spawn(io.get_executor(), half(2), asio::bind_executor(pool.get_executor(), handler));
    io.run();
    pool.join();
    REQUIRE(where.get_future().get() != std::this_thread::get_id());
}

TEST_CASE(
    "a handler that throws, and a task spawned with detached that throws, leave run of the io_context") {
    asio::io_context io;
    spawn(io.get_executor(), half(1), asio::detached);
    REQUIRE_THROWS_WITH(io.run(), "odd");
    spawn(io.get_executor(), half(2), asio::detached);
    io.run();
    io.restart();
    spawn(io.get_executor(), half(2),
          [](std::exception_ptr, int) { throw std::logic_error("the handler's"); });
    REQUIRE_THROWS_WITH(io.run(), "the handler's");
}

TEST_CASE("an io_context destroyed before its tasks have ended destroys them where they wait") {
    counted::living = 0;
    {
        asio::io_context io;
        spawn(io.get_executor(), hold_for_ever(counted(1)), [held = counted(2)](std::exception_ptr) {});
        spawn(
            io.get_executor(),
            [](asio::io_context& io, counted held) -> task<void> {
                asio::steady_timer timer(io);
                timer.expires_after(1h);
                counted local(held.number);
                [[maybe_unused]] const std::error_code failed = co_await timer.async_wait(use_task);
            }(io, counted(3)),
            asio::detached);
        asio::steady_timer gone_first(io);
        gone_first.expires_after(1h);
        spawn(
            io.get_executor(),
            [](asio::steady_timer& timer, counted) -> task<void> {
                [[maybe_unused]] const std::error_code failed = co_await timer.async_wait(use_task);
            }(gone_first, counted(4)),
            asio::detached);
        io.poll();
        REQUIRE(counted::living > 0);
    }
    REQUIRE(counted::living == 0);
}

TEST_CASE("a spawned task that has ended but was not reported yet goes with its io_context, too") {
    counted::living = 0;
    {
        asio::io_context io;
        spawn(
            io.get_executor(), []() -> task<void> { co_return; }(),
            [held = counted(1)](std::exception_ptr) {});
        REQUIRE(counted::living == 1);
    }
    REQUIRE(counted::living == 0);
}

TEST_CASE("spawn works on a loop of ours as well, and inherits its stop request") {
    testing::virtual_loop on;
    cancel_reason why = cancel_reason::none;
    int value = 0;
    on.run([](loop& on, cancel_reason& why, int& value) -> task<void> {
        auto done = [&value](std::exception_ptr, int got) { value = got; };
        spawn(on.io().get_executor(), wait_for_stop(why), done);
        co_await sleep_for(1h);
        on.cancel().request(cancel_reason::shutdown);
        co_await yield();
        co_await yield();
    }(on, why, value));
    REQUIRE(why == cancel_reason::shutdown);
    REQUIRE(on.elapsed() == 1h);
    REQUIRE(value == 1);
}
