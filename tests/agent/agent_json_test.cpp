// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/agent/agent_json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using thalweg::agent_event;
using thalweg::agent_message;
using thalweg::agent_stop;
using thalweg::assistant_update;
using thalweg::content_block;
using thalweg::parse_agent_event;
using thalweg::parse_agent_message;
using thalweg::text;

namespace {

struct note {
    static constexpr std::string_view role = "note";
    std::string body;
};
BOOST_DESCRIBE_STRUCT(note, (), (body))

const agent_message an_answer = agent_message::assistant(
                                    {content_block::thinking("hm").with_fidelity(R"({"sig":"x"})"),
                                     content_block::text("A \"quoted\"\n"),
                                     content_block::tool_call("c1", "read", R"({"p":1.50})")},
                                    agent_stop::tool_use)
                                    .with_usage({1, 2, 3, 6})
                                    .with_timestamp(1'700'000'000'000);

template <class T>
struct sample {
    T value;
    std::string_view json;
};

std::vector<sample<agent_message>> message_samples() {
    return {
        {agent_message::user("Hi"), R"({"role":"user","content":[{"type":"text","text":"Hi"}]})"},
        {agent_message::user(
             {content_block::image("QUJD", "image/png"), content_block::image_url("https://x/y")}),
         R"({"role":"user","content":[{"type":"image","data":"QUJD","mimeType":"image/png"},{"type":"image","url":"https://x/y"}]})"},
        {an_answer,
         R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","fidelity":{"sig":"x"}},{"type":"text","text":"A \"quoted\"\n"},{"type":"toolCall","id":"c1","name":"read","arguments":{"p":1.50}}],"stopReason":"toolUse","usage":{"cacheRead":1,"cacheWrite":2,"output":3,"total":6},"timestamp":1700000000000})"},
        {agent_message::assistant({content_block::tool_call("c1", "read", "{\"p\":")})
             .with_error(agent_stop::error, "cut"),
         R"({"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{},"partialJson":"{\"p\":"}],"stopReason":"error","errorMessage":"cut","usage":{"cacheRead":0,"cacheWrite":0,"output":0,"total":0}})"},
        {agent_message::assistant(content_block::other(R"({"type":"x"})")),
         R"({"role":"assistant","content":[{"type":"omni","message":{"type":"x"}}],"stopReason":"stop","usage":{"cacheRead":0,"cacheWrite":0,"output":0,"total":0}})"},
        {agent_message::tool_result("c1", "read", content_block::text("A"), R"({"n":1})", true),
         R"({"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"A"}],"details":{"n":1},"isError":true})"},
        {agent_message::tool_result("c1", "read", {}),
         R"({"role":"toolResult","toolCallId":"c1","toolName":"read","content":[],"details":null,"isError":false})"},
        {agent_message::custom(note{"saved"}).with_timestamp(5),
         R"({"role":"note","body":"saved","timestamp":5})"},
        {agent_message::untyped("mark", R"({"deep":{"a":[1,2]},"b":null})"),
         R"({"role":"mark","deep":{"a":[1,2]},"b":null})"},
    };
}

