// SPDX-License-Identifier: BSL-1.0

#include "net/http_support.hpp"

#include <thalweg/testing/co_test_case.hpp>

#include <array>
#include <cstdlib>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace thalweg;
using namespace thalweg::testing;
using http::outcome_kind;
using http::timeout_kind;

namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// A port on which nobody listens any more.
std::string dead_url() {
    const http_server gone(http_reply{});
    return gone.url("/v1");
}

// Listens, but its queue is full: the system answers no further connection.
class deaf_listener {
public:
    deaf_listener() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address_;
        bind(socket_, reinterpret_cast<const sockaddr*>(&address_), size);
        listen(socket_, 0);
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size);
        for (int& each : filling_) {
            each = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
            static_cast<void>(connect(each, reinterpret_cast<const sockaddr*>(&address_), size));
        }
    }
    deaf_listener(const deaf_listener&) = delete;
    deaf_listener& operator=(const deaf_listener&) = delete;
    ~deaf_listener() {
        for (const int each : filling_)
            close(each);
        close(socket_);
    }

    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/v1";
    }

private:
    int socket_;
    sockaddr_in address_{};
    std::array<int, 4> filling_{};
};

// The request fails at once, without a loop.
std::string complaint_about(http::request what) {
    virtual_loop on;
    http::client client(on);
    const http::exchange refused = client.send(std::move(what));
    CHECK(refused.result().kind == outcome_kind::rejected);
    return refused.result().message;
}

} // namespace

CO_TEST_CASE("a refused connection says so with the chain of causes") {
    const std::string url = dead_url();
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), post(url));
    CHECK(answer.outcome.kind == outcome_kind::transport);
    CHECK(answer.head.status == 0);
    INFO(answer.outcome.message);
    CHECK(answer.outcome.message.starts_with("POST " + url + ": "));
    CHECK(contains(answer.outcome.message, "curl 7"));
    CHECK(contains(answer.outcome.message, "Connection refused"));
}

CO_TEST_CASE("a name without an address is a transport failure") {
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()),
                                               get("http://nowhere.invalid/v1"));
    CHECK(answer.outcome.kind == outcome_kind::transport);
    CHECK(contains(answer.outcome.message, "nowhere.invalid"));
    CHECK(contains(answer.outcome.message, "curl 6"));
}

CO_TEST_CASE("a connection that breaks in the body keeps what arrived and is told from a short body") {
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    http_reply reply;
    reply.pieces = {"part"};
    reply.length_off_by = 10;
    reply.ending = http_ending::close;
    const http_server cutting(reply);
    const whole_answer cut = co_await fetch(client, get(cutting.url()));
    CHECK(cut.outcome.kind == outcome_kind::malformed);
    CHECK(contains(cut.outcome.message, "curl 18"));
    CHECK(cut.body == "part");

    reply = event_stream({"part"});
    reply.ending = http_ending::close;
    const http_server cutting_chunks(reply);
    const whole_answer cut_chunks = co_await fetch(client, get(cutting_chunks.url()));
    CHECK(cut_chunks.outcome.kind == outcome_kind::malformed);
    CHECK(cut_chunks.body == "part");

    reply.pieces = {"part", "more"};
    reply.pace = http_pace::when_read;
    reply.ending = http_ending::reset;
    const http_server resetting(reply);
    const whole_answer reset = co_await fetch(client, get(resetting.url()));
    CHECK(reset.outcome.kind == outcome_kind::transport);
    CHECK(reset.head.status == 200);
}

CO_TEST_CASE("an answer without any byte is a transport failure") {
    http_reply reply;
    reply.silent = true;
    reply.ending = http_ending::close;
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url()));
    CHECK(answer.outcome.kind == outcome_kind::transport);
    CHECK(contains(answer.outcome.message, "curl 52"));
    CHECK(answer.head.status == 0);
}

CO_TEST_CASE("an answer that is not HTTP is malformed") {
    http_reply reply;
    reply.raw_head = "SSH-2.0-OpenSSH_9.2\r\n\r\n";
    reply.framing = http_framing::until_close;
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url()));
    CHECK(answer.outcome.kind == outcome_kind::malformed);
}

