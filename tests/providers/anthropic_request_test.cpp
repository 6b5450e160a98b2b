// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/anthropic/request.hpp>

#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::providers;

namespace {

using messages = std::vector<message>;

const message prompt = message::user_text("go");

std::string body_of(const anthropic_options& options, const messages& history, const messages& input,
                    const std::vector<tool_definition>& tools = {}, text system = {}, text level = {}) {
    const model_request request(history, input, tools, std::move(system), std::move(level));
    std::string body = providers::detail::anthropic_request_body(options, request);
    REQUIRE_FALSE(json::check(body));
    return body;
}

std::string member_of(const std::string& body, std::string_view name) {
    const auto parsed = json::parse(body);
    const auto found = parsed.value().find(name);
    return found ? std::string(found->raw()) : "absent";
}

std::string messages_of(const messages& history, const messages& input = {prompt},
                        const anthropic_options& options = {.model = "m"}) {
    return member_of(body_of(options, history, input), "messages");
}

message call(const char* id, const char* arguments = "{}") {
    return message::tool_call("n", arguments, id);
}
message output(const char* id, const char* said = "ok") {
    return message::tool_call_output(said, id);
}
message thought(const char* said, const char* fidelity) {
    return message::thinking(said).with_fidelity(fidelity);
}

std::string user(const std::string& blocks) {
    return R"({"role":"user","content":[)" + blocks + "]}";
}
std::string assistant(const std::string& blocks) {
    return R"({"role":"assistant","content":[)" + blocks + "]}";
}
std::string said(const std::string& text) {
    return R"({"type":"text","text":")" + text + "\"}";
}

const std::string go = user(said("go"));

} // namespace

TEST_CASE("anthropic: the smallest body") {
    CHECK(body_of({.model = "m", .max_tokens = 9}, {}, {prompt}) ==
          R"({"model":"m","max_tokens":9,"messages":[)" + go + R"(],"stream":true})");
}

TEST_CASE("anthropic: every option has its member") {
    anthropic_options options{
        .model = "m", .temperature = 0.5, .stop_sequences = {"a", "b"}, .tool_choice = "t"};
    options.parallel_tool_calls = false;
    options.extra = R"({"top_k": 3, "stream": false})";
    const std::vector<tool_definition> tools = {{"t", "does", R"({"type": "object"})"}, {"u", "", ""}};
    const std::string body = body_of(options, {}, {prompt}, tools, "be");
    CHECK(member_of(body, "temperature") == "0.5");
    CHECK(member_of(body, "stop_sequences") == R"(["a","b"])");
    CHECK(member_of(body, "system") == "[" + said("be") + "]");
    CHECK(member_of(body, "tool_choice") == R"({"type":"tool","name":"t","disable_parallel_tool_use":true})");
    CHECK(member_of(body, "tools") ==
          R"([{"name":"t","description":"does","input_schema":{"type":"object"}},)"
          R"({"name":"u","description":"","input_schema":{"type":"object","properties":{}}}])");
    CHECK(member_of(body, "top_k") == "3");
    CHECK(member_of(body, "stream") == "false");
    options.parallel_tool_calls = true;
    options.tool_choice = "required";
    CHECK(member_of(body_of(options, {}, {prompt}, tools), "tool_choice") == R"({"type":"any"})");
    CHECK(member_of(body_of(options, {}, {prompt}), "tool_choice") == "absent"); // without tools
}

TEST_CASE("anthropic: the thinking level") {
    anthropic_options options{.model = "m", .max_tokens = 8000, .temperature = 1};
    const auto thinking = [&](const char* level) {
        return member_of(body_of(options, {}, {prompt}, {}, {}, level), "thinking");
    };
    CHECK(thinking("") == "absent");
    CHECK(thinking("none") == R"({"type":"disabled"})");
    CHECK(thinking("minimal") == R"({"type":"enabled","budget_tokens":1024})");
    CHECK(thinking("low") == R"({"type":"enabled","budget_tokens":2000})");
    CHECK(thinking("high") == R"({"type":"enabled","budget_tokens":6000})");
    CHECK(thinking("3000") == R"({"type":"enabled","budget_tokens":3000})");
    CHECK(thinking("1") == R"({"type":"enabled","budget_tokens":1024})");
    CHECK(thinking("99999") == R"({"type":"enabled","budget_tokens":7999})");
    CHECK(thinking("a word") == "absent");
    CHECK(member_of(body_of(options, {}, {prompt}, {}, {}, "low"), "temperature") == "absent");
    options.thinking = anthropic_thinking::adaptive;
    const std::string body = body_of(options, {}, {prompt}, {}, {}, "medium");
    CHECK(member_of(body, "thinking") == R"({"type":"adaptive"})");
    CHECK(member_of(body, "output_config") == R"({"effort":"medium"})");
}

