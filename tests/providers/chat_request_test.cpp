// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/chat/request.hpp>

using namespace thalweg;
using namespace thalweg::providers;

namespace {

std::string messages_of(const std::vector<message>& history, const std::vector<message>& input,
                        openai_chat_options options = {.model = "m"}, text system = {}) {
    std::string out;
    providers::detail::append_chat_messages(out, options,
                                            model_request(history, input, {}, std::move(system), {}));
    REQUIRE_FALSE(json::check(out));
    return out;
}

std::string body_of(openai_chat_options options, const std::vector<tool_definition>& tools = {},
                    text level = {}) {
    const message prompt = message::user_text("go");
    const std::string body = providers::detail::chat_request_body(
        providers::detail::resolved(std::move(options)),
        model_request({}, {&prompt, 1}, tools, {}, std::move(level)));
    REQUIRE_FALSE(json::check(body));
    return body;
}

const message prompt = message::user_text("go");

message call(const char* id, const char* arguments = "{}") {
    return message::tool_call("n", arguments, id);
}
message output(const char* id, const char* said = "ok") {
    return message::tool_call_output(said, id);
}

} // namespace

TEST_CASE("the smallest body") {
    CHECK(body_of({.model = "m", .base_url = "http://x/v1"}) ==
          R"({"model":"m","messages":[{"role":"user","content":"go"}],"stream":true,)"
          R"("stream_options":{"include_usage":true}})");
}

TEST_CASE("every option has its member") {
    openai_chat_options options{.model = "m",
                                .max_tokens = 5,
                                .temperature = 0.5,
                                .parallel_tool_calls = false,
                                .tool_choice = "t",
                                .extra = R"({ "seed": 7, "stream": false })"};
    options.dialect.include_usage = false;
    options.dialect.strict_tools = true;
    const std::vector<tool_definition> tools = {{"t", "does", R"({"type": "object"})"}, {"u", "", ""}};
    CHECK(
        body_of(options, tools, "high") ==
        R"({"model":"m","messages":[{"role":"user","content":"go"}],"tools":[)"
        R"({"type":"function","function":{"name":"t","description":"does","parameters":{"type":"object"},"strict":true}},)"
        R"({"type":"function","function":{"name":"u","description":"","parameters":{"type":"object","properties":{}},"strict":true}}],)"
        R"("tool_choice":{"type":"function","function":{"name":"t"}},"parallel_tool_calls":false,)"
        R"("max_completion_tokens":5,"temperature":0.5,"reasoning_effort":"high","seed":7,"stream":false})");
    CHECK_THAT(body_of({.model = "m", .base_url = "http://x", .max_tokens = 5}),
               Catch::Contains(R"("max_tokens":5)"));
    CHECK_THAT(body_of({.model = "m", .parallel_tool_calls = true, .tool_choice = "none"}),
               !Catch::Contains("tool_choice") && !Catch::Contains("parallel"));
}

TEST_CASE("thinking is asked for in the way of the server") {
    const auto with = [](thinking_switch how, const char* level) {
        openai_chat_options options{.model = "m"};
        options.dialect.thinking = how;
        const std::string body = body_of(options, {}, level);
        const auto at = body.find("\"stream_options\":{\"include_usage\":true}") + 39;
        return body.substr(at, body.size() - at - 1);
    };
    CHECK(with(thinking_switch::reasoning_effort, "").empty());
    CHECK(with(thinking_switch::none, "high").empty());
    CHECK(with(thinking_switch::reasoning_effort, "off") == R"(,"reasoning_effort":"none")");
    CHECK(with(thinking_switch::reasoning_object, "low") == R"(,"reasoning":{"effort":"low"})");
    CHECK(with(thinking_switch::thinking_object, "low") == R"(,"thinking":{"type":"enabled"})");
    CHECK(with(thinking_switch::enable_thinking, "none") == R"(,"enable_thinking":false)");
    CHECK(with(thinking_switch::chat_template_kwargs, "low") ==
          R"(,"chat_template_kwargs":{"enable_thinking":true})");
}

