// SPDX-License-Identifier: BSL-1.0

// Every way to leave an exchange in every phase of it: what was used is closed, the server sees it, nothing
// leaks.

#include "net/http_support.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

using namespace thalweg;
using namespace thalweg::testing;
using http::outcome_kind;

namespace {

struct phase {
    const char* name;
    http_reply reply;
    std::size_t reads; // pieces the reader has before it waits for ever
};

std::vector<phase> phases() {
    http_reply silent;
    silent.silent = true;
    silent.ending = http_ending::hang;
    http_reply head_only = event_stream({});
    head_only.ending = http_ending::hang;
    http_reply in_body = event_stream({"data: a\n\n"});
    in_body.ending = http_ending::hang;
    http_reply in_event = event_stream({"data: a\n\ndata: half"});
    in_event.ending = http_ending::hang;
    return {{"no answer", silent, 0},
            {"after the head", head_only, 0},
            {"in the body", in_body, 1},
            {"inside an event", in_event, 1}};
}

struct progress {
    std::size_t events = 0;
    bool ended = false;
    http::events_outcome outcome;
};

task<void> read_events(http::client& on, http::request what, progress& seen) {
    auto events = http::events(on, std::move(what));
    while (auto event = co_await events.next())
        ++seen.events;
    seen.outcome = std::move(events.result());
    seen.ended = true;
}

// Lets the loop run until the server has the request and the reader has its events.
task<void> until_waiting(const http_server& server, const progress& seen, std::size_t events) {
    while (server.requests().empty() || seen.events < events)
        co_await socket_turns(1);
    co_await socket_turns(20);
}

} // namespace

CO_TEST_CASE("a stop request ends an exchange in every phase and the server sees it") {
    for (const phase& each : phases()) {
        INFO(each.name);
        const http_server server(each.reply);
        const context here = co_await this_coroutine();
        http::client client(here.loop());
        progress seen;
        scope work(here);
        work.spawn(read_events(client, get(server.url()), seen));
        co_await until_waiting(server, seen, each.reads);
        CHECK_FALSE(seen.ended);
        work.cancel(cancel_reason::user);
        co_await work.join();
        CHECK(seen.ended);
        CHECK(seen.outcome.kind == outcome_kind::cancelled);
        CHECK(seen.outcome.message.find("cancelled (user)") != std::string::npos);
        CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1 && s.open() == 0; }));
    }
}

CO_TEST_CASE("destroying the reader in every phase closes the connection") {
    for (const phase& each : phases()) {
        INFO(each.name);
        const http_server server(each.reply);
        const context here = co_await this_coroutine();
        http::client client(here.loop());
        progress seen;
        {
            scope work(here);
            work.spawn(read_events(client, get(server.url()), seen));
            co_await until_waiting(server, seen, each.reads);
        }
        CHECK_FALSE(seen.ended);
        CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1 && s.open() == 0; }));
    }
}

CO_TEST_CASE("destroying the client in every phase cancels its exchanges, and they may outlive it") {
    for (const phase& each : phases()) {
        INFO(each.name);
        const http_server server(each.reply);
        const context here = co_await this_coroutine();
        std::optional<http::client> client(std::in_place, here.loop());
        progress seen;
        scope work(here);
        work.spawn(read_events(*client, get(server.url()), seen));
        co_await until_waiting(server, seen, each.reads);
        client.reset();
        co_await work.join();
        CHECK(seen.ended);
        CHECK(seen.outcome.kind == outcome_kind::cancelled);
        CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1 && s.open() == 0; }));
    }
}

CO_TEST_CASE("an exchange that is dropped before the loop turns sends nothing") {
    const http_server server(http_reply{});
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    { const http::exchange dropped = client.send(get(server.url())); }
    const whole_answer answer = co_await fetch(client, get(server.url("/second")));
    CHECK(answer.outcome.kind == outcome_kind::ok);
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].target == "/second");
}

CO_TEST_CASE("an exchange dropped while a name is looked up does not wait for it") {
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    for (int turns = 0; turns < 5; ++turns) {
        const http::exchange dropped = client.send(get("http://nowhere.invalid/"));
        co_await socket_turns(turns);
    }
}

