// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/message.hpp>

#include <string>
#include <vector>

using thalweg::frame;
using thalweg::message;
using thalweg::parse_message;
using thalweg::role;
using thalweg::stop_reason;
using thalweg::text;

namespace {

constexpr thalweg::parse_options untimed{.require_timestamp = false};

std::string model(std::string_view payload) {
    return R"({"type":"model_msg","payload":)" + std::string(payload) + "}";
}

std::string event(std::string_view payload) {
    return R"({"type":"event_msg","payload":)" + std::string(payload) + "}";
}

message parsed(std::string_view line) {
    INFO(line);
    auto m = parse_message(line, untimed);
    if (!m) FAIL(m.error().message());
    return m.value();
}

std::string error_of(std::string_view line, thalweg::parse_options options = untimed) {
    INFO(line);
    const auto m = parse_message(line, options);
    REQUIRE_FALSE(m);
    return m.error().message();
}

thalweg::session_meta sample_meta() {
    thalweg::session_meta meta;
    meta.session_id = "s1";
    meta.provider = "scripted";
    meta.model_id = "m";
    meta.model_context_window = 128000;
    meta.system_prompt = "be brief";
    meta.agent_state = "/state";
    meta.workspace = "/work";
    return meta;
}

struct sample {
    message m;
    std::string json;
};

std::vector<sample> model_samples() {
    return {
        {message::user_text("hi \"you\"\n"),
         model(R"({"type":"text","role":"user","text":"hi \"you\"\n","stop_reason":"completed"})")},
        {message::user_text("go").with_sender("harness").with_fidelity(R"({ "b": 1.50 })"),
         model(
             R"({"type":"text","role":"user","text":"go","stop_reason":"completed","fidelity":{ "b": 1.50 },"sender":"harness"})")},
        {message::assistant_text("yes").with_stop(stop_reason::failed),
         model(R"({"type":"text","role":"assistant","text":"yes","stop_reason":"failed"})")},
        {message::thinking(""),
         model(R"({"type":"thinking","role":"assistant","thinking":"","stop_reason":"completed"})")},
        {message::tool_call("weather", R"({"a":1})", "c1").with_provider_id("never written"),
         model(
             R"({"type":"tool_call","role":"assistant","name":"weather","arguments":"{\"a\":1}","tool_call_id":"c1","stop_reason":"completed"})")},
        {message::tool_call_output("sun", "c1").with_images({"data:a", "data:b"}),
         model(
             R"({"type":"tool_call_output","role":"user","output":"sun","images":["data:a","data:b"],"tool_call_id":"c1","stop_reason":"completed"})")},
        {message::image_url("https://x/y.png"),
         model(
             R"({"type":"image_url","role":"user","image_url":"https://x/y.png","stop_reason":"completed"})")},
        {message::inline_data(role::assistant, "QUJD", "image/png"),
         model(
             R"({"type":"inline_data","role":"assistant","data":"QUJD","mime_type":"image/png","stop_reason":"completed"})")},
        {message::inline_thinking("QUJD", "x/y").with_fidelity(R"({"k":[]})"),
         model(
             R"({"type":"inline_thinking","role":"assistant","data":"QUJD","mime_type":"x/y","stop_reason":"completed","fidelity":{"k":[]}})")},
        {message::partial_text(frame::start),
         model(
             R"({"type":"partial_text","role":"assistant","event_type":"start","text":"","stop_reason":"completed"})")},
        {message::partial_thinking(frame::delta, "hm"),
         model(
             R"({"type":"partial_thinking","role":"assistant","event_type":"delta","thinking":"hm","stop_reason":"completed"})")},
        {message::partial_tool_call(frame::start, "c1", "weather"),
         model(
             R"({"type":"partial_tool_call","role":"assistant","event_type":"start","name":"weather","arguments":"","tool_call_id":"c1","stop_reason":"completed"})")},
        {message::partial_tool_call(frame::stop, "c1").with_stop(stop_reason::aborted),
         model(
             R"({"type":"partial_tool_call","role":"assistant","event_type":"stop","name":"","arguments":"","tool_call_id":"c1","stop_reason":"aborted"})")},
        {message::partial_tool_call_output(frame::delta, "c1").with_images({"data:a"}),
         model(
             R"({"type":"partial_tool_call_output","role":"user","event_type":"delta","output":"","images":["data:a"],"tool_call_id":"c1","stop_reason":"completed"})")},
        {message::partial_text(frame::delta, "deep")
             .with_origin_prefix("grandchild")
             .with_origin_prefix("child"),
         R"({"type":"model_msg","payload":{"type":"partial_text","role":"assistant","event_type":"delta","text":"deep","stop_reason":"completed"},"origin":["child","grandchild"]})"},
    };
}

std::vector<sample> event_samples() {
    auto meta_with_window = sample_meta();
    meta_with_window.model_context_window = text("unknown");
    meta_with_window.source = text("subagent");
    return {
        {message::request_begin(), event(R"({"type":"request_begin"})")},
        {message::event(thalweg::request_end{}), event(R"({"type":"request_end","status":"completed"})")},
        {message::event(thalweg::request_end{stop_reason::failed, text("boom"), 2, 4000}),
         event(
             R"({"type":"request_end","status":"failed","error_message":"boom","attempt":2,"retry_in_ms":4000})")},
        {message::approval_decision(thalweg::decision::deny, "c1"),
         event(R"({"type":"approval_decision","decision":"deny","tool_call_id":"c1"})")},
        {message::event(thalweg::token_usage{{1, 2, 3, 4}, {5, 6, 7, 8}}),
         event(
             R"({"type":"token_usage","session":{"cache_read":1,"cache_write":2,"output":3,"total":4},"request":{"cache_read":5,"cache_write":6,"output":7,"total":8}})")},
        {message::event(thalweg::run_abort{text("aborted by user")}),
         event(R"({"type":"abort","reason":"aborted by user"})")},
        {message::event(thalweg::run_abort{}), event(R"({"type":"abort","reason":null})")},
        {message::event(thalweg::compaction_begin{thalweg::compaction_reason::turns,
                                                  thalweg::compaction_mode::discard, 900, 3}),
         event(R"({"type":"compaction_begin","reason":"turns","mode":"discard","context":900,"turns":3})")},
        {message::event(thalweg::compaction_end{thalweg::compaction_reason::manual,
                                                thalweg::compaction_mode::summarize, stop_reason::failed, 6,
                                                text("no summary")}),
         event(
             R"({"type":"compaction_end","reason":"manual","mode":"summarize","status":"failed","attempt":6,"error_message":"no summary"})")},
        {message::event(thalweg::subagent{"s2"}), event(R"({"type":"subagent","session_id":"s2"})")},
        {message::event(
             thalweg::tool_list_ready{{{"a", "does a", R"({"type": "object"})", "A"}, {"b", "", "", ""}}}),
         event(
             R"({"type":"tool_list_ready","tools":[{"name":"a","description":"does a","parameters":{"type": "object"}},{"name":"b","description":""}]})")},
        {message::event(thalweg::tool_list_ready{}), event(R"({"type":"tool_list_ready","tools":[]})")},
        {message::event(thalweg::mcp_connect_begin{{"x", "y"}}),
         event(R"({"type":"mcp_connect_begin","servers":["x","y"]})")},
        {message::event(thalweg::mcp_connect_end{
             "completed",
             {{"x", "stdio", "completed", 12, 3, {}}, {"y", "http", "failed", 5, {}, text("refused")}}}),
         event(
             R"({"type":"mcp_connect_end","status":"completed","results":[{"server":"x","transport":"stdio","status":"completed","duration_ms":12,"tools":3},{"server":"y","transport":"http","status":"failed","duration_ms":5,"error":"refused"}]})")},
        {message::event(thalweg::goal_finished{"blocked", 3, 1200}),
         event(R"({"type":"goal_finished","outcome":"blocked","rounds":3,"tokens_used":1200})")},
        {message::event(thalweg::trace_fault{"/t", "disk full", 2}),
         event(R"({"type":"trace_fault","path":"/t","error":"disk full","lost":2})")},
        {message::event(thalweg::notice{"no_progress", "looping"}),
         event(R"({"type":"notice","code":"no_progress","text":"looping"})")},
        {message::session_meta(sample_meta()),
         R"({"type":"session_meta","payload":{"session_id":"s1","provider":"scripted","model_id":"m","model_context_window":128000,"system_prompt":"be brief","agent_state":"/state","workspace":"/work"}})"},
        {message::session_meta(meta_with_window),
         R"({"type":"session_meta","payload":{"session_id":"s1","provider":"scripted","model_id":"m","model_context_window":"unknown","system_prompt":"be brief","agent_state":"/state","workspace":"/work","source":"subagent"}})"},
    };
}

} // namespace

TEST_CASE("model messages have exactly their wire form, and come back from it") {
    for (const auto& [m, json] : model_samples()) {
        CHECK(to_json(m) == json);
        CHECK(to_json(parsed(json)) == json);
        CHECK(parsed(json).kind() == m.kind());
        CHECK(to_string(m.kind()) == m.type_name());
    }
}

TEST_CASE("events have exactly their wire form, and come back from it") {
    for (const auto& [m, json] : event_samples()) {
        CHECK(to_json(m) == json);
        CHECK(to_json(parsed(json)) == json);
        CHECK(parsed(json).kind() == m.kind());
    }
}

TEST_CASE("the time stamp stands first and has three fraction digits") {
    const message m = message::request_begin().with_timestamp(1717777777120);
    const std::string line =
        R"({"timestamp":"2024-06-07T16:29:37.120Z","type":"event_msg","payload":{"type":"request_begin"}})";
    CHECK(to_json(m) == line);
    CHECK(parse_message(line).value().timestamp() == 1717777777120);
}

TEST_CASE("the order of members and white space do not matter to the reader") {
    const message m = parsed(R"( { "origin" : [ "child" ] , "payload" : { "tool_call_id" : "c1", "output":"x",
        "role":"user","type":"tool_call_output" } ,"type":"model_msg" } )");
    CHECK(
        to_json(m) ==
        R"({"type":"model_msg","payload":{"type":"tool_call_output","role":"user","output":"x","tool_call_id":"c1"},"origin":["child"]})");
}

TEST_CASE("an absent stop reason stays absent") {
    const message m = parsed(model(R"({"type":"text","role":"user","text":"x"})"));
    CHECK(m.stop() == stop_reason::none);
    CHECK(to_json(m) == model(R"({"type":"text","role":"user","text":"x"})"));
}

TEST_CASE("what is never written is not written again") {
    const message m = parsed(
        R"({"type":"model_msg","origin":null,"payload":{"type":"text","role":"user","text":"x","stop_reason":null,"fidelity":{ },"sender":"user"}})");
    CHECK(m.sender().empty());
    CHECK(to_json(m) == model(R"({"type":"text","role":"user","text":"x"})"));
    const message output = parsed(
        model(R"({"type":"tool_call_output","role":"user","output":"x","images":[],"tool_call_id":"c"})"));
    CHECK(to_json(output) ==
          model(R"({"type":"tool_call_output","role":"user","output":"x","tool_call_id":"c"})"));
    CHECK(to_json(parsed(
              event(R"({"type":"request_end","status":"completed","attempt":null,"error_message":null})"))) ==
          event(R"({"type":"request_end","status":"completed"})"));
}

TEST_CASE("unknown payload types pass through byte for byte") {
    const std::string lines[] = {
        model(R"({"type":"hologram", "points":[1.0,1E+2,123456789012345678901234567890], "s":"\u00e9\/"})"),
        model(R"({"points":{"type":"text"},"type":"partial_hologram"})"),
        event(R"({"type":"weather_changed","to":"\ud800"})"),
        event(R"({"type":"text","text":"an event of that name is no text"})"),
        model(R"({"type":"request_begin"})"),
        event(R"({"type":""})"),
    };
    for (const auto& line : lines)
        CHECK(to_json(parsed(line)) == line);
    const message unknown = parsed(lines[0]);
    CHECK(unknown.kind() == thalweg::kind::other_model);
    CHECK(unknown.type_name() == "hologram");
    CHECK(unknown.is_complete());
    CHECK(parsed(lines[2]).kind() == thalweg::kind::other_event);
    CHECK(parsed(lines[2]).type_name() == "weather_changed");
}

TEST_CASE("unknown members pass through byte for byte, behind the known ones") {
    const std::string line =
        R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"x","stop_reason":"completed","n":1.0E2,"\u006b":[ 1, {"a" :"\/"}],"n":2},"origin":["c"],"trace_id":"\u00e9","x":null})";
    CHECK(to_json(parsed(line)) == line);
    const std::string partial = model(
        R"({"type":"partial_text","role":"assistant","event_type":"delta","text":"x","stop_reason":"completed","fidelity":{}})");
    CHECK(to_json(parsed(partial)) == partial);
    const std::string begin = event(R"({"type":"request_begin","why":"because"})");
    CHECK(to_json(parsed(begin)) == begin);
    const std::string meta =
        R"({"type":"session_meta","payload":{"session_id":"s1","provider":"p","model_id":"m","model_context_window":1,"system_prompt":"","agent_state":"/","workspace":"/","tools":[1],"thinking_level":"high"}})";
    CHECK(to_json(parsed(meta)) == meta);
}