TEST_CASE("an answer and its results take their form") {
    const std::vector<message> history = {prompt, message::assistant_text("hm"), call("a", R"({"x": 1})"),
                                          call("b")};
    const std::vector<message> input = {output("b", "second"), output("a", "")};
    CHECK(messages_of(history, input, {.model = "m"}, "be brief") ==
          R"([{"role":"system","content":"be brief"},{"role":"user","content":"go"},)"
          R"({"role":"assistant","content":"hm","tool_calls":[)"
          R"({"id":"a","type":"function","function":{"name":"n","arguments":"{\"x\": 1}"}},)"
          R"({"id":"b","type":"function","function":{"name":"n","arguments":"{}"}}]},)"
          R"j({"role":"tool","tool_call_id":"a","content":"(no output)"},)j"
          R"({"role":"tool","tool_call_id":"b","content":"second"}])");
    openai_chat_options developer{.model = "m"};
    developer.dialect.developer_role = true;
    CHECK_THAT(messages_of({}, {prompt}, developer, "s"), Catch::StartsWith(R"([{"role":"developer")"));
}

TEST_CASE("the pairs of calls and results are repaired (H-01)") {
    const std::string
        answer = R"([{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",)"
                 R"("function":{"name":"n","arguments":"{}"}}]},)";
    SECTION("a call without a result gets one") {
        CHECK(messages_of({call("a")}, {prompt}) ==
              answer +
                  R"({"role":"tool","tool_call_id":"a","content":"Error: no result, the call was not run."},)"
                  R"({"role":"user","content":"go"}])");
    }
    SECTION("a result without a call is dropped, and a second one") {
        CHECK(messages_of({call("a")}, {output("x"), output("a"), output("a", "again")}) ==
              answer + R"({"role":"tool","tool_call_id":"a","content":"ok"}])");
    }
    SECTION("what the user says comes after the results") {
        CHECK(messages_of({call("a")}, {prompt, output("a")}) ==
              answer +
                  R"({"role":"tool","tool_call_id":"a","content":"ok"},{"role":"user","content":"go"}])");
    }
    SECTION("an unfinished call goes, with its result; an empty answer goes as a whole") {
        CHECK(messages_of({call("a").with_stop(stop_reason::failed)}, {output("a"), prompt}) ==
              R"([{"role":"user","content":"go"}])");
    }
    SECTION("arguments that are no object go as an empty one") {
        for (const char* arguments : {"[1]", "{\"a\"", "", "5"})
            CHECK(messages_of({call("a", arguments)}, {output("a")}) ==
                  answer + R"({"role":"tool","tool_call_id":"a","content":"ok"}])");
    }
}

TEST_CASE("call ids are the provider's own, as long as they are unique and short enough") {
    const auto with_ids = [](const char* first, const char* second, std::size_t longest = 0) {
        openai_chat_options options{.model = "m"};
        options.dialect.longest_call_id = longest;
        return messages_of({call("x").with_provider_id(first), call("x#2").with_provider_id(second)},
                           {output("x#2"), output("x")}, options);
    };
    CHECK_THAT(with_ids("p", "q"),
               Catch::Contains(R"({"role":"tool","tool_call_id":"p")") && Catch::Contains(R"({"id":"q")"));
    CHECK_THAT(with_ids("x", "x"), Catch::Contains(R"({"role":"tool","tool_call_id":"x#2")"));
    CHECK_THAT(with_ids("", "y"), Catch::Contains(R"({"role":"tool","tool_call_id":"x","content")"));
    const std::string shortened = with_ids(std::string(100, 'p').c_str(), "y", 64);
    CHECK_THAT(shortened,
               !Catch::Contains(std::string(65, 'p')) && Catch::Contains(std::string(32, 'p') + "_"));
    CHECK(shortened == with_ids(std::string(100, 'p').c_str(), "y", 64));
}

TEST_CASE("pictures are parts of what the user says") {
    const auto picture = message::image_url("https://x/y.png");
    const auto data = message::inline_data(role::user, "QUJD", "image/png");
    const auto sound = message::inline_data(role::user, "QUJD", "audio/wav");
    CHECK(messages_of({}, {prompt, picture, data, sound}) ==
          R"([{"role":"user","content":[{"type":"text","text":"go"},)"
          R"({"type":"image_url","image_url":{"url":"https://x/y.png"}},)"
          R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},)"
          R"({"type":"text","text":"[audio/wav data that this model cannot be shown]"}]}])");
    const auto shot = output("a").with_images({text("data:image/png;base64,QUJD")});
    CHECK_THAT(
        messages_of({call("a"), call("b")}, {shot, output("b"), prompt}),
        Catch::EndsWith(
            R"({"role":"tool","tool_call_id":"b","content":"ok"},)"
            R"({"role":"user","content":[{"type":"text","text":"Images of the result of the call a (n):"},)"
            R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},)"
            R"({"type":"text","text":"go"}]}])"));
    CHECK(messages_of({}, {prompt, message::user_text("on")}) == R"([{"role":"user","content":"go\n\non"}])");
}

