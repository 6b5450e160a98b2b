// SPDX-License-Identifier: BSL-1.0

// The provider against a server on 127.0.0.1.

#include "providers/chat_transcript.hpp"
#include "support/catch.hpp"
#include "support/http_server.hpp"

#include <thalweg/async/loop.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/providers/openai_chat.hpp>

#include <cstdlib>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::openai_chat;
using providers::openai_chat_options;

static_assert(is_provider<openai_chat>);

namespace {

const message prompt = message::user_text("go");

struct answer {
    std::string text;
    model_outcome outcome = model_outcome::aborted();
};

task<answer> ask(openai_chat& provider) {
    answer got;
    model_request request({}, std::span(&prompt, 1), {}, {}, {});
    auto deltas = provider.generate(std::move(request));
    while (delta* each = co_await deltas.peek())
        if (each->kind() == delta::type::text) got.text += each->content().view();
    got.outcome = std::move(deltas.result());
    co_return got;
}

openai_chat_options at(const http_server& server) {
    return {.model = "m", .base_url = server.url("/v1"), .api_key = "sk-secret"};
}

answer ask_once(openai_chat_options options) {
    openai_chat provider(std::move(options));
    loop on;
    return on.run(ask(provider));
}

std::string sse(const std::vector<std::string>& events) {
    std::string body;
    for (const std::string& each : events)
        body += "data: " + each + "\n\n";
    return body;
}

const std::string good = sse({chunk(R"("content":"hello")"), last_chunk("stop"), "[DONE]"});

http_reply plain(int status, std::string type, std::string body) {
    return {.status = status, .headers = {{"Content-Type", std::move(type)}}, .pieces = {std::move(body)}};
}

} // namespace

TEST_CASE("a request carries key, model and its place") {
    const http_server server(event_stream({good}));
    auto options = at(server);
    options.base_url += "/?api-version=1";
    options.organization = "org";
    options.project = "pro";
    options.headers = {{"X-More", "1"}, {"content-type", "application/json; own"}};
    const answer got = ask_once(options);
    CHECK(got.text == "hello");
    CHECK(got.outcome.status() == stop_reason::completed);
    CHECK(got.outcome.raw_stop_reason() == "stop");
    const auto requests = server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].method == "POST");
    CHECK(requests[0].target == "/v1/chat/completions?api-version=1");
    CHECK(requests[0].header("authorization") == "Bearer sk-secret");
    CHECK(requests[0].header("openai-organization") == "org");
    CHECK(requests[0].header("openai-project") == "pro");
    CHECK(requests[0].header("x-more") == "1");
    CHECK(requests[0].header("content-type") == "application/json; own");
    CHECK(requests[0].header("accept") == "text/event-stream");
    CHECK_THAT(requests[0].body, Catch::StartsWith(R"({"model":"m")"));
}

TEST_CASE("the key comes from the environment if none is given, and may be missing for other servers") {
    const http_server server(event_stream({good}));
    auto options = at(server);
    options.api_key.clear();
    REQUIRE(setenv("OPENAI_API_KEY", "from-environment", 1) == 0);
    CHECK(ask_once(options).outcome.status() == stop_reason::completed);
    REQUIRE(unsetenv("OPENAI_API_KEY") == 0);
    CHECK(ask_once(options).outcome.status() == stop_reason::completed);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].header("authorization") == "Bearer from-environment");
    CHECK(requests[1].header("authorization").empty());
    REQUIRE(unsetenv("OPENAI_BASE_URL") == 0);
    const answer without = ask_once({.model = "m"}); // no server is asked
    CHECK(without.outcome.status() == stop_reason::auth);
    CHECK_THAT(without.outcome.message(), Catch::Contains("OPENAI_API_KEY"));
}

TEST_CASE("a request that no server takes is not sent") {
    const http_server server(event_stream({good}));
    const std::vector<tool_definition> twins = {{"a", "", ""}, {"a", "", ""}};
    loop on;
    const message prompt = message::user_text("go");
    const auto ask = [&]() -> task<model_outcome> {
        providers::openai_chat provider(at(server));
        auto run = provider.generate(model_request({}, std::span(&prompt, 1), twins, {}, {}));
        while (auto each = co_await run.next()) {}
        co_return std::move(run.result());
    };
    const model_outcome outcome = on.run(ask());
    CHECK(outcome.status() == stop_reason::failed);
    CHECK(outcome.is_permanent());
    CHECK_THAT(outcome.message(), Catch::Contains("two tools are named \"a\""));
    CHECK(server.requests().empty());
}

TEST_CASE("the address comes from the environment if none is given") {
    const http_server server(event_stream({good}));
    REQUIRE(setenv("OPENAI_BASE_URL", server.url("/v2").c_str(), 1) == 0);
    CHECK(ask_once({.model = "m"}).text == "hello");
    REQUIRE(unsetenv("OPENAI_BASE_URL") == 0);
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].target == "/v2/chat/completions");
}

TEST_CASE("wrong options fail every request with a sentence") {
    CHECK_THAT(ask_once({.model = ""}).outcome.message(), Catch::Contains("model is empty"));
    CHECK_THAT(ask_once({.model = "m", .extra = "{"}).outcome.message(),
               Catch::Contains("extra is not JSON"));
    CHECK_THAT(ask_once({.model = "m", .extra = "[]"}).outcome.message(), Catch::Contains("no JSON object"));
    const auto url = ask_once({.model = "m", .base_url = "nowhere", .api_key = "k"}).outcome;
    CHECK(url.status() == stop_reason::failed);
    CHECK(url.is_permanent());
}