TEST_CASE("anthropic: the cache is marked at the last tool, the system prompt and the last user block") {
    anthropic_options options{.model = "m"};
    options.cache = prompt_cache::one_hour;
    const std::string mark = R"("cache_control":{"type":"ephemeral","ttl":"1h"}})";
    const std::vector<tool_definition> tools = {{"t", "", ""}, {"u", "", ""}};
    const std::string body = body_of(options, {}, {prompt, prompt}, tools, "be");
    CHECK(member_of(body, "system").ends_with(mark + "]"));
    CHECK(member_of(body, "tools").ends_with(mark + "]"));
    CHECK(member_of(body, "messages").ends_with(mark + "]}]"));
    std::size_t marks = 0;
    for (auto at = body.find(mark); at != std::string::npos; at = body.find(mark, at + 1))
        ++marks;
    CHECK(marks == 3);
}

TEST_CASE("anthropic: roles alternate, results stand first, and every call has one") {
    CHECK(messages_of({prompt, call("a", R"({"x": 1})"), call("b"), output("b")}) ==
          "[" + go + "," +
              assistant(R"({"type":"tool_use","id":"a","name":"n","input":{"x": 1}},)"
                        R"({"type":"tool_use","id":"b","name":"n","input":{}})") +
              "," +
              user(R"({"type":"tool_result","tool_use_id":"a","is_error":true,"content":[)" +
                   said("Error: no result, the call was not run.") +
                   R"(]},{"type":"tool_result","tool_use_id":"b","content":[)" + said("ok") + "]}," +
                   said("go")) +
              "]");
    CHECK(
        messages_of({prompt, output("nobody"), message::assistant_text("a"), message::assistant_text("b")}) ==
        "[" + go + "," + assistant(said("a") + "," + said("b")) + "," + go + "]");
}

TEST_CASE("anthropic: only signed thinking of the same model goes back, in its place") {
    const std::string signed_one = R"({"type":"thinking","thinking":"hm","signature":"s\/"})";
    const std::string redacted = R"({"type":"redacted_thinking","data":"d"})";
    CHECK(messages_of({prompt, thought("hm", R"({"model":"m","signature":"s\/"})"),
                       thought("", R"({"model":"m","redacted":"d"})"), message::assistant_text("a")}) ==
          "[" + go + "," + assistant(signed_one + "," + redacted + "," + said("a")) + "," + go + "]");
    CHECK(messages_of({prompt, thought("hm", R"({"model":"other","signature":"s"})"), message::thinking("no"),
                       message::assistant_text("a")}) ==
          "[" + go + "," + assistant(said("a")) + "," + go + "]");
}

TEST_CASE("anthropic: empty texts are left out, and nothing ends in blanks") {
    CHECK(messages_of({prompt, message::assistant_text(" \n")}) ==
          "[" + user(said("go") + "," + said("go")) + "]");
    CHECK(messages_of({prompt}, {message::assistant_text("a \n")}) ==
          "[" + go + "," + assistant(said("a")) + "]");
    const std::string body = messages_of({prompt, call("a")}, {output("a", "")});
    CHECK(body.find("(no output)") != std::string::npos);
}

TEST_CASE("anthropic: images go as data or address") {
    CHECK(messages_of({}, {message::image_url("https://x/y.png"),
                           message::inline_data(role::user, "AA==", "image/png")}) ==
          "[" +
              user(R"({"type":"image","source":{"type":"url","url":"https://x/y.png"}},)"
                   R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}})") +
              "]");
}

TEST_CASE("anthropic: foreign call ids are made to fit, and results refer to them") {
    const std::string body = messages_of({prompt, call("fc:1/2"), output("fc:1/2")});
    CHECK(body.find("fc:1") == std::string::npos);
    const auto at = body.find(R"("id":")") + 6;
    const std::string id = body.substr(at, body.find('"', at) - at);
    CHECK(id.starts_with("fc12_"));
    CHECK(body.find(R"("tool_use_id":")" + id + "\"") != std::string::npos);
}

TEST_CASE("anthropic: what the server would refuse is found before sending") {
    const auto refusal = [](const messages& input, const std::vector<tool_definition>& tools) {
        return wire::refusal_of(model_request({}, input, tools, {}, {}),
                                providers::detail::anthropic_rules());
    };
    CHECK(refusal({prompt}, {{"good_name-1", "", ""}}).empty());
    CHECK(refusal({prompt}, {{"a b", "", ""}}) ==
          "tool name \"a b\": Anthropic takes 1 to 128 letters, digits, '_' and '-'");
    CHECK(refusal({message::inline_data(role::user, "AA==", "image/tiff")}, {}) ==
          "an image is of the type \"image/tiff\": Anthropic takes image/png, image/jpeg, image/gif and "
          "image/webp");
}
