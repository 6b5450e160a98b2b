// SPDX-License-Identifier: BSL-1.0

#include "net/http_support.hpp"

#include <thalweg/testing/co_test_case.hpp>

using namespace thalweg;
using namespace thalweg::testing;
using http::outcome_kind;

namespace {

const std::string body = "data: {\"a\":1}\n\n: ping\r\n\r\nevent: e\ndata: \xC3\xA9\xF0\x9F\x98\x80\ndata: "
                         "two\n\ndata: [DONE]\n\n";
const std::vector<std::string> expected = {"{\"a\":1}", "\xC3\xA9\xF0\x9F\x98\x80\ntwo", "[DONE]"};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

http_reply typed(std::string type, std::string text, int status = 200) {
    http_reply reply;
    reply.status = status;
    if (!type.empty()) reply.headers.emplace_back("Content-Type", std::move(type));
    reply.pieces = {std::move(text)};
    return reply;
}

task<whole_events> events_of(http_reply reply, sse_limits limits = {}) {
    const http_server server(std::move(reply));
    const context here = co_await this_coroutine();
    whole_events answer = co_await fetch_events(http::client::of(here.loop()), post(server.url("/v1")),
                                                limits);
    co_return answer;
}

} // namespace

CO_TEST_CASE("a stream in pieces of any size, each a read of its own, gives the same events") {
    for (const std::size_t size : {1, 2, 3, 5, 7, 1000}) {
        INFO("pieces of " << size);
        http_reply reply = event_stream(in_pieces(body, size));
        reply.pace = http_pace::when_read;
        const whole_events answer = co_await events_of(std::move(reply));
        CHECK(answer.data == expected);
        CHECK(answer.outcome.kind == outcome_kind::ok);
        CHECK(answer.outcome.head.status == 200);
        CHECK(answer.outcome.excerpt == body);
        CHECK(answer.outcome.body.empty());
        CHECK_FALSE(answer.outcome.cut);
    }
}

CO_TEST_CASE("a stream cut in two at every place gives the same events") {
    const http_server server(http_server::script([](const http_received& request) {
        const auto at = std::stoul(request.target.substr(1));
        http_reply reply = event_stream({body.substr(0, at), body.substr(at)});
        reply.pace = http_pace::when_read;
        return reply;
    }));
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    for (std::size_t at = 0; at <= body.size(); ++at) {
        INFO("cut at " << at);
        std::string path = std::to_string(at);
        path.insert(path.begin(), '/');
        const whole_events answer = co_await fetch_events(client, get(server.url(path)));
        CHECK(answer.data == expected);
    }
    CHECK(server.connections() == 1);
}

CO_TEST_CASE("an event stream is asked for unless the request asks for something else") {
    const http_server server(event_stream({body}));
    const context here = co_await this_coroutine();
    auto& client = http::client::of(here.loop());
    const whole_events first = co_await fetch_events(client, get(server.url()));
    http::request what = get(server.url());
    what.headers.push_back({"accept", "application/x-ndjson"});
    const whole_events second = co_await fetch_events(client, std::move(what));
    CHECK(server.requests()[0].header("accept") == "text/event-stream");
    CHECK(server.requests()[1].header("accept") == "application/x-ndjson");
}

CO_TEST_CASE("an error status gives no events but the body") {
    const whole_events answer = co_await events_of(typed("text/event-stream", "data: x\n\n", 503));
    CHECK(answer.data.empty());
    CHECK(answer.outcome.kind == outcome_kind::http_error);
    CHECK(answer.outcome.head.status == 503);
    CHECK(answer.outcome.body == "data: x\n\n");
    CHECK(contains(answer.outcome.message, "HTTP status 503"));
}

CO_TEST_CASE("an endless error body is kept up to 64 KiB and left") {
    http_reply reply = typed("application/json", std::string(std::size_t{1} << 20, 'e'), 500);
    reply.ending = http_ending::hang;
    const whole_events answer = co_await events_of(std::move(reply));
    CHECK(answer.outcome.kind == outcome_kind::http_error);
    CHECK(answer.outcome.head.status == 500);
    CHECK(answer.outcome.body == std::string(std::size_t{64} << 10, 'e'));
    CHECK(contains(answer.outcome.message, "HTTP status 500"));
}

CO_TEST_CASE("an error status without a body is an http error") {
    const whole_events answer = co_await events_of(typed("", "", 401));
    CHECK(answer.outcome.kind == outcome_kind::http_error);
    CHECK(answer.outcome.head.status == 401);
    CHECK(answer.outcome.body.empty());
}

CO_TEST_CASE("a whole JSON answer in place of a stream comes in the outcome") {
    const whole_events answer = co_await events_of(
        typed("application/json; charset=utf-8", " {\"choices\":[]}"));
    CHECK(answer.data.empty());
    CHECK(answer.outcome.kind == outcome_kind::ok);
    CHECK(answer.outcome.body == " {\"choices\":[]}");
    const whole_events large = co_await events_of(
        typed("application/json", "[\"" + std::string(5000, 'x') + "\"]"), {.event = 1000});
    CHECK(large.outcome.kind == outcome_kind::malformed);
    CHECK(contains(large.outcome.message, "exceeds 1000 bytes"));
}

