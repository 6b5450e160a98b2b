// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/segments.hpp>

#include <vector>

using thalweg::frame;
using thalweg::kind;
using thalweg::message;
using thalweg::segment;
using thalweg::segment_aggregator;
using thalweg::stop_reason;

namespace {

std::vector<segment> aggregate(const std::vector<message>& stream) {
    segment_aggregator aggregator;
    std::vector<segment> ended;
    for (const message& m : stream) {
        if (auto s = aggregator.feed(m)) ended.push_back(std::move(*s));
    }
    for (auto& s : aggregator.finish())
        ended.push_back(std::move(s));
    CHECK(aggregator.open().empty());
    return ended;
}

message in_child(message m) {
    return std::move(m).with_origin_prefix("child");
}

} // namespace

TEST_CASE("interleaved segments come out whole, in the order in which they end") {
    const auto segments = aggregate({
        message::partial_tool_call_output(frame::start, "a"),
        message::partial_tool_call_output(frame::start, "b"),
        message::partial_tool_call_output(frame::delta, "a", "one "),
        message::partial_tool_call_output(frame::delta, "b", "two"),
        message::partial_tool_call_output(frame::stop, "b"),
        message::tool_call_output("two", "b"),
        message::partial_tool_call_output(frame::delta, "a", "three"),
        message::partial_tool_call_output(frame::stop, "a").with_stop(stop_reason::failed),
        message::tool_call_output("one three", "a").with_stop(stop_reason::failed),
    });
    REQUIRE(segments.size() == 2);
    CHECK(segments[0].tool_call_id() == "b");
    CHECK(segments[0].content() == "two");
    CHECK(segments[0].stop() == stop_reason::completed);
    CHECK(segments[1].kind() == kind::tool_call_output);
    CHECK(segments[1].content() == "one three");
    CHECK(segments[1].stop() == stop_reason::failed);
}

TEST_CASE("identity is origin, kind and call") {
    const auto segments = aggregate({
        message::partial_text(frame::start),
        message::partial_thinking(frame::start),
        in_child(message::partial_text(frame::start)),
        message::partial_text(frame::delta, "own"),
        in_child(message::partial_text(frame::delta, "child's")),
        message::partial_thinking(frame::delta, "thought"),
        in_child(message::partial_text(frame::stop)),
        message::partial_thinking(frame::stop),
        message::partial_text(frame::stop),
    });
    REQUIRE(segments.size() == 3);
    CHECK(segments[0].content() == "child's");
    CHECK(segments[0].origin().size() == 1);
    CHECK(segments[1].content() == "thought");
    CHECK(segments[1].kind() == kind::thinking);
    CHECK(segments[2].content() == "own");
}

TEST_CASE("a call keeps the name of its start frame") {
    const auto segments = aggregate({
        message::partial_tool_call(frame::start, "c", "weather"),
        message::partial_tool_call(frame::delta, "c", {}, "{}"),
        message::partial_tool_call(frame::stop, "c"),
    });
    REQUIRE(segments.size() == 1);
    CHECK(segments[0].name() == "weather");
    CHECK(segments[0].content() == "{}");
}

TEST_CASE("a second start of the same identity ends the open segment") {
    const auto segments = aggregate({
        message::partial_text(frame::start),
        message::partial_text(frame::delta, "first"),
        message::partial_text(frame::start),
        message::partial_text(frame::delta, "second"),
    });
    REQUIRE(segments.size() == 2);
    CHECK(segments[0].content() == "first");
    CHECK(segments[1].content() == "second");
}

TEST_CASE("a delta or a stop without start opens a segment") {
    const auto segments = aggregate({
        message::partial_text(frame::delta, "from the middle"),
        message::partial_text(frame::stop),
        message::partial_text(frame::stop).with_stop(stop_reason::aborted),
    });
    REQUIRE(segments.size() == 2);
    CHECK(segments[0].content() == "from the middle");
    CHECK(segments[1].content().empty());
    CHECK(segments[1].stop() == stop_reason::aborted);
}

TEST_CASE("later images replace earlier ones and the last stop reason counts") {
    const auto segments = aggregate({
        message::partial_tool_call_output(frame::start, "a"),
        message::partial_tool_call_output(frame::delta, "a").with_images({"data:1"}),
        message::partial_tool_call_output(frame::delta, "a").with_images({"data:2", "data:3"}),
        message::partial_tool_call_output(frame::delta, "a", "x").with_stop(stop_reason::timeout),
        message::partial_tool_call_output(frame::stop, "a").with_stop(stop_reason::none),
    });
    REQUIRE(segments.size() == 1);
    REQUIRE(segments[0].images().size() == 2);
    CHECK(segments[0].images()[0] == "data:2");
    CHECK(segments[0].stop() == stop_reason::timeout);
}

TEST_CASE("open segments can be looked at in the order in which they began") {
    segment_aggregator aggregator;
    aggregator.feed(message::partial_tool_call_output(frame::start, "b"));
    aggregator.feed(message::partial_tool_call_output(frame::start, "a"));
    aggregator.feed(message::partial_tool_call_output(frame::delta, "b", "so far"));
    aggregator.feed(message::request_begin());
    REQUIRE(aggregator.open().size() == 2);
    CHECK(aggregator.open()[0].content() == "so far");
    CHECK(aggregator.open()[1].tool_call_id() == "a");
}
