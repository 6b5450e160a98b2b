// SPDX-License-Identifier: BSL-1.0

#include "net/http_support.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace thalweg;
using namespace thalweg::testing;
using http::outcome_kind;

CO_TEST_CASE("a request arrives as it was given and the answer comes back whole") {
    http_reply reply;
    reply.status = 201;
    reply.headers = {{"X-Request-Id", "r1"}, {"Retry-After", "7"}};
    reply.pieces = {"hel", "lo"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::request what = post(server.url("/v1/x?k=v"), "{\"a\":1}");
    what.headers.push_back({"Authorization", "Bearer key"});
    what.headers.push_back({"X-Empty", ""});
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), std::move(what));

    CHECK(answer.outcome.kind == outcome_kind::ok);
    CHECK(answer.outcome.message.empty());
    CHECK(answer.head.status == 201);
    CHECK(answer.head.find("x-request-id") == "r1");
    CHECK(answer.outcome.head.find("retry-after") == "7");
    CHECK_FALSE(answer.head.find("x-other").has_value());
    CHECK(answer.body == "hello");
    const auto requests = server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].method == "POST");
    CHECK(requests[0].target == "/v1/x?k=v");
    CHECK(requests[0].body == "{\"a\":1}");
    CHECK(requests[0].header("authorization") == "Bearer key");
    CHECK(requests[0].header("content-type") == "application/json");
    CHECK(requests[0].header("accept-encoding").empty());
}

CO_TEST_CASE("a large body is sent without asking first") {
    const http_server server(http_reply{});
    const context here = co_await this_coroutine();
    const std::string body(std::size_t{3} << 20, 'b');
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), post(server.url(), body));
    CHECK(answer.outcome.kind == outcome_kind::ok);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].header("expect").empty());
    CHECK((requests[0].body == body));
}

CO_TEST_CASE("methods go out as named, with and without a body") {
    http_reply reply;
    reply.pieces = {"x"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    for (const char* method : {"GET", "POST", "PUT", "DELETE", "PATCH"}) {
        http::request what = get(server.url());
        what.method = method;
        const whole_answer bare = co_await fetch(client, what);
        CHECK(bare.body == "x");
        what.body = "body";
        const whole_answer full = co_await fetch(client, std::move(what));
        CHECK(full.outcome.kind == outcome_kind::ok);
        const auto requests = server.requests();
        CHECK(requests[requests.size() - 2].method == method);
        CHECK(requests[requests.size() - 2].body.empty());
        CHECK(requests.back().method == method);
        CHECK(requests.back().body == "body");
    }
}

namespace {

// Lets the body go once the head is there.
task<void> release_after(http_server& server, const http::exchange& running) {
    while (!running.has_head())
        co_await socket_turns(1);
    co_await socket_turns(20);
    server.release();
}

} // namespace

CO_TEST_CASE("status and headers are there before the first byte of the body") {
    http_reply reply = event_stream({"a", "b"});
    reply.ending = http_ending::hang;
    reply.pieces.clear();
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    const http::response_head* head = co_await running.head();
    REQUIRE(head != nullptr);
    CHECK(head->status == 200);
}

CO_TEST_CASE("a reader that waits for the body is not woken by the head alone") {
    http_reply reply;
    reply.pieces = {"", "body"};
    reply.framing = http_framing::until_close;
    reply.pace = http_pace::when_released;
    http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    scope work(here);
    work.spawn(release_after(server, running));
    const std::string_view bytes = co_await running.read();
    CHECK(bytes == "body");
    co_await work.join();
}

CO_TEST_CASE("each piece can be read as it arrives, in every framing") {
    for (const auto framing :
         {http_framing::content_length, http_framing::chunked, http_framing::until_close}) {
        http_reply reply;
        reply.pieces = in_pieces("0123456789", 1);
        reply.framing = framing;
        reply.pace = http_pace::when_released;
        http_server server(reply);
        const context here = co_await this_coroutine();
        http::exchange running = http::client::of(here.loop()).send(get(server.url()));
        std::string body;
        for (int i = 0; i < 10; ++i) {
            const std::string_view bytes = co_await running.read();
            CHECK(bytes == std::string(1, static_cast<char>('0' + i)));
            server.release();
        }
        const std::string_view rest = co_await running.read();
        CHECK(rest.empty());
        CHECK(running.result().kind == outcome_kind::ok);
    }
}

CO_TEST_CASE("a status that is not 2xx is an http error that keeps its body and headers") {
    http_reply reply;
    reply.status = 429;
    reply.headers = {{"retry-after-ms", "120"}};
    reply.pieces = {"{\"error\":\"slow down\"}"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url("/p")));
    CHECK(answer.outcome.kind == outcome_kind::http_error);
    CHECK(answer.outcome.message == "GET " + server.url("/p") + ": HTTP status 429");
    CHECK(answer.outcome.head.find("retry-after-ms") == "120");
    CHECK(answer.body == "{\"error\":\"slow down\"}");
}