std::vector<sample<agent_event>> event_samples() {
    const agent_message partial = agent_message::assistant({content_block::text("He")});
    const std::string_view
        zero = R"("stopReason":"stop","usage":{"cacheRead":0,"cacheWrite":0,"output":0,"total":0}})";
    static const std::string shown = R"({"role":"assistant","content":[{"type":"text","text":"He"}],)" +
                                     std::string(zero);
    static const std::string start = R"({"type":"message_start","message":)" + shown + "}";
    static const std::string end = R"({"type":"message_end","message":)" + shown + "}";
    static const std::string turn = R"({"type":"turn_end","message":)" + shown + R"(,"toolResults":[]})";
    static const std::string
        update = R"({"type":"message_update","message":)" + shown +
                 R"(,"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"e"}})";
    return {
        {agent_event::of(agent_event::agent_start{}), R"({"type":"agent_start"})"},
        {agent_event::of(
             agent_event::agent_end{{agent_message::user("Hi"), agent_message::custom(note{"x"})}}),
         R"({"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"note","body":"x"}]})"},
        {agent_event::of(agent_event::turn_start{}), R"({"type":"turn_start"})"},
        {agent_event::of(agent_event::turn_end{partial, {}}), turn},
        {agent_event::of(agent_event::message_start{partial}), start},
        {agent_event::of(agent_event::message_update{
             partial, assistant_update::delta(content_block::type::text, 0, "e")}),
         update},
        {agent_event::of(agent_event::message_end{partial}), end},
        {agent_event::of(agent_event::tool_execution_start{"c1", "read", "Read a file", R"({"p":1})"}),
         R"({"type":"tool_execution_start","toolCallId":"c1","toolName":"read","toolLabel":"Read a file","args":{"p":1}})"},
        {agent_event::of(agent_event::tool_execution_start{"c1", "read", {}, "{\"p"}),
         R"({"type":"tool_execution_start","toolCallId":"c1","toolName":"read","args":"{\"p"})"},
        {agent_event::of(
             agent_event::tool_execution_update{"c1", "read", "{}", {content_block::text("10%"), "[1]"}}),
         R"({"type":"tool_execution_update","toolCallId":"c1","toolName":"read","args":{},"partialResult":{"content":[{"type":"text","text":"10%"}],"details":[1]}})"},
        {agent_event::of(agent_event::tool_execution_end{"c1", "read", {content_block::text("A"), {}}, true}),
         R"({"type":"tool_execution_end","toolCallId":"c1","toolName":"read","result":{"content":[{"type":"text","text":"A"}],"details":null},"isError":true})"},
        {agent_event::of(agent_event::auto_retry_start{2, 3, 4'000, "overloaded"}),
         R"({"type":"auto_retry_start","attempt":2,"maxAttempts":3,"delayMs":4000,"errorMessage":"overloaded"})"},
        {agent_event::of(agent_event::auto_retry_end{true, 2, {}}),
         R"({"type":"auto_retry_end","success":true,"attempt":2})"},
        {agent_event::of(agent_event::auto_retry_end{false, 2, text("dead")}),
         R"({"type":"auto_retry_end","success":false,"attempt":2,"finalError":"dead"})"},
    };
}

std::string message_error(std::string_view json) {
    const auto read = parse_agent_message(json, thalweg::custom_types<note>());
    INFO(json);
    REQUIRE_FALSE(read);
    return read.error().message();
}

std::string event_error(std::string_view json) {
    const auto read = parse_agent_event(json);
    INFO(json);
    REQUIRE_FALSE(read);
    return read.error().message();
}

bool has(std::string_view where, std::string_view what) {
    return where.find(what) != std::string_view::npos;
}

} // namespace

TEST_CASE("each message is written as said and read back equal") {
    for (const auto& s : message_samples()) {
        CHECK(to_json(s.value) == s.json);
        const auto read = parse_agent_message(s.json, thalweg::custom_types<note>());
        INFO(s.json);
        if (!read) FAIL(read.error().message());
        CHECK(read.value() == s.value);
        CHECK((read.value().get_if<note>() != nullptr) == (s.value.get_if<note>() != nullptr));
    }
}

TEST_CASE("each event is written as said and read back equal") {
    std::vector<bool> seen(12);
    for (const auto& s : event_samples()) {
        CHECK(to_json(s.value) == s.json);
        const auto read = parse_agent_event(s.json, thalweg::custom_types<note>());
        INFO(s.json);
        if (!read) FAIL(read.error().message());
        CHECK(read.value() == s.value);
        seen[static_cast<std::size_t>(s.value.kind())] = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == 12);
}

TEST_CASE("each update of an assistant message is read back equal") {
    using block = content_block::type;
    for (const auto& update :
         {assistant_update::start(block::thinking, 0), assistant_update::delta(block::thinking, 0, "h"),
          assistant_update::end(0, an_answer.content()[0]), assistant_update::start(block::text, 1),
          assistant_update::end(1, an_answer.content()[1]), assistant_update::start(block::tool_call, 2),
          assistant_update::delta(block::tool_call, 2, "{"),
          assistant_update::end(2, an_answer.content()[2])}) {
        const auto event = agent_event::of(agent_event::message_update{an_answer, update});
        const auto read = parse_agent_event(to_json(event));
        INFO(to_json(event));
        if (!read) FAIL(read.error().message());
        CHECK(read.value() == event);
    }
}

TEST_CASE("members that nobody knows are skipped") {
    const auto read = parse_agent_event(
        R"({"new":[1],"type":"message_end","message":{"role":"user","model":"m","content":[{"type":"text","text":"Hi","cache":1}]}})");
    REQUIRE(read);
    CHECK(read.value() == agent_event::of(agent_event::message_end{agent_message::user("Hi")}));
}

