// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"
#include "support/http_server.hpp"

#include <thalweg/async/loop.hpp>
#include <thalweg/providers/anthropic.hpp>

#include <cstdlib>
#include <string>

using namespace thalweg;
using namespace thalweg::testing;
using providers::anthropic;
using providers::anthropic_options;

static_assert(is_provider<anthropic>);

namespace {

const message prompt = message::user_text("go");

struct answer {
    std::string text;
    model_outcome outcome = model_outcome::aborted();
};

task<answer> ask(anthropic* provider, std::span<const tool_definition> tools) {
    answer got;
    model_request request({}, std::span(&prompt, 1), tools, {}, {});
    auto deltas = provider->generate(std::move(request));
    while (delta* each = co_await deltas.peek())
        if (each->kind() == delta::type::text) got.text += each->content().view();
    got.outcome = std::move(deltas.result());
    co_return got;
}

answer ask_once(anthropic_options options, std::span<const tool_definition> tools = {}) {
    anthropic provider(std::move(options));
    loop on;
    return on.run(ask(&provider, tools));
}

anthropic_options at(const http_server& server) {
    return {.model = "m", .base_url = server.url("/v1"), .api_key = "sk-ant-secret"};
}

const std::string
    good = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\"}}\n\n"
           "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
           "\"content_block\":{\"type\":\"text\",\"text\":\"hello\"}}\n\n"
           "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

http_reply error_reply(int status, std::string body) {
    return {.status = status, .headers = {{"Content-Type", "application/json"}}, .pieces = {std::move(body)}};
}

} // namespace

TEST_CASE("anthropic: a request carries key, version, betas and its place") {
    const http_server server(event_stream({good}));
    auto options = at(server);
    options.betas = {"a", "b"};
    options.headers = {{"X-More", "1"}};
    const answer got = ask_once(options);
    CHECK(got.text == "hello");
    CHECK(got.outcome.status() == stop_reason::completed);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].method == "POST");
    CHECK(requests[0].target == "/v1/messages");
    CHECK(requests[0].header("x-api-key") == "sk-ant-secret");
    CHECK(requests[0].header("anthropic-version") == "2023-06-01");
    CHECK(requests[0].header("anthropic-beta") == "a,b");
    CHECK(requests[0].header("x-more") == "1");
    CHECK(requests[0].header("authorization").empty());
    CHECK(requests[0].header("content-type") == "application/json");
}

TEST_CASE("anthropic: key, token and address come from the environment if none is given") {
    const http_server server(event_stream({good}));
    REQUIRE(unsetenv("ANTHROPIC_API_KEY") == 0);
    REQUIRE(setenv("ANTHROPIC_BASE_URL", server.url("").c_str(), 1) == 0);
    REQUIRE(setenv("ANTHROPIC_AUTH_TOKEN", "a-token", 1) == 0);
    CHECK(ask_once({.model = "m"}).text == "hello");
    REQUIRE(setenv("ANTHROPIC_API_KEY", "a-key", 1) == 0);
    CHECK(ask_once({.model = "m"}).text == "hello");
    REQUIRE(unsetenv("ANTHROPIC_API_KEY") == 0);
    REQUIRE(unsetenv("ANTHROPIC_AUTH_TOKEN") == 0);
    REQUIRE(unsetenv("ANTHROPIC_BASE_URL") == 0);
    const auto requests = server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].target == "/v1/messages");
    CHECK(requests[0].header("authorization") == "Bearer a-token");
    CHECK(requests[1].header("x-api-key") == "a-key");
    CHECK(requests[1].header("authorization").empty());
    const answer without = ask_once({.model = "m"}); // no server is asked
    CHECK(without.outcome.status() == stop_reason::auth);
    CHECK_THAT(without.outcome.message(), Catch::Contains("ANTHROPIC_API_KEY"));
}

TEST_CASE("anthropic: what cannot succeed is refused before it is sent, with a sentence") {
    const http_server server(event_stream({good}));
    const auto refused = [](anthropic_options options, std::span<const tool_definition> tools = {}) {
        const auto outcome = ask_once(std::move(options), tools).outcome;
        CHECK(outcome.status() == stop_reason::failed);
        CHECK(outcome.is_permanent());
        return outcome.message();
    };
    auto options = at(server);
    options.model.clear();
    CHECK_THAT(refused(options), Catch::Contains("model is empty"));
    options = at(server);
    options.extra = "[]";
    CHECK_THAT(refused(options), Catch::Contains("no JSON object"));
    options = at(server);
    options.max_tokens = 0;
    CHECK_THAT(refused(options), Catch::Contains("max_tokens"));
    const std::vector<tool_definition> tools = {{"a b", "", ""}};
    CHECK_THAT(refused(at(server), tools), Catch::Contains("tool name \"a b\""));
    CHECK(server.requests().empty());
}

TEST_CASE("anthropic: refusals of the server in our words, without the key") {
    const auto outcome = [](int status, const char* type, const char* words) {
        const http_server server(error_reply(status, R"({"type":"error","error":{"type":")" +
                                                         std::string(type) + R"(","message":")" + words +
                                                         R"("},"request_id":"r"})"));
        return ask_once(at(server)).outcome;
    };
    const auto wrong_key = outcome(401, "authentication_error", "invalid key sk-ant-secret");
    CHECK(wrong_key.status() == stop_reason::auth);
    CHECK_THAT(wrong_key.message(), Catch::Contains("[key]"));
    CHECK_THAT(wrong_key.message(), !Catch::Contains("secret"));
    const auto too_long = outcome(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum");
    CHECK(too_long.is_context_too_long());
    CHECK(too_long.is_permanent());
    CHECK(outcome(404, "not_found_error", "model: x").is_permanent());
    CHECK_FALSE(outcome(429, "rate_limit_error", "slow").is_permanent());
    CHECK_FALSE(outcome(529, "overloaded_error", "busy").is_permanent());
    CHECK(outcome(504, "timeout_error", "late").status() == stop_reason::timeout);
    CHECK_FALSE(outcome(402, "billing_error", "no money").is_permanent());
}

TEST_CASE("anthropic: a stream that stops in the middle names what did not come") {
    const http_server server(event_stream({good.substr(0, good.find("event: message_stop"))}));
    const answer got = ask_once(at(server));
    CHECK(got.text == "hello");
    CHECK(got.outcome.status() == stop_reason::malformed);
    CHECK_THAT(got.outcome.message(), Catch::Contains("message_stop"));
}