CO_TEST_CASE("headers without end are refused") {
    http_reply reply;
    for (int i = 0; i < 100; ++i)
        reply.headers.emplace_back("X-Long", std::string(4000, 'x'));
    const http_server server(reply);
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), get(server.url()));
    CHECK(answer.outcome.kind == outcome_kind::malformed);
    CHECK(contains(answer.outcome.message, "the headers of the answer exceed 262144 bytes"));
}

CO_TEST_CASE("each limit of time ends the exchange and names itself") {
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());

    http_reply reply;
    reply.silent = true;
    reply.ending = http_ending::hang;
    const http_server silent(reply);
    http::request what = get(silent.url());
    what.timeouts = {.first_byte = std::chrono::milliseconds(20), .idle = std::chrono::milliseconds(1)};
    const whole_answer unanswered = co_await fetch(client, what);
    CHECK(unanswered.outcome.kind == outcome_kind::timeout);
    CHECK(unanswered.outcome.timed_out == timeout_kind::first_byte);
    CHECK(contains(unanswered.outcome.message, "no answer within 20 ms"));

    reply = event_stream({"data: a\n\n"});
    reply.ending = http_ending::hang;
    const http_server hanging(reply);
    what = get(hanging.url());
    what.timeouts.idle = std::chrono::milliseconds(300); // its first bytes come before that on any machine
    const whole_answer idle = co_await fetch(client, what);
    CHECK(idle.outcome.kind == outcome_kind::timeout);
    CHECK(idle.outcome.timed_out == timeout_kind::idle);
    CHECK(idle.body == "data: a\n\n");
    CHECK(contains(idle.outcome.message, "nothing came for 300 ms"));

    what.timeouts.idle = std::chrono::milliseconds(0);
    what.timeouts.total = std::chrono::milliseconds(300);
    const whole_answer total = co_await fetch(client, std::move(what));
    CHECK(total.outcome.kind == outcome_kind::timeout);
    CHECK(total.outcome.timed_out == timeout_kind::total);
    CHECK(contains(total.outcome.message, "not finished within 300 ms"));

    CHECK(hanging.wait_until([](const http_server& s) { return s.deserted() == 2 && s.open() == 0; }));
}

CO_TEST_CASE("a slow reader is not taken for a silent server") {
    http_reply reply;
    reply.pieces = {std::string(std::size_t{24} << 20, 'x')};
    const http_server server(reply);
    const context here = co_await this_coroutine();
    http::request what = get(server.url());
    what.timeouts.idle = std::chrono::milliseconds(800);
    http::exchange running = http::client::of(here.loop()).send(std::move(what));
    co_await read_until_full(running);
    co_await socket_turns(20); // full again
    asio::steady_timer longer_than_idle(here.loop().io(), std::chrono::milliseconds(1000));
    co_await longer_than_idle.async_wait(use_task);
    std::string_view bytes = co_await running.read();
    while (!bytes.empty())
        bytes = co_await running.read();
    CHECK(running.result().kind == outcome_kind::ok);
}

CO_TEST_CASE("the limit of the connection covers a server that does not answer the door") {
    const deaf_listener deaf;
    const context here = co_await this_coroutine();
    http::request what = get(deaf.url());
    what.timeouts.connect = std::chrono::milliseconds(30);
    const whole_answer answer = co_await fetch(http::client::of(here.loop()), std::move(what));
    CHECK(answer.outcome.kind == outcome_kind::timeout);
    CHECK(answer.outcome.timed_out == timeout_kind::connect);
    CHECK(contains(answer.outcome.message, "curl 28"));
}

CO_TEST_CASE("TLS that the server does not speak is a transport failure") {
    const http_server plain(http_reply{});
    const context here = co_await this_coroutine();
    const whole_answer answer = co_await fetch(http::client::of(here.loop()),
                                               get("https" + plain.url().substr(4)));
    CHECK(answer.outcome.kind == outcome_kind::transport);
    CHECK(contains(answer.outcome.message, "curl 35"));
}

CO_TEST_CASE("a server that closes after each answer is connected to anew") {
    http_reply reply;
    reply.pieces = {"x"};
    reply.ending = http_ending::close;
    const http_server server(reply);
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    for (int i = 0; i < 5; ++i) {
        const whole_answer answer = co_await fetch(client, post(server.url()));
        CHECK(answer.outcome.kind == outcome_kind::ok);
        CHECK(answer.body == "x");
    }
    CHECK(server.requests().size() == 5);
}