CO_TEST_CASE("an exchange dropped at any turn of the loop leaves nothing behind") {
    const http_server server(event_stream(in_pieces("data: a\n\ndata: b\n\n", 3)));
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    for (int turns = 0; turns < 60; ++turns) {
        progress seen;
        scope work(here);
        work.spawn(read_events(client, get(server.url()), seen));
        co_await socket_turns(turns);
    }
    const whole_events after = co_await fetch_events(client, get(server.url()));
    CHECK(after.data == std::vector<std::string>{"a", "b"});
    CHECK(server.wait_until([](const http_server& s) { return s.open() <= 1; }));
}

CO_TEST_CASE("an exchange dropped after any number of pieces closes its connection") {
    http_reply reply = event_stream(in_pieces("data: a\n\ndata: b\n\n", 3));
    reply.pace = http_pace::when_released;
    http_server server(reply);
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    const std::size_t pieces = reply.pieces.size();
    for (std::size_t reads = 0; reads < pieces; ++reads) {
        http::exchange dropped = client.send(get(server.url()));
        for (std::size_t i = 0; i < reads; ++i) {
            if (i > 0) server.release();
            const std::string_view bytes = co_await dropped.read();
            CHECK(bytes == reply.pieces[i]);
        }
        const http::response_head* head = co_await dropped.head();
        CHECK(head != nullptr);
    }
    CHECK(server.wait_until(
        [pieces](const http_server& s) { return s.deserted() == pieces && s.open() == 0; }));
}

CO_TEST_CASE("a stop request before the first read prevents the request") {
    const http_server server(http_reply{});
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    progress seen;
    scope work(here);
    work.cancel(cancel_reason::timeout);
    work.spawn(read_events(client, get(server.url()), seen));
    co_await work.join();
    CHECK(seen.outcome.kind == outcome_kind::cancelled);
    CHECK(seen.outcome.message.find("cancelled (timeout)") != std::string::npos);
    CHECK(server.requests().empty());
}

namespace {

task<void> stop_before_second_read(http::client& on, std::string url, cancel_source& stop,
                                   http::outcome& ended) {
    http::exchange running = on.send(get(std::move(url)));
    const std::string_view first = co_await running.read();
    CHECK_FALSE(first.empty());
    co_await socket_turns(200);
    stop.request(cancel_reason::user);
    const std::string_view second = co_await running.read();
    CHECK(second.empty());
    ended = running.result();
}

task<void> read_once(http::exchange& from) {
    const std::string_view bytes = co_await from.read();
    FAIL("read " << bytes);
}

} // namespace

CO_TEST_CASE("a stop request is seen although bytes wait") {
    http_reply reply;
    reply.pieces = {std::string(std::size_t{24} << 20, 'x')};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context stoppable(here.loop(), stop);
    http::outcome ended;
    task<void> reading = stop_before_second_read(http::client::of(here.loop()), server.url(), stop, ended);
    co_await std::move(reading).under(stoppable);
    CHECK(ended.kind == outcome_kind::cancelled);
    CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1; }));
}

CO_TEST_CASE("an exchange dropped when its reader has just made room leaves nothing behind") {
    http_reply reply;
    reply.pieces = {std::string(std::size_t{24} << 20, 'x')};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    {
        http::exchange dropped = client.send(get(server.url()));
        co_await read_until_full(dropped);
    }
    co_await socket_turns(20);
    CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1; }));
}

CO_TEST_CASE("a reader may be dropped and another one go on with the exchange") {
    http_reply reply = event_stream({"a", "b"});
    reply.pace = http_pace::when_released;
    http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    const std::string_view first = co_await running.read();
    CHECK(first == "a");
    {
        scope work(here);
        work.spawn(read_once(running), here); // in a context that nobody asks to stop
    }
    server.release();
    CHECK(server.wait_until([](const http_server& s) { return s.answered() == 1; }));
    co_await socket_turns(20); // the bytes come while nobody waits
    const std::string_view second = co_await running.read();
    CHECK(second == "b");
}

CO_TEST_CASE("a stop request after the end changes nothing") {
    http_reply reply;
    reply.pieces = {"x"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    const std::string_view bytes = co_await running.read();
    CHECK(bytes == "x");
    const std::string_view end = co_await running.read();
    CHECK(end.empty());
    cancel_source stop;
    const context stopped(here.loop(), stop);
    stop.request(cancel_reason::user);
    CHECK(running.result().kind == outcome_kind::ok);
}
