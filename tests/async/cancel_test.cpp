// SPDX-License-Identifier: BSL-1.0

// Stop request, completion and destruction come in any order (H-50): every kind of wait is driven through all
// of them.

#include "counted.hpp"
#include "support/catch.hpp"

#include <thalweg/async/channel.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

/// What the waits wait for, and a way to bring it about.
class world {
public:
    world() : full(1), empty(1) {
        REQUIRE(full.try_send(counted(0)));
        REQUIRE(into_full.post(counted(0)));
    }
    void complete() {
        static_cast<void>(full.try_receive());
        static_cast<void>(empty.try_send(counted(1)));
        full_point.close();
        silent.post(counted(2));
    }

    channel<counted> full;
    channel<counted> empty;
    merge<counted> full_point;
    merge<counted>::producer into_full = full_point.attach({.budget = 1});
    merge<counted> empty_point;
    merge<counted>::producer silent = empty_point.attach();
};

using wait = task<void> (*)(world&);

task<void> wait_timer(world&) {
    co_await sleep_for(10s);
}
task<void> wait_deaf_timer(world&) {
    co_await sleep_through(10s);
}
task<void> wait_turn(world&) {
    co_await yield();
}
task<void> wait_stop(world&) {
    co_await stop_requested();
}
task<void> wait_channel_send(world& w) {
    co_await w.full.send(counted(3));
}
task<void> wait_channel_receive(world& w) {
    [[maybe_unused]] const auto item = co_await w.empty.receive();
}
task<void> wait_merge_send(world& w) {
    co_await w.into_full.send(counted(4));
    co_await w.into_full.send(counted(5));
}
task<void> wait_merge_next(world& w) {
    [[maybe_unused]] const auto item = co_await w.empty_point.next();
}
task<void> wait_merge_peek(world& w) {
    [[maybe_unused]] const auto* item = co_await w.empty_point.peek();
}
task<void> wait_merge_batch(world& w) {
    [[maybe_unused]] const auto items = co_await w.empty_point.next_batch();
}
task<void> wait_stream(world&) {
    auto source = []() -> stream<counted> {
        counted local(6);
        co_await sleep_for(10s);
        co_yield local;
    }();
    [[maybe_unused]] const auto item = co_await source.next();
}
task<void> wait_join(world&) {
    scope inner(co_await this_coroutine());
    inner.spawn([]() -> task<void> { co_await sleep_for(10s); }());
    co_await inner.join();
}

struct named_wait {
    const char* name;
    wait make;
};
constexpr std::array waits{
    named_wait{"sleep_for", wait_timer},
    named_wait{"sleep_through", wait_deaf_timer},
    named_wait{"yield", wait_turn},
    named_wait{"stop_requested", wait_stop},
    named_wait{"channel send", wait_channel_send},
    named_wait{"channel receive", wait_channel_receive},
    named_wait{"merge send", wait_merge_send},
    named_wait{"merge next", wait_merge_next},
    named_wait{"merge peek", wait_merge_peek},
    named_wait{"merge next_batch", wait_merge_batch},
    named_wait{"stream next", wait_stream},
    named_wait{"scope join", wait_join},
};

task<void> hold_while(wait make, world& w, counted held, bool& ended) {
    counted local(held.number);
    co_await make(w);
    ended = true;
}

enum class event { stop, complete, turn, time };
constexpr std::array<std::array<event, 4>, 8> orders{{
    {event::stop, event::complete, event::turn, event::time},
    {event::complete, event::stop, event::turn, event::time},
    {event::stop, event::turn, event::complete, event::time},
    {event::complete, event::turn, event::stop, event::time},
    {event::turn, event::stop, event::time, event::complete},
    {event::time, event::stop, event::complete, event::turn},
    {event::time, event::complete, event::turn, event::stop},
    {event::turn, event::complete, event::stop, event::time},
}};

} // namespace

CO_TEST_CASE("stop, completion and destruction of every wait in any order: nothing leaks, nothing runs after "
             "its end") {
    for (const named_wait& each : waits) {
        for (const auto& order : orders) {
            for (std::size_t destroy_after = 0; destroy_after <= order.size(); ++destroy_after) {
                CAPTURE(each.name, destroy_after);
                counted::living = 0;
                {
                    world w;
                    bool ended = false;
                    bool was_ended = false;
                    {
                        scope work(co_await this_coroutine());
                        work.spawn(hold_while(each.make, w, counted(9), ended));
                        for (std::size_t step = 0; step < destroy_after; ++step) {
                            switch (order[step]) {
                            case event::stop: work.cancel(cancel_reason::user); break;
                            case event::complete: w.complete(); break;
                            case event::turn: co_await yield(); break;
                            case event::time: co_await sleep_for(11s); break;
                            }
                        }
                        if (destroy_after == order.size()) {
                            co_await sleep_for(20s);
                            REQUIRE(ended);
                            co_await work.join();
                        }
                        was_ended = ended;
                    }
                    co_await sleep_for(20s);
                    REQUIRE(ended == was_ended);
                }
                REQUIRE(counted::living == 0);
            }
        }
    }
}

CO_TEST_CASE("a stop request that came before is seen by every wait that obeys it") {
    for (const named_wait& each : waits) {
        const std::string name = each.name;
        if (name != "sleep_for" && name != "stop_requested" && name != "channel receive" &&
            name != "stream next" && name != "scope join")
            continue;
        CAPTURE(name);
        world w;
        bool ended = false;
        scope work(co_await this_coroutine());
        work.cancel(cancel_reason::user);
        work.spawn(hold_while(each.make, w, counted(1), ended));
        REQUIRE(ended);
    }
}

TEST_CASE("the first request counts, and requests travel down with their reason") {
    cancel_source grandparent;
    cancel_source parent;
    cancel_source child;
    parent.follow(grandparent);
    child.follow(parent);
    REQUIRE(!child.requested());
    REQUIRE(child.reason() == cancel_reason::none);
    REQUIRE(parent.request(cancel_reason::timeout));
    REQUIRE(!parent.request(cancel_reason::user));
    REQUIRE(child.requested());
    REQUIRE(child.reason() == cancel_reason::timeout);
    REQUIRE(child.token().stop_requested());
    REQUIRE(!grandparent.requested());
    REQUIRE(grandparent.request(cancel_reason::shutdown));
    REQUIRE(child.reason() == cancel_reason::timeout);

    cancel_source late;
    late.follow(grandparent);
    REQUIRE(late.reason() == cancel_reason::shutdown);
    REQUIRE(!late.request(cancel_reason::user));
}

TEST_CASE("every reason has a word") {
    REQUIRE(std::string(to_string(cancel_reason::none)) == "none");
    REQUIRE(std::string(to_string(cancel_reason::user)) == "user");
    REQUIRE(std::string(to_string(cancel_reason::timeout)) == "timeout");
    REQUIRE(std::string(to_string(cancel_reason::parent)) == "parent");
    REQUIRE(std::string(to_string(cancel_reason::shutdown)) == "shutdown");
}