CO_TEST_CASE("a redirect is not followed and names its target without the query") {
    http_reply reply;
    reply.status = 302;
    reply.headers = {{"Location", "https://elsewhere.example/v1?token=SECRET"}};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url()));
    CHECK(answer.outcome.kind == outcome_kind::http_error);
    CHECK(answer.outcome.message.find("https://elsewhere.example/v1") != std::string::npos);
    CHECK(answer.outcome.message.find("SECRET") == std::string::npos);
    CHECK(server.requests().size() == 1);
}

CO_TEST_CASE("interim answers and trailers are not taken for the answer") {
    http_reply reply;
    reply.raw_head = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\nX-Folded: a\r\n "
                     "b\r\n\r\n";
    reply.framing = http_framing::until_close;
    reply.pieces = {"1\r\nx\r\n0\r\nT: late\r\n\r\n"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url()));
    CHECK(answer.outcome.kind == outcome_kind::ok);
    CHECK(answer.head.status == 200);
    CHECK_FALSE(answer.head.find("link").has_value());
    CHECK_FALSE(answer.outcome.head.find("t").has_value());
    CHECK(answer.head.find("x-folded") == "a b");
    CHECK(answer.body == "x");
}

CO_TEST_CASE("one connection serves one request after the other") {
    http_reply reply;
    reply.pieces = {"x"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    for (int i = 0; i < 5; ++i) {
        const whole_answer answer = co_await fetch(client, get(server.url()));
        CHECK(answer.outcome.kind == outcome_kind::ok);
    }
    CHECK(server.connections() == 1);
    CHECK(server.requests().size() == 5);
}

TEST_CASE("requests work on a loop with real time too, one loop after the other") {
    const http_server server(event_stream({"data: a\n\n"}));
    for (int i = 0; i < 3; ++i) {
        loop on;
        const whole_events answer = on.run(fetch_events(http::client::of(on), get(server.url())));
        CHECK(answer.data == std::vector<std::string>{"a"});
    }
    CHECK(server.wait_until([](const http_server& s) { return s.connections() == 3 && s.open() == 0; }));
}

namespace {

std::chrono::nanoseconds processor_time_of_this_thread() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// The share of the waiting that this thread was computing.
task<double> busy_share_of_waiting(http::client& on, http::request what) {
    http::exchange running = on.send(std::move(what));
    const http::response_head* head = co_await running.head();
    CHECK(head != nullptr);
    const auto begun = std::chrono::steady_clock::now();
    const auto before = processor_time_of_this_thread();
    const std::string_view bytes = co_await running.read();
    CHECK(bytes.empty());
    CHECK(running.result().timed_out == http::timeout_kind::idle);
    const std::chrono::duration<double> used = processor_time_of_this_thread() - before;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
    co_return used / passed;
}

} // namespace

TEST_CASE("waiting for a server takes no time of the processor") {
    http_reply reply = event_stream({});
    reply.ending = http_ending::hang;
    const http_server server(reply);
    http::request what = get(server.url());
    what.timeouts.first_byte = std::chrono::milliseconds(20); // its timer fires in vain
    what.timeouts.idle = std::chrono::milliseconds(500);
    loop on;
    // Who asks again and again is busy all the time; however slow the machine, who waits is not.
    CHECK(on.run(busy_share_of_waiting(http::client::of(on), std::move(what))) < 0.25);
}

namespace {

bool is_connected_to(int descriptor, std::uint16_t port) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    return getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
           ntohs(peer.sin_port) == port;
}

} // namespace