TEST_CASE("a transcript is saved and resumed, custom messages included") {
    std::vector<agent_message> all;
    for (const auto& s : message_samples())
        all.push_back(s.value);
    const std::string saved = thalweg::transcript_json(all);
    const auto read = thalweg::parse_transcript(saved, thalweg::custom_types<note>());
    REQUIRE(read);
    CHECK(read.value() == all);
    CHECK(thalweg::parse_transcript("[]").value().empty());
    CHECK(has(thalweg::parse_transcript("{}").error().message(), "expected an array at byte 0"));
    CHECK(
        has(thalweg::parse_transcript(R"([{"role":"user","content":[]},{"role":"user"}])").error().message(),
            "at byte 30 ([1])"));
}

TEST_CASE("a broken message is refused with its place") {
    CHECK(has(message_error(R"({"role":"user","content":[{"type":"text"}]})"), "byte 26 (content[0])"));
    CHECK(has(message_error(R"({"role":"user","content":"Hi"})"), "(content)"));
    CHECK(has(message_error(R"({"role":"user","content":[{"type":"blob"}]})"), "(content[0].type)"));
    CHECK(has(message_error(R"({"content":[]})"), "\"role\""));
    CHECK(has(message_error(R"({"role":""})"), "(role)"));
    CHECK(has(message_error(R"({"role":"assistant","content":[],"stopReason":"tired"})"), "(stopReason)"));
    CHECK(has(message_error(R"({"role":"assistant","content":[],"stopReason":"stop","errorMessage":"x"})"),
              "(errorMessage)"));
    CHECK(has(message_error(R"({"role":"assistant","content":[],"stopReason":"stop","usage":{"total":"1"}})"),
              "usage"));
    CHECK(has(
        message_error(
            R"({"role":"assistant","content":[{"type":"toolCall","id":"a","name":"b","arguments":"{}"}],"stopReason":"stop"})"),
        "(content[0].arguments)"));
    CHECK(has(
        message_error(R"({"role":"toolResult","toolCallId":"a","toolName":"b","content":[],"isError":0})"),
        "(isError)"));
    CHECK(has(message_error(R"({"role":"note","body":7})"), "body: expected a string, got 7"));
    CHECK(has(message_error(R"({"role":"user","role":"user","content":[]})"), "only once"));
    CHECK(has(message_error("[]"), "an object at byte 0"));
    CHECK(has(message_error(R"({"role":"user")"), "ended early"));
    CHECK(has(message_error(std::string(300, '[')), "agent message: "));
}

TEST_CASE("a broken event is refused with its place") {
    CHECK(has(event_error(R"({"type":"agent_stop"})"), "(type)"));
    CHECK(has(event_error(R"({"type":"agent_end","messages":[{"role":"user","content":[]},7]})"),
              "(messages[1])"));
    CHECK(has(event_error(R"({"type":"message_start"})"), "\"message\""));
    CHECK(has(event_error(R"({"type":"tool_execution_start","toolCallId":"a","toolName":"b","args":7})"),
              "(args)"));
    CHECK(has(event_error(R"({"type":"auto_retry_start","attempt":"1","delayMs":1,"errorMessage":""})"),
              "(attempt)"));
    CHECK(has(event_error(R"({"type":"auto_retry_end","success":true})"), "\"attempt\""));
    const std::string update =
        R"({"type":"message_update","message":{"role":"assistant","content":[{"type":"text","text":""}],"stopReason":"stop"},"assistantMessageEvent":)";
    CHECK(has(event_error(update + R"({"type":"text_delta","contentIndex":1,"delta":"x"}})"),
              "(assistantMessageEvent.contentIndex)"));
    CHECK(
        has(event_error(update + R"({"type":"text_delta","contentIndex":-1,"delta":"x"}})"), "contentIndex"));
    CHECK(has(event_error(update + R"({"type":"thinking_end","contentIndex":0,"content":"x"}})"),
              "contentIndex"));
    CHECK(has(event_error(update + R"({"type":"text_delta","contentIndex":0}})"), "\"delta\""));
    CHECK(has(event_error(update + R"({"type":"done"}})"), "(assistantMessageEvent.type)"));
}

TEST_CASE("every text that is cut or has a byte changed is read or refused, never worse") {
    for (const auto& s : event_samples()) {
        const std::string whole(s.json);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            CHECK_FALSE(parse_agent_event(whole.substr(0, i)));
            for (const char c : {'"', '}', '0', '\\', '\xff'}) {
                std::string changed = whole;
                changed[i] = c;
                const auto read = parse_agent_event(changed);
                if (read) CHECK(parse_agent_event(to_json(read.value())));
            }
        }
    }
}
