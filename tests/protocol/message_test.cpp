// SPDX-License-Identifier: BSL-1.0

#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/message.hpp>

#include <type_traits>
#include <vector>

using thalweg::frame;
using thalweg::kind;
using thalweg::message;
using thalweg::role;
using thalweg::stop_reason;
using thalweg::text;
using thalweg::testing::allocations_of;

static_assert(sizeof(message) == 64);
static_assert(!std::is_aggregate_v<message>);
static_assert(std::is_nothrow_move_constructible_v<message> && std::is_nothrow_move_assignable_v<message>);
static_assert(std::is_nothrow_copy_constructible_v<message>);

namespace {

const std::string long_text = "longer than what fits inside a text object";

} // namespace

TEST_CASE("a short delta is made, copied and moved without an allocation") {
    const auto count = allocations_of([] {
        message made = message::partial_text(frame::delta, "22 bytes of text here.");
        message copy = made;
        message moved = std::move(made);
        copy = moved;
        moved = std::move(copy);
        moved.stamp(1);
        message output = message::partial_tool_call_output(frame::delta, "call_1", "short");
        if (moved.content() != "22 bytes of text here." || output.content() != "short")
            throw std::runtime_error("changed");
    });
    CHECK(count == 0);
}

TEST_CASE("a default message is an empty user text without time stamp") {
    const message empty;
    CHECK(empty.kind() == kind::text);
    CHECK(empty.role() == role::user);
    CHECK(empty.stop() == stop_reason::completed);
    CHECK(empty.content().empty());
    CHECK_FALSE(empty.has_timestamp());
    CHECK(empty.timestamp() == 0);
}

TEST_CASE("factories set kind, role, content and identity") {
    CHECK(message::user_text("a").role() == role::user);
    CHECK(message::assistant_text("a").role() == role::assistant);
    CHECK(message::thinking("deep").content() == "deep");
    const message call = message::tool_call("weather", "{}", "c1");
    CHECK(call.name() == "weather");
    CHECK(call.content() == "{}");
    CHECK(call.tool_call_id() == "c1");
    CHECK(call.provider_id() == "c1");
    const message output = message::tool_call_output("sun", "c1");
    CHECK(output.role() == role::user);
    CHECK(output.tool_call_id() == "c1");
    CHECK(message::inline_data(role::user, "QUJD", "image/png").mime_type() == "image/png");
    CHECK(message::partial_tool_call(frame::start, "c1", "weather").name() == "weather");
    CHECK(message::partial_tool_call(frame::delta, "c1", {}, "{\"a").content() == "{\"a");
    CHECK(message::approval_decision(thalweg::decision::forbidden, "c1").decision() ==
          thalweg::decision::forbidden);
}

TEST_CASE("classes of messages are told apart") {
    struct expectation {
        message m;
        bool partial, complete, event, recordable;
    };
    const std::vector<expectation> all = {
        {message::user_text("a"), false, true, false, true},
        {message::partial_text(frame::start), true, false, false, false},
        {message::partial_tool_call_output(frame::stop, "c"), true, false, false, false},
        {message::request_begin(), false, false, true, true},
        {message::event(thalweg::notice{"code", "body"}), false, false, true, true},
        {message::session_meta({}), false, false, false, true},
        {message::user_text("a").with_origin_prefix("child"), false, true, false, false},
        {message::request_begin().with_origin_prefix("child"), false, false, true, false},
    };
    for (const auto& e : all) {
        INFO(to_json(e.m));
        CHECK(e.m.is_partial() == e.partial);
        CHECK(e.m.is_complete() == e.complete);
        CHECK(e.m.is_event() == e.event);
        CHECK(e.m.is_recordable() == e.recordable);
    }
}