CO_TEST_CASE("bytes that lay in the socket while the loop was busy are no silence") {
    http_reply reply = event_stream({"a", "b"});
    reply.pace = http_pace::when_released;
    http_server server(reply);
    const context here = co_await this_coroutine();
    http::request what = get(server.url());
    what.timeouts.idle = std::chrono::milliseconds(500);
    http::exchange running = http::client::of(here.loop()).send(std::move(what));
    const std::string_view first = co_await running.read();
    CHECK(first == "a");
    server.release();
    CHECK(server.wait_until([](const http_server& s) { return s.answered() == 1; }));
    const auto busy_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
    while (std::chrono::steady_clock::now() < busy_until) {}
    const std::string_view second = co_await running.read();
    CHECK(second == "b");
    const std::string_view end = co_await running.read();
    CHECK(end.empty());
    CHECK(running.result().kind == outcome_kind::ok);
}

TEST_CASE("what cannot be sent is rejected before anything is sent") {
    CHECK(contains(complaint_about(get("")), "the URL is not valid"));
    CHECK(contains(complaint_about(get("127.0.0.1:80/v1")), "write it as http://HOST[:PORT]/PATH"));
    CHECK(contains(complaint_about(get("ftp://127.0.0.1/v1")), "neither http nor https"));
    CHECK(contains(complaint_about(get("file:///etc/passwd")), "neither http nor https"));
    CHECK(contains(complaint_about(get("http://127.0.0.1:99999/")), "the URL is not valid"));
    CHECK(contains(complaint_about(get("http://user:SECRET@host name/")), "the URL is not valid"));
    http::request what = get("http://127.0.0.1/");
    what.headers = {{"X-Key", "a\r\nX-Injected: b"}};
    CHECK(contains(complaint_about(what), "the value of the header X-Key holds a line break"));
    what.headers = {{"X-Key", "a\nX-Injected: b"}};
    CHECK(contains(complaint_about(what), "the value of the header X-Key holds a line break"));
    what.headers = {{"X-Key", std::string("a\0b", 3)}};
    CHECK(contains(complaint_about(what), "the value of the header X-Key holds a line break or a NUL"));
    what.headers = {{"X Key", "a"}};
    CHECK(contains(complaint_about(what), "a header has a name that is not a word"));
    what.headers.clear();
    what.method = "GET / HTTP/1.1\r\n";
    CHECK(contains(complaint_about(what), "the request method is not a word"));
}

CO_TEST_CASE("no message holds a secret of the request") {
    http_reply hang;
    hang.silent = true;
    hang.ending = http_ending::hang;
    const http_server silent(hang);
    http_reply error;
    error.status = 500;
    const http_server failing(error);
    const auto with_secrets = [](std::string_view host_and_path) {
        http::request what = post("http://SECRET-USER:SECRET-PASSWORD@" + std::string(host_and_path) +
                                      "?key=SECRET-QUERY#SECRET-FRAGMENT",
                                  "SECRET-BODY");
        what.headers.push_back({"Authorization", "Bearer SECRET-HEADER"});
        what.timeouts.first_byte = std::chrono::milliseconds(10);
        return what;
    };
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    std::vector<std::string> messages;
    for (const std::string& url :
         {dead_url(), silent.url("/p"), failing.url("/p"), std::string("http://nowhere.invalid/p"),
          std::string("http://SECRET host/p")}) {
        http::request what = with_secrets(std::string_view(url).substr(7));
        const whole_answer answer = co_await fetch(client, std::move(what));
        messages.push_back(answer.outcome.message);
    }
    setenv("http_proxy", "http://proxy-user:SECRET@bad proxy", 1);
    setenv("no_proxy", "localhost", 1);
    const whole_answer by_proxy = co_await fetch(client, get("http://127.0.0.1/"));
    unsetenv("http_proxy");
    setenv("no_proxy", "127.0.0.1", 1);
    messages.push_back(by_proxy.outcome.message);
    for (const auto& message : messages) {
        INFO(message);
        CHECK_FALSE(message.empty());
        CHECK_FALSE(contains(message, "SECRET"));
    }
}
