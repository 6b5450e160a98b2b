// SPDX-License-Identifier: BSL-1.0

#include "providers/chat_transcript.hpp"
#include "support/catch.hpp"

#include <thalweg/wire/answer_outcome.hpp>
#include <thalweg/wire/retry_hint.hpp>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using wire::parse_duration;
using wire::parse_http_date;
using wire::retry_after;

namespace {

constexpr std::string_view key = "sk-very-secret";
constexpr std::int64_t now = 784'111'777'000; // Sun, 06 Nov 1994 08:49:37 GMT

wire::endpoint somewhere() {
    wire::endpoint made("http://x", "/v1", {}, {});
    made.add_secret("Authorization", "Bearer ", std::string(key));
    return made;
}

model_outcome of_http(int status, std::string body, std::vector<http::header> headers = {}) {
    http::events_outcome transport;
    transport.kind = http::outcome_kind::http_error;
    transport.head = {status, std::move(headers)};
    transport.message = "POST http://x/v1: HTTP status " + std::to_string(status);
    transport.body = std::move(body);
    transport.excerpt = transport.body.substr(0, 512);
    return wire::answer_outcome({}, transport, somewhere(), now);
}

model_outcome of_event(std::string_view event) {
    chat_transcript all;
    static_cast<void>(all.event(event).finish());
    http::events_outcome transport;
    transport.head.status = 200;
    return wire::answer_outcome(all.ending(), transport, somewhere(), now);
}

std::string error_body(std::string_view members) {
    return R"({"error":{)" + std::string(members) + "}}";
}

} // namespace

TEST_CASE("the HTTP status decides first") {
    CHECK(of_http(401, "").status() == stop_reason::auth);
    CHECK(of_http(403, "").status() == stop_reason::auth);
    CHECK(of_http(408, "").status() == stop_reason::timeout);
    CHECK(of_http(504, "").status() == stop_reason::timeout);
    for (const int status : {300, 302, 400, 402, 404, 409, 413, 418, 422, 425, 429, 500, 502, 503, 529})
        CHECK(of_http(status, "").status() == stop_reason::failed);
    CHECK(of_http(400, error_body(R"("code":"invalid_api_key")")).status() == stop_reason::auth);
    CHECK(of_http(400, R"([{"error":{"code":400,"status":"API_KEY_INVALID","message":"bad"}}])").status() ==
          stop_reason::auth);
    CHECK(of_http(500, error_body(R"("type":"timeout_error")")).status() == stop_reason::timeout);
}

TEST_CASE("an error in the stream counts by its code") {
    CHECK(of_event(error_body(R"("code":401)")).status() == stop_reason::auth);
    CHECK(of_event(error_body(R"("code":"403")")).status() == stop_reason::auth);
    CHECK(of_event(error_body(R"("code":504)")).status() == stop_reason::timeout);
    CHECK(of_event(error_body(R"("code":429)")).status() == stop_reason::failed);
    CHECK(of_event(error_body(R"("type":"permission_error")")).status() == stop_reason::auth);
    CHECK(of_event(R"({"error":"text"})").status() == stop_reason::failed);
    CHECK_FALSE(of_event(error_body(R"("code":500)")).is_permanent());
}