CO_TEST_CASE("child processes inherit no connection") {
    http_reply reply = event_stream({});
    reply.ending = http_ending::hang;
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    const http::response_head* head = co_await running.head();
    CHECK(head != nullptr);
    int connections = 0;
    for (int each = 3; each < 1024; ++each) {
        if (!is_connected_to(each, server.port())) continue;
        ++connections;
        CHECK((fcntl(each, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(connections == 1);
}

CO_TEST_CASE("everything on one loop shares one client") {
    const context here = co_await this_coroutine();
    CHECK(&http::client::of(here.loop()) == &http::client::of(here.loop()));
}

namespace {

task<void> count_stream(http::client& on, std::string url, std::size_t& bytes) {
    const whole_answer answer = co_await fetch(on, get(std::move(url)));
    if (answer.outcome.kind == outcome_kind::ok) bytes += answer.body.size();
}

} // namespace

CO_TEST_CASE("sixty-four streams at once bring every byte") {
    http_reply reply = event_stream(in_pieces(std::string(20'000, 'x'), 501));
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    std::size_t bytes = 0;
    scope work(here);
    for (int i = 0; i < 64; ++i)
        work.spawn(count_stream(client, server.url(), bytes));
    co_await work.join();
    CHECK(bytes == 64 * 20'000);
    CHECK(server.requests().size() == 64);
    CHECK(server.deserted() == 0);
}

CO_TEST_CASE("a slow reader bounds what waits in memory and gets every byte") {
    constexpr std::size_t size = std::size_t{8} << 20;
    http_reply reply;
    reply.pieces = {std::string(size, 'x')};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::exchange running = http::client::of(here.loop()).send(get(server.url()));
    std::size_t total = 0;
    std::size_t largest = 0;
    bool more = true;
    while (more) {
        co_await socket_turns(2);
        const std::string_view bytes = co_await running.read();
        total += bytes.size();
        largest = std::max(largest, bytes.size());
        more = !bytes.empty();
    }
    CHECK(total == size);
    CHECK(largest <= (256 + 16) * 1024);
    CHECK(running.result().kind == outcome_kind::ok);
}

CO_TEST_CASE("a reader that does not read leaves the rest with the server") {
    constexpr std::size_t size = std::size_t{24} << 20; // more than the system's socket buffers take
    http_reply reply;
    reply.pieces = {std::string(size, 'x')};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    std::optional<http::exchange> running(http::client::of(here.loop()).send(get(server.url())));
    const std::string_view first = co_await running->read();
    CHECK_FALSE(first.empty());
    co_await socket_turns(200);
    running.reset();
    CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 1; }));
}

CO_TEST_CASE("the proxy of the environment is used and its exceptions are kept") {
    http_reply reply;
    reply.pieces = {"by proxy"};
    const http_server proxy(reply);
    reply.pieces = {"direct"};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::client client(here.loop());
    setenv("http_proxy", proxy.url().c_str(), 1);
    const whole_answer foreign = co_await fetch(client, get("http://model.invalid/v1"));
    const whole_answer excepted = co_await fetch(client, get(server.url()));
    setenv("no_proxy", "localhost", 1);
    const whole_answer covered = co_await fetch(client, get(server.url("/own")));
    unsetenv("http_proxy");
    setenv("no_proxy", "127.0.0.1", 1);
    CHECK(foreign.body == "by proxy");
    CHECK(excepted.body == "direct");
    CHECK(covered.body == "by proxy");
    REQUIRE(proxy.requests().size() == 2);
    CHECK(proxy.requests()[0].target == "http://model.invalid/v1");
}
