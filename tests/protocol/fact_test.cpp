// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/message.hpp>

#include <string>
#include <string_view>
#include <vector>

using thalweg::kind;
using thalweg::message;
using thalweg::parse_message;
using thalweg::text;

namespace {

constexpr thalweg::parse_options log_line{.require_timestamp = false, .facts = true};

struct sample {
    message m;
    std::string_view json;
};

std::vector<sample> fact_samples() {
    return {
        {message::run_begin(), R"({"type":"fact","payload":{"type":"run_begin"}})"},
        {message::event(thalweg::run_end{thalweg::run_ending::aborted, "enough"}),
         R"({"type":"fact","payload":{"type":"run_end","how":"aborted","reason":"enough"}})"},
        {message::agent_input(R"({"role":"note","text":"x"})"),
         R"({"type":"fact","payload":{"type":"agent_input","message":{"role":"note","text":"x"}}})"},
        {message::user_text("go").as_input(),
         R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"go","stop_reason":"completed"},"input":true})"},
        {message::user_text("see").with_images({"data:a"}).as_input(),
         R"({"type":"model_msg","payload":{"type":"text","role":"user","text":"see","stop_reason":"completed"},"input":true,"images":["data:a"]})"},
        {message::response_begin(), R"({"type":"fact","payload":{"type":"response_begin"}})"},
        {message::call_begin("c1", "read", "{}", "Read a file"),
         R"({"type":"fact","payload":{"type":"call_begin","tool_call_id":"c1","name":"read","arguments":"{}","label":"Read a file"}})"},
        {message::call_begin("c1", "read", "{}"),
         R"({"type":"fact","payload":{"type":"call_begin","tool_call_id":"c1","name":"read","arguments":"{}"}})"},
        {message::body_begin("c1"), R"({"type":"fact","payload":{"type":"body_begin","tool_call_id":"c1"}})"},
        {message::call_progress("c1", "10%", R"({"done":0.1})"),
         R"({"type":"fact","payload":{"type":"call_progress","tool_call_id":"c1","content":"10%"},"details":{"done":0.1}})"},
        {message::call_settled("c1"),
         R"({"type":"fact","payload":{"type":"call_settled","tool_call_id":"c1"}})"},
        {message::batch_settled(), R"({"type":"fact","payload":{"type":"batch_settled"}})"},
    };
}

// Public messages that know more than the wire says.
std::vector<sample> public_samples() {
    thalweg::request_end end{thalweg::stop_reason::completed, {}, {}, {}};
    end.why = thalweg::finish::length;
    end.max_attempts = 5;
    thalweg::request_end thrown{thalweg::stop_reason::failed, text("gone"), 1, {}};
    thrown.is_outside = true;
    return {
        {message::event(end),
         R"({"type":"event_msg","payload":{"type":"request_end","status":"completed","finish":"length","max_attempts":5}})"},
        {message::event(thrown),
         R"({"type":"event_msg","payload":{"type":"request_end","status":"failed","error_message":"gone","attempt":1,"finish":"end","outside":true}})"},
        {message::tool_call_output("4", "c1").with_details("[1]"),
         R"({"type":"model_msg","payload":{"type":"tool_call_output","role":"user","output":"4","tool_call_id":"c1","stop_reason":"completed"},"details":[1]})"},
        {message::partial_tool_call_output(thalweg::frame::delta, "c1", "4").as_closing(),
         R"({"type":"model_msg","payload":{"type":"partial_tool_call_output","role":"user","event_type":"delta","output":"4","tool_call_id":"c1","stop_reason":"completed"},"closing":true})"},
        {message::request_begin().trace_only(),
         R"({"type":"event_msg","payload":{"type":"request_begin"},"trace_only":true})"},
    };
}

std::string log_form(const message& m) {
    std::string out;
    thalweg::append_fact_json(out, m);
    return out;
}

} // namespace

TEST_CASE("a fact is no event, is not recorded and has no wire form") {
    for (const sample& s : fact_samples()) {
        INFO(s.json);
        CHECK(s.m.is_fact());
        CHECK_FALSE(s.m.is_event());
        CHECK_FALSE(s.m.is_partial());
        CHECK_FALSE(s.m.is_recordable());
        CHECK(to_json(s.m).empty());
    }
    for (const sample& s : public_samples())
        CHECK_FALSE(s.m.is_fact());
}

TEST_CASE("a fact log is written and read back without loss") {
    auto all = fact_samples();
    for (sample& s : public_samples())
        all.push_back(std::move(s));
    for (const sample& s : all) {
        CHECK(log_form(s.m) == s.json);
        const auto read = parse_message(s.json, log_line);
        INFO(s.json);
        if (!read) FAIL(read.error().message());
        CHECK(log_form(read.value()) == s.json);
        CHECK(read.value().kind() == s.m.kind());
        CHECK(read.value().is_fact() == s.m.is_fact());
        CHECK(read.value().is_input() == s.m.is_input());
        CHECK(read.value().is_closing() == s.m.is_closing());
        CHECK(read.value().is_trace_only() == s.m.is_trace_only());
        CHECK(read.value().label() == s.m.label());
        CHECK(read.value().details_json() == s.m.details_json());
    }
}

TEST_CASE("what is fact about a public message is not on the wire") {
    for (const sample& s : public_samples()) {
        const std::string wire = to_json(s.m);
        for (const std::string_view word :
             {"finish", "max_attempts", "outside", "details", "closing", "trace_only"})
            CHECK(wire.find(word) == std::string::npos);
    }
}

TEST_CASE("a wire reader refuses a fact") {
    const auto read = parse_message(R"({"type":"fact","payload":{"type":"run_begin"}})",
                                    {.require_timestamp = false});
    REQUIRE_FALSE(read);
    CHECK(read.error().message().find("(type)") != std::string::npos);
}

TEST_CASE("a broken line of a fact log is refused with its place") {
    struct broken {
        std::string_view line;
        std::string_view place;
    };
    const std::vector<broken> all = {
        {R"({"type":"fact","payload":{"type":"request_end"}})", "(payload.type)"},
        {R"({"type":"fact","payload":{"type":""}})", "(payload.type)"},
        {R"({"type":"fact","payload":{"type":"run_end","how":"tired","reason":""}})", "(payload.how)"},
        {R"({"type":"fact","payload":{"type":"run_end","how":"failed"}})", "\"reason\""},
        {R"({"type":"fact","payload":{"type":"agent_input","message":"x"}})", "(payload.message)"},
        {R"({"type":"fact","payload":{"type":"body_begin","tool_call_id":7}})", "(payload.tool_call_id)"},
        {R"({"type":"fact","payload":{"type":"batch_settled"},"input":1})", "(input)"},
        {R"({"type":"event_msg","payload":{"type":"request_end","status":"completed","finish":"x"}})",
         "(payload.finish)"},
    };
    for (const broken& each : all) {
        INFO(each.line);
        const auto read = parse_message(each.line, log_line);
        REQUIRE_FALSE(read);
        INFO(read.error().message());
        CHECK(read.error().message().find(each.place) != std::string::npos);
    }
}

TEST_CASE("a copy that is made an input leaves the message as it was") {
    const message shown = message::user_text("steer");
    const message fact = message(shown).as_input();
    CHECK(fact.is_fact());
    CHECK_FALSE(shown.is_fact());
    CHECK(message::user_text("x").with_details("null").details_json().empty());
}