TEST_CASE("messages hold the chain of causes and no key") {
    using Catch::Contains;
    const auto message = of_http(429,
                                 R"({"error":{"code":429,"message":"Provider returned error","metadata":)"
                                 R"({"provider_name":"Far","raw":"slow down"}}})",
                                 {{"x-request-id", "r1"}})
                             .message();
    CHECK(message ==
          "POST http://x/v1: HTTP status 429: Provider returned error (Far): slow down (request r1)");
    CHECK(of_http(404, error_body(R"("message":"no such","type":"t","code":"model_not_found")")).message() ==
          "POST http://x/v1: HTTP status 404: t, model_not_found: no such");
    CHECK_THAT(of_http(502, "<html>").message(), Contains(R"(it begins with "<html>")"));
    CHECK_THAT(of_http(400, R"({"detail":"why"})").message(), Contains("400: why"));
    CHECK_THAT(of_http(400, R"({"message":"why","code":"c"})").message(), Contains("400: c: why"));
    CHECK_THAT(of_http(400, R"({"error":"why"})").message(), Contains("400: why"));
    CHECK_THAT(of_http(400, R"({"error":{}})").message(), Contains("400: {}"));
    CHECK_THAT(of_event(error_body(R"("code":500,"message":"why","type":"t")")).message(),
               Contains("POST http://x/v1: the answer reports an error: status 500, t: why"));
    CHECK_THAT(of_http(429, error_body(R"("code":"insufficient_quota","message":"m")")).message(),
               Contains("quota left"));
    for (const auto& outcome :
         {of_http(401, error_body(R"("message":"bad sk-very-secret, sk-very-secret")")),
          of_http(500, "plain sk-very-secret"), of_event(error_body(R"("message":"sk-very-secret")")),
          of_event("garbage sk-very-secret")}) {
        CHECK_THAT(outcome.message(), Contains("[key]"));
        CHECK_THAT(outcome.message(), !Contains("sk-very-secret"));
    }
}

TEST_CASE("the usage of a failed request is kept beside its message (D-03)") {
    const auto outcome = of_event(R"({"error":{"message":"why","code":500},"usage":{"total_tokens":3}})");
    REQUIRE(outcome.usage());
    CHECK(outcome.usage()->total == 3);
    CHECK_THAT(outcome.message(), Catch::EndsWith("status 500, why"));
}

TEST_CASE("only what can never succeed is permanent") {
    CHECK(of_http(404, error_body(R"("code":"model_not_found")")).is_permanent());
    CHECK(of_http(500, "", {{"x-should-retry", "false"}}).is_permanent());
    CHECK_FALSE(
        of_http(404, error_body(R"("code":"model_not_found")"), {{"x-should-retry", "true"}}).is_permanent());
    for (const int status : {429, 402, 403}) // a quota can refill
        CHECK_FALSE(of_http(status, error_body(R"("code":"insufficient_quota")")).is_permanent());
    for (const char* body : {R"("code":"context_length_exceeded")", R"("type":"exceed_context_size_error")",
                             R"("message":"This model's maximum context length is 8 tokens")",
                             R"("message":"Prompt is too long: 9")"}) {
        INFO(body);
        CHECK(of_http(400, error_body(body)).is_context_too_long());
        CHECK(of_http(413, error_body(body)).is_permanent());
        CHECK(of_event(error_body(body)).is_context_too_long());
        CHECK_FALSE(of_http(429, error_body(body)).is_context_too_long());
        CHECK_FALSE(of_http(500, error_body(body)).is_context_too_long());
    }
}

TEST_CASE("a status that time does not mend is permanent, whatever words come with it") {
    for (const int status : {300, 302, 400, 404, 405, 410, 413, 415, 418, 422}) {
        INFO(status);
        CHECK(of_http(status, "").is_permanent());
        CHECK(of_http(status, "<html>").is_permanent());
        CHECK_FALSE(of_http(status, "", {{"x-should-retry", "true"}}).is_permanent());
    }
    for (const int status : {401, 402, 403, 408, 409, 425, 429, 500, 502, 503, 504, 529}) {
        INFO(status);
        CHECK_FALSE(of_http(status, "").is_permanent());
    }
    for (const char* body : {R"("type":"not_found")", R"("type":"api_error","message":"model 'x' not found")",
                             R"("type":"NotFoundError","message":"The model x does not exist.")"})
        CHECK(of_http(404, error_body(body)).is_permanent());
    const char* unknown_option = R"("type":"invalid_request_error","code":"unsupported_parameter")";
    CHECK(of_http(400, error_body(unknown_option)).is_permanent());
    CHECK(of_event(error_body(unknown_option)).is_permanent());
    CHECK(of_event(error_body(R"("code":404,"message":"no such model")")).is_permanent());
    CHECK_FALSE(of_event(error_body(R"("type":"server_error")")).is_permanent());
    CHECK_FALSE(of_http(503, error_body(R"("type":"invalid_request_error")")).is_permanent());
}