TEST_CASE("unknown members of nested objects pass through as well") {
    const std::string usage = event(
        R"({"type":"token_usage","session":{"cache_read":1,"cache_write":2,"output":3,"total":4,"reasoning":5},"request":{"cache_read":5,"cache_write":6,"output":7,"total":8}})");
    CHECK(to_json(parsed(usage)) == usage);
    CHECK(parsed(usage).event_if<thalweg::token_usage>()->session.total == 4);
    const std::string tools = event(
        R"({"type":"tool_list_ready","tools":[{"name":"a","description":"d","strict":true}]})");
    CHECK(to_json(parsed(tools)) == tools);
}

TEST_CASE("a hop added to a message with unknown parts keeps them") {
    const message m = parsed(R"({"type":"event_msg","payload":{"type":"unheard"},"extra":1})")
                          .with_origin_prefix("child");
    CHECK(to_json(m) == R"({"type":"event_msg","payload":{"type":"unheard"},"origin":["child"],"extra":1})");
}

TEST_CASE("a message is always written on one line") {
    const message m = parsed(
        "{\"type\":\"model_msg\",\"payload\":{\"type\":\"text\",\"role\":\"user\",\"text\":\"x\",\n"
        "\"fidelity\":{\n \"a\": 1 },\"more\": [1,\r\n2]},\n \"other\":{ \n}}");
    CHECK(
        to_json(m) ==
        R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"x","fidelity":{"a":1},"more":[1,2]},"other":{}})");
    CHECK(to_json(parsed("{\"type\":\"event_msg\",\"payload\":{\"type\":\"unheard\",\n\"a\": \"b c\"}}")) ==
          event(R"({"type":"unheard","a":"b c"})"));
    CHECK(
        to_json(message::assistant_text("x").with_fidelity("{\"a\":\n1}")) ==
        model(
            R"({"type":"text","role":"assistant","text":"x","stop_reason":"completed","fidelity":{"a":1}})"));
}