TEST_CASE("an event gives the payload it was made of and no other") {
    const message end = message::event(thalweg::request_end{stop_reason::failed, text("boom"), 2, 4000});
    REQUIRE(end.event_if<thalweg::request_end>() != nullptr);
    CHECK(end.event_if<thalweg::request_end>()->error_message == text("boom"));
    CHECK(end.event_if<thalweg::token_usage>() == nullptr);
    CHECK(message::request_begin().event_if<thalweg::request_end>() == nullptr);
    thalweg::session_meta meta;
    meta.session_id = "s1";
    const message first = message::event(meta);
    CHECK(first.kind() == kind::session_meta);
    CHECK(first.event_if<thalweg::session_meta>()->session_id == "s1");
}

TEST_CASE("changing a copy leaves the other copies alone") {
    const message first = message::tool_call("weather", "{}", "c1").with_fidelity(R"({"signature":"x"})");
    message second = first;
    message third = message(first).with_origin_prefix("child").with_provider_id("raw-id");
    second = std::move(second).with_fidelity("{ }").with_stop(stop_reason::aborted);
    CHECK(first.fidelity() == R"({"signature":"x"})");
    CHECK(first.stop() == stop_reason::completed);
    CHECK(first.origin().empty());
    CHECK(second.fidelity().empty());
    CHECK(second.name() == "weather");
    CHECK(third.provider_id() == "raw-id");
    CHECK(third.origin().size() == 1);
    CHECK(first.provider_id() == "c1");
}

TEST_CASE("a call takes the session's id and keeps the provider's where it is told to") {
    const message made = message::tool_call("weather", "{}", "call_0");
    const message renamed = message(made)
                                .with_provider_id("call_0")
                                .with_tool_call_id("call_0#2")
                                .with_provider_id("call_0");
    CHECK(renamed.tool_call_id() == "call_0#2");
    CHECK(renamed.provider_id() == "call_0");
    CHECK(message(made).with_tool_call_id("c9").provider_id() == "c9");
    CHECK(made.tool_call_id() == "call_0");
}

TEST_CASE("a hop is put in front of the origin that is there") {
    const message m = message::user_text("a").with_origin_prefix("inner").with_origin_prefix("outer");
    REQUIRE(m.origin().size() == 2);
    CHECK(m.origin()[0] == "outer");
    CHECK(m.origin()[1] == "inner");
}

TEST_CASE("images and long content travel with every copy") {
    const message m = message::tool_call_output(long_text, "c1")
                          .with_images({"data:image/png;base64,QUJD", long_text});
    message moved(message{m});
    REQUIRE(moved.images().size() == 2);
    CHECK(moved.images()[1] == long_text);
    CHECK(moved.content() == long_text);
    CHECK(m.content() == long_text);
}

TEST_CASE("assignment of a message to itself changes nothing") {
    message m = message::tool_call("weather", long_text, "c1");
    message& same = m;
    m = same;
    m = std::move(same);
    CHECK(m.name() == "weather");
    CHECK(m.content() == long_text);
}

TEST_CASE("time stamps are cut to what the wire form can say") {
    message m;
    m.stamp(0);
    CHECK(m.has_timestamp());
    CHECK(m.timestamp() == 0);
    m.stamp(-5);
    CHECK(m.timestamp() == 0);
    m.stamp(1717777777123);
    CHECK(m.timestamp() == 1717777777123);
    m.stamp(std::int64_t(1) << 60);
    CHECK(m.timestamp() == (std::int64_t(1) << 44) - 2);
    CHECK(thalweg::parse_message(to_json(m)).value().timestamp() == m.timestamp());
}

TEST_CASE("token counts add up member by member") {
    thalweg::token_counts sum{1, 2, 3, 4};
    sum += {10, 20, 30, 40};
    CHECK(sum == thalweg::token_counts{11, 22, 33, 44});
}

TEST_CASE("words of the protocol have their wire names") {
    CHECK(to_string(kind::partial_tool_call_output) == "partial_tool_call_output");
    CHECK(to_string(kind::other_event).empty());
    CHECK(to_string(role::assistant) == "assistant");
    CHECK(to_string(stop_reason::malformed) == "malformed");
    CHECK(to_string(stop_reason::none).empty());
    CHECK(to_string(frame::stop) == "stop");
    CHECK(to_string(thalweg::decision::deny) == "deny");
}