TEST_CASE("an answer of another kind than asked for is permanent, a garbled one is not") {
    http::events_outcome transport;
    transport.kind = http::outcome_kind::malformed;
    transport.head.status = 200;
    transport.message = "POST http://x: the answer is text/html, not an event stream";
    const auto made = [&transport] { return wire::answer_outcome({}, transport, somewhere(), now); };
    CHECK_FALSE(made().is_permanent());
    transport.foreign = true;
    CHECK(made().status() == stop_reason::malformed);
    CHECK(made().is_permanent());
}

TEST_CASE("wishes to wait are read in their order") {
    const auto wait = [](int status, std::vector<http::header> headers, std::string body = {}) {
        return of_http(status, std::move(body), std::move(headers)).wait();
    };
    CHECK(wait(429, {{"retry-after", "2"}, {"retry-after-ms", "1500"}}) == 1500ms);
    CHECK(wait(503, {{"retry-after", "1.5"}}) == 1500ms);
    CHECK(wait(503, {{"retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"}}) == 60s);
    CHECK(wait(503, {{"retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"}}) == 0s);
    CHECK(wait(429, {{"retry-after-ms", "x"}, {"retry-after", "-1"}}) == std::nullopt);
    CHECK(wait(429, {{"x-ratelimit-reset-tokens", "6m0s"}, {"x-ratelimit-reset-requests", "120ms"}}) ==
          120ms);
    CHECK(wait(429, {{"x-ratelimit-reset-tokens", "6m0s"},
                     {"x-ratelimit-remaining-tokens", "0"},
                     {"x-ratelimit-reset-requests", "120ms"},
                     {"x-ratelimit-remaining-requests", "9"}}) == 6min);
    CHECK(wait(500, {{"x-ratelimit-reset-tokens", "6m0s"}}) == std::nullopt);
    CHECK(wait(429, {}, R"([{"error":{"details":[{"@type":"x"},{"retryDelay":"0.6s"}]}}])") == 600ms);
    CHECK(wait(429, {}) == std::nullopt);
}

TEST_CASE("durations and dates of other forms are none") {
    for (const char* wrong : {"", "5", "s", "1x", "1s2", "1..2s", "-1s", " 1s"})
        CHECK_FALSE(parse_duration(wrong));
    CHECK(parse_duration("1h2m3.5s") == 3723500ms);
    CHECK(parse_duration("99999999999999999999d"));
    CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == now);
    for (const char* wrong : {"", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 36 Nov 1994 08:49:37 GMT",
                              "Sun, 06 Nix 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT"})
        CHECK_FALSE(parse_http_date(wrong));
}

TEST_CASE("what the answer said stands above how the connection ended") {
    chat_transcript all;
    all.event(last_chunk("stop"));
    static_cast<void>(all.finish());
    for (const auto kind :
         {http::outcome_kind::timeout, http::outcome_kind::cancelled, http::outcome_kind::transport}) {
        http::events_outcome transport;
        transport.kind = kind;
        CHECK(wire::answer_outcome(all.ending(), transport, somewhere(), now).status() ==
              stop_reason::completed);
    }
    const std::pair<http::outcome_kind, stop_reason> open_ends[] = {
        {http::outcome_kind::ok, stop_reason::malformed},
        {http::outcome_kind::malformed, stop_reason::malformed},
        {http::outcome_kind::timeout, stop_reason::timeout},
        {http::outcome_kind::cancelled, stop_reason::aborted},
        {http::outcome_kind::transport, stop_reason::failed},
        {http::outcome_kind::rejected, stop_reason::failed}};
    for (const auto& [kind, expected] : open_ends) {
        http::events_outcome transport;
        transport.kind = kind;
        const auto outcome = wire::answer_outcome({}, transport, somewhere(), now);
        CHECK(outcome.status() == expected);
        CHECK(outcome.is_permanent() == (kind == http::outcome_kind::rejected));
    }
}