TEST_CASE("thinking goes back when it is wanted, and only then") {
    const std::vector<message> old_turn = {
        prompt,      message::thinking("t1"), call("a"),
        output("a"), message::thinking("t2"), message::assistant_text("done")};
    std::vector<message> history = old_turn;
    history.insert(history.end(), {prompt, message::thinking("t3"), call("b")});
    const auto sent = [&](resend_thinking when) {
        openai_chat_options options{.model = "m"};
        options.dialect.resend = when;
        const std::string all = messages_of(history, {output("b")}, options);
        std::string found;
        for (const char* each : {"t1", "t2", "t3"})
            if (all.find(std::string(R"("reasoning_content":")") + each) != std::string::npos) found += each;
        return found;
    };
    CHECK(sent(resend_thinking::never).empty());
    CHECK(sent(resend_thinking::tool_turns) == "t3");
    CHECK(sent(resend_thinking::always) == "t1t2t3");
}

TEST_CASE("what a model said about its thinking goes back to that model only") {
    const auto thought = message::thinking("t").with_fidelity(
        R"({"model":"m","reasoning_details":[{"type":"reasoning.text","text":"t","index":0}]})");
    const auto late = message::assistant_text("a").with_fidelity(
        R"({"model":"m","reasoning_details":[{"type":"reasoning.text","signature":"S","index":0}]})");
    CHECK(
        messages_of({thought, late}, {prompt}) ==
        R"([{"role":"assistant","content":"a","reasoning_details":[{"type":"reasoning.text","text":"t","index":0,"signature":"S"}]},)"
        R"({"role":"user","content":"go"}])");
    CHECK_THAT(messages_of({thought, late}, {prompt}, {.model = "other"}), !Catch::Contains("reasoning"));
    const auto named = message::thinking("t").with_fidelity(R"({"model":"m","field":"reasoning"})");
    CHECK_THAT(messages_of({prompt, named, call("a")}, {output("a")}), Catch::Contains(R"("reasoning":"t")"));
    const auto cut = message::thinking("t").with_stop(stop_reason::aborted);
    CHECK_THAT(messages_of({prompt, cut, call("a")}, {output("a")}), !Catch::Contains("reasoning"));
}

TEST_CASE("what goes out is valid UTF-8 without half characters (H-14)") {
    const std::string broken = "a\xff\xed\xa0\xbd";
    const std::vector<message> history = {message::user_text(broken), message::assistant_text(broken),
                                          message::tool_call(broken, "{\"a\":\"" + broken + "\"}", broken),
                                          message::tool_call_output(broken, broken)};
    const std::string sent = messages_of(history, {}, {.model = "m"}, broken);
    CHECK(sent.find('\xff') == std::string::npos);
    CHECK(sent.find("\\ud83d") == std::string::npos);
    CHECK(sent.find("\xed\xa0\xbd") == std::string::npos);
    CHECK_THAT(sent, Catch::Contains("a\uFFFD\uFFFD"));
}

TEST_CASE("a schema for the answer is asked of the model, without strictness") {
    const message prompt = message::user_text("go");
    const auto body = [&prompt](openai_chat_options options, text schema) {
        model_request asked({}, {&prompt, 1}, {}, {}, {});
        asked = std::move(asked).with_response_schema(std::move(schema));
        return providers::detail::chat_request_body(providers::detail::resolved(std::move(options)), asked);
    };
    const text form(R"({"type": "object", "properties": {}})");
    const std::string with = body({.model = "m"}, form);
    CHECK(with.find(R"("response_format":{"type":"json_schema","json_schema":{"name":"answer",)"
                    R"("schema":{"type":"object","properties":{}},"strict":false}})") != std::string::npos);
    CHECK_FALSE(json::check(with));
    CHECK(body({.model = "m"}, {}).find("response_format") == std::string::npos);
    const std::string own = body({.model = "m", .extra = R"({"response_format":{"type":"text"}})"}, form);
    CHECK(own.find("json_schema") == std::string::npos);
}