CO_TEST_CASE("blanks before a body that is labelled as JSON decide nothing") {
    http_reply reply = typed("application/json", "");
    reply.framing = http_framing::chunked;
    reply.pace = http_pace::when_read;
    reply.pieces = {"\n", "  ", "\r\n", "{}"};
    const whole_events json = co_await events_of(reply);
    CHECK(json.outcome.kind == outcome_kind::ok);
    CHECK(json.outcome.body == "\n  \r\n{}");
    reply.pieces = {"\n", "\n", "data: a\n", "\ndata: b\n\n"};
    const whole_events events = co_await events_of(reply);
    CHECK(events.data == std::vector<std::string>{"a", "b"});
    CHECK(events.outcome.body.empty());
    reply.pieces = {"\n", " ", "data: a\n\n"}; // a blank makes the line an unknown field
    const whole_events none = co_await events_of(reply);
    CHECK(none.data.empty());
    CHECK(none.outcome.kind == outcome_kind::ok);
}

CO_TEST_CASE("a wrong label of a stream is forgiven") {
    for (const char* type : {"", "text/plain", "application/octet-stream", "application/json",
                             "TEXT/Event-Stream ; charset=x"}) {
        INFO("type " << type);
        const whole_events answer = co_await events_of(typed(type, body));
        CHECK(answer.data == expected);
        CHECK(answer.outcome.kind == outcome_kind::ok);
    }
}

CO_TEST_CASE("a page of a proxy is malformed and its beginning is kept") {
    const whole_events answer = co_await events_of(
        typed("text/html", "<html>data: x\n\n" + std::string(5000, ' ')));
    CHECK(answer.data.empty());
    CHECK(answer.outcome.kind == outcome_kind::malformed);
    CHECK(answer.outcome.foreign);
    CHECK(contains(answer.outcome.message, "the answer is text/html, not an event stream"));
    CHECK(answer.outcome.excerpt.size() == 512);
    CHECK(answer.outcome.excerpt.starts_with("<html>"));
}

CO_TEST_CASE("a good status without a body is malformed") {
    for (const int status : {200, 204}) {
        http_reply reply = typed("text/event-stream", "", status);
        if (status == 204) reply.framing = http_framing::until_close;
        const whole_events answer = co_await events_of(std::move(reply));
        CHECK(answer.outcome.kind == outcome_kind::malformed);
        CHECK(contains(answer.outcome.message, "has no body"));
    }
}

CO_TEST_CASE("a stream that ends inside an event says so, and how depends on the transport") {
    const whole_events clean = co_await events_of(typed("text/event-stream", "data: a\n\ndata: {\"half\":"));
    CHECK(clean.data == std::vector<std::string>{"a"});
    CHECK(clean.outcome.kind == outcome_kind::ok);
    CHECK(clean.outcome.cut);
    const whole_events whole = co_await events_of(typed("text/event-stream", "data: a\n\ndata: [DONE]"));
    CHECK(whole.data == std::vector<std::string>{"a", "[DONE]"});
    http_reply reply = typed("text/event-stream", "data: a\n\ndata: [DONE]\n");
    reply.length_off_by = 1;
    reply.ending = http_ending::close;
    const whole_events broken = co_await events_of(std::move(reply));
    CHECK(broken.data == std::vector<std::string>{"a"});
    CHECK(broken.outcome.kind == outcome_kind::malformed);
    CHECK(broken.outcome.cut);
}

CO_TEST_CASE("bare JSON between the events comes in the outcome") {
    const whole_events answer = co_await events_of(
        typed("text/event-stream", "data: a\n\n{\"error\":{\"code\":500}}\n"));
    CHECK(answer.data == std::vector<std::string>{"a"});
    CHECK(answer.outcome.stray == "{\"error\":{\"code\":500}}\n");
}

CO_TEST_CASE("an event above the limit is malformed and the stream is left") {
    http_reply reply = event_stream({"data: a\n\ndata: " + std::string(300'000, 'x')});
    reply.ending = http_ending::hang;
    const whole_events answer = co_await events_of(std::move(reply), {.line = 100'000});
    CHECK(answer.data == std::vector<std::string>{"a"});
    CHECK(answer.outcome.kind == outcome_kind::malformed);
    CHECK(answer.outcome.head.status == 200);
    CHECK(contains(answer.outcome.message, "a line longer than 100000 bytes"));
}

CO_TEST_CASE("a large stream arrives whole, in order and without copies of the events") {
    std::string text;
    std::size_t count = 0;
    while (text.size() < 2'000'000)
        text += "data: {\"n\":" + std::to_string(count++) + "}\n\n";
    const whole_events answer = co_await events_of(event_stream(in_pieces(text, 4093)));
    REQUIRE(answer.data.size() == count);
    for (std::size_t i = 0; i < count; ++i)
        if (answer.data[i] != "{\"n\":" + std::to_string(i) + "}")
            FAIL("event " << i << " is " << answer.data[i]);
    CHECK(answer.outcome.kind == outcome_kind::ok);
}