TEST_CASE("text that is not valid Unicode is written so that every reader takes it") {
    CHECK(to_json(message::user_text("a\xed\xa0\x80"
                                     "b\xff\n")) ==
          model("{\"type\":\"text\",\"role\":\"user\",\"text\":\"a\\ud800b\xef\xbf\xbd\\n\",\"stop_reason\":"
                "\"completed\"}"));
    CHECK(parsed(to_json(message::user_text("a\xed\xa0\x80"))).content() == "a\xed\xa0\x80");
}

TEST_CASE("a message that is no JSON is refused with offset and expectation") {
    CHECK(error_of("") == "message: the input ended early: expected a value at byte 0");
    CHECK(error_of(R"({"type":"model_msg",})") == "message: expected a string at byte 20");
    CHECK(error_of("{\"type\":\"\xff\"}") == "message: expected valid UTF-8 at byte 9");
    CHECK(parse_message("{").error().code() == thalweg::json::errc::syntax);
    CHECK(parse_message("{}").error().code() == thalweg::json::errc::shape);
}

TEST_CASE("a wrong shape is refused with its path, offset and expectation") {
    struct wrong {
        std::string line;
        std::string error;
    };
    const std::vector<wrong> all = {
        {"[1]", "message: expected an object at byte 0"},
        {R"({"type":"model_msg"})",
         R"(message: expected the member "payload" with an object in the object at byte 0)"},
        {R"({"type":"note","payload":{}})",
         R"(message: expected "session_meta", "model_msg" or "event_msg" at byte 8 (type))"},
        {R"({"type":7,"payload":{}})", "message: expected a string at byte 8 (type)"},
        {R"({"type":"model_msg","payload":[]})", "message: expected an object at byte 30 (payload)"},
        {R"({"type":"model_msg","payload":{}})",
         R"(message: expected the member "type" with a string in the object at byte 30 (payload))"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"user","text":null}})",
         "message: expected a string at byte 66 (payload.text)"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"robot","text":""}})",
         "message: expected one of user|assistant at byte 52 (payload.role)"},
        {R"({"type":"model_msg","payload":{"type":"thinking","role":"user","thinking":""}})",
         R"(message: expected "assistant" at byte 56 (payload.role))"},
        {R"({"type":"model_msg","payload":{"type":"image_url","role":"assistant","image_url":""}})",
         R"(message: expected "user" at byte 57 (payload.role))"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"","stop_reason":"done"}})",
         "message: expected one of completed|aborted|timeout|malformed|failed|auth at byte 83 "
         "(payload.stop_reason)"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"","stop_reason":""}})",
         "message: expected one of completed|aborted|timeout|malformed|failed|auth at byte 83 "
         "(payload.stop_reason)"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"","fidelity":"{}"}})",
         "message: expected an object at byte 80 (payload.fidelity)"},
        {R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"","text":""}})",
         "message: expected this member only once, but found it again at byte 69 (payload.text)"},
        {R"({"type":"model_msg","payload":{"type":"tool_call_output","role":"user","output":"","images":["a",1],"tool_call_id":""}})",
         "message: expected a string at byte 97 (payload.images)"},
        {R"({"type":"model_msg","payload":{"type":"partial_text","role":"assistant","text":""}})",
         R"(message: expected the member "event_type" with one of start|delta|stop in the object at byte 30 (payload))"},
        {R"({"type":"model_msg","payload":{"type":"tool_call","role":"assistant","name":"a","arguments":{},"tool_call_id":""}})",
         "message: expected a string at byte 92 (payload.arguments)"},
        {R"({"type":"event_msg","payload":{"type":"request_end","status":"completed","attempt":1.0}})",
         "message: expected an integer at byte 83 (payload.attempt)"},
        {R"({"type":"event_msg","payload":{"type":"request_end","status":"completed","attempt":4294967297}})",
         "message: expected an integer at byte 83 (payload.attempt)"},
        {R"({"type":"event_msg","payload":{"type":"token_usage","session":{"cache_read":0},"request":{}}})",
         R"(message: expected the member "cache_write" with an integer in the object at byte 62 (payload.session))"},
        {R"({"type":"event_msg","payload":{"type":"tool_list_ready","tools":[{"name":"a","description":"d"},{"name":1}]}})",
         "message: expected a string at byte 104 (payload.tools[1].name)"},
        {R"({"type":"event_msg","payload":{"type":"request_begin"},"origin":["a",2]})",
         "message: expected a string at byte 69 (origin)"},
        {R"({"type":"event_msg","payload":{"type":"request_begin"},"origin":"a"})",
         "message: expected an array of strings at byte 64 (origin)"},
        {R"({"type":"session_meta","payload":{"session_id":"","provider":"","model_id":"","model_context_window":1.5,"system_prompt":"","agent_state":"","workspace":""}})",
         "message: expected an integer or a string at byte 101 (payload.model_context_window)"},
    };
    for (const auto& w : all)
        CHECK(error_of(w.line) == w.error);
}

TEST_CASE("the time stamp is required and has one form, unless it is waived") {
    const std::string form = R"(a time of the form "YYYY-MM-DDThh:mm:ss.mmmZ" from 1970 to 2527)";
    const auto with_time = [](std::string_view time) {
        return R"({"timestamp":)" + std::string(time) +
               R"(,"type":"event_msg","payload":{"type":"request_begin"}})";
    };
    CHECK(error_of(event(R"({"type":"request_begin"})"), {}) ==
          "message: expected the member \"timestamp\" with " + form + " in the object at byte 0");
    for (const auto wrong : {"1", "null", "\"\"", "\"2024-06-07T16:29:37Z\"", "\"2024-06-07T16:29:37.12Z\"",
                             "\"1969-12-31T23:59:59.999Z\"", "\"2600-01-01T00:00:00.000Z\""}) {
        CHECK(error_of(with_time(wrong), {}) == "message: expected " + form + " at byte 13 (timestamp)");
    }
    CHECK(error_of(with_time("\"soon\"")) == "message: expected " + form + " at byte 13 (timestamp)");
    CHECK(parse_message(with_time("\"2024-06-07T16:29:37.120Z\""), untimed).value().has_timestamp());
}