TEST_CASE("one provider serves many requests, over one connection where it can") {
    const http_server server(event_stream({good}));
    openai_chat provider(at(server));
    loop on;
    for (int i = 0; i < 3; ++i)
        CHECK(on.run(ask(provider)).text == "hello");
    CHECK(server.connections() == 1);
}

TEST_CASE("answers that are no event stream") {
    const auto got = [](http_reply reply) {
        const http_server server(std::move(reply));
        return ask_once(at(server));
    };
    const answer whole = got(
        plain(200, "application/json", R"({"choices":[{"message":{"content":"whole"}}]})"));
    CHECK(whole.text == "whole");
    CHECK(whole.outcome.status() == stop_reason::completed);
    const answer error = got(plain(200, "application/json", R"({"error":{"message":"no"}})"));
    CHECK(error.outcome.status() == stop_reason::failed);
    const answer page = got(plain(200, "text/html", "<html>proxy</html>"));
    CHECK(page.outcome.status() == stop_reason::malformed);
    CHECK_THAT(page.outcome.message(), Catch::Contains("<html>proxy"));
    CHECK(got(plain(200, "text/event-stream", "")).outcome.status() == stop_reason::malformed);
    CHECK(got(plain(204, "text/event-stream", "")).outcome.status() == stop_reason::malformed);
    const answer refused = got(
        plain(401, "application/octet-stream", R"({"error":{"message":"bad key sk-secret"}})"));
    CHECK(refused.outcome.status() == stop_reason::auth);
    CHECK_THAT(refused.outcome.message(), Catch::Contains("bad key [key]") && Catch::Contains("401"));
}

TEST_CASE("a server that cannot be reached is named with the cause") {
    std::string url;
    {
        const http_server server(event_stream({}));
        url = server.url("/v1");
    }
    const answer got = ask_once({.model = "m", .base_url = url, .api_key = "sk-secret"});
    CHECK(got.outcome.status() == stop_reason::failed);
    CHECK_FALSE(got.outcome.is_permanent());
    CHECK_THAT(got.outcome.message(), Catch::Contains(url) && !Catch::Contains("sk-secret"));
}

TEST_CASE("silence ends as a timeout, and what came before it was said") {
    auto reply = event_stream({sse({chunk(R"("content":"half")")})});
    reply.ending = http_ending::hang;
    const http_server server(std::move(reply));
    auto options = at(server);
    options.timeouts.idle = 50ms;
    const answer got = ask_once(options);
    CHECK(got.text == "half");
    CHECK(got.outcome.status() == stop_reason::timeout);
}

TEST_CASE("a broken connection is a failure before the end marker and none behind it") {
    auto reply = event_stream({sse({chunk(R"("content":"half")")})});
    reply.ending = http_ending::reset;
    const http_server broken(reply);
    CHECK(ask_once(at(broken)).outcome.status() != stop_reason::completed);
    reply.pieces = {good};
    const http_server late(reply);
    CHECK(ask_once(at(late)).outcome.status() == stop_reason::completed);
}

TEST_CASE("a server that stays behind its last word is not waited for") {
    for (const std::string& body : {good, sse({R"({"error":{"message":"no"}})"})}) {
        auto reply = event_stream({body});
        reply.ending = http_ending::hang;
        const http_server server(std::move(reply));
        auto options = at(server);
        options.timeouts.idle = 0ms; // for ever
        const bool is_good = body == good;
        CHECK(ask_once(options).outcome.status() == (is_good ? stop_reason::completed : stop_reason::failed));
    }
}

TEST_CASE("garbage ends the reading at once") {
    auto reply = event_stream({sse({"}"})});
    reply.ending = http_ending::hang;
    const http_server server(std::move(reply));
    auto options = at(server);
    options.timeouts.idle = 0ms;
    CHECK(ask_once(options).outcome.status() == stop_reason::malformed);
}

namespace {

task<> ask_into(openai_chat* provider, answer* into) {
    *into = co_await ask(*provider);
}

task<answer> interrupted(openai_chat* provider, const http_server* server) {
    answer got;
    scope running(co_await this_coroutine());
    running.spawn(ask_into(provider, &got));
    while (server->requests().empty())
        co_await sleep_for(1ms);
    running.cancel(cancel_reason::user);
    co_await running.join();
    co_return got;
}

task<> dropped(openai_chat* provider) {
    model_request request({}, std::span(&prompt, 1), {}, {}, {});
    auto deltas = provider->generate(std::move(request));
    const auto first = co_await deltas.next();
    CHECK(first.has_value());
}

} // namespace

TEST_CASE("an interrupt ends the request as aborted, a dropped stream closes the connection") {
    auto reply = event_stream({sse({chunk(R"("content":"half")")})});
    reply.ending = http_ending::hang;
    const http_server server(std::move(reply));
    openai_chat provider(at(server));
    loop on;
    CHECK(on.run(interrupted(&provider, &server)).outcome.status() == stop_reason::aborted);
    on.run(dropped(&provider));
    CHECK(server.wait_until([](const http_server& s) { return s.deserted() == 2; }));
}
