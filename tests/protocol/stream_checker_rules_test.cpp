// SPDX-License-Identifier: BSL-1.0

// Broken streams: the checker must name the broken rule of each.

#include "protocol/streams.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/stream_checker.hpp>

#include <algorithm>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using rule = stream_checker::rule;

namespace {

struct broken_stream {
    std::string_view what;
    stream_of_messages stream;
};

void check_named(rule broken, const std::vector<broken_stream>& streams) {
    REQUIRE(streams.size() >= 3);
    for (const auto& [what, stream] : streams) {
        stream_checker checker;
        for (const message& m : stream)
            checker.feed(m);
        checker.finish();
        INFO(what << ", found:\n" << checker.report());
        const auto found = checker.violations();
        CHECK(std::any_of(found.begin(), found.end(), [broken](const auto& v) { return v.rule == broken; }));
    }
}

message text_frame(frame f, text piece = {}) {
    return message::partial_text(f, std::move(piece));
}

message output_frame(frame f, text id, text piece = {}) {
    return message::partial_tool_call_output(f, std::move(id), std::move(piece));
}

const message denied = message::approval_decision(decision::deny, "a");
const message refusal = message::tool_call_output("Tool call denied by user.", "a")
                            .with_stop(stop_reason::aborted);
const message placeholder = message::tool_call_output("[interrupted: tool aborted by user]", "a")
                                .with_stop(stop_reason::aborted);

// A call that was cut: frames and complete message both say aborted.
stream_of_messages cut_call(text id) {
    auto made = framed_call(std::move(id));
    made[2] = std::move(made[2]).with_stop(stop_reason::aborted);
    made[3] = std::move(made[3]).with_stop(stop_reason::aborted);
    return made;
}

} // namespace

TEST_CASE("the checker names broken framing") {
    check_named(
        rule::framing,
        {
            {"a delta without start", request(text_frame(frame::delta, "x"), framed_text({"y"}))},
            {"a stop without start", request(text_frame(frame::stop), message::assistant_text(""))},
            {"a second start", request(text_frame(frame::start), framed_text({"x"}))},
            {"no stop before the complete message",
             request(text_frame(frame::start), text_frame(frame::delta, "x"), message::assistant_text("x"))},
            {"no complete message",
             request(text_frame(frame::start), text_frame(frame::delta, "x"), text_frame(frame::stop))},
            {"another complete message follows",
             request(text_frame(frame::start), text_frame(frame::delta, "x"), text_frame(frame::stop),
                     message::thinking("x"))},
            {"another segment of the driver inside a segment",
             request(text_frame(frame::start), message::partial_thinking(frame::delta, "x"),
                     text_frame(frame::stop))},
            {"another call inside a call",
             request(message::partial_tool_call(frame::start, "a", "t"), framed_call("b"))},
            {"a segment is open when the request ends",
             join(message::request_begin(), text_frame(frame::start), ended(stop_reason::failed), aborted())},
            {"an output is open when the run ends",
             join(request(allowed_call("a"), output_frame(frame::start, "a")), aborted())},
            {"an output's delta is another call's",
             request(allowed_call("a"), allowed_call("b"), output_frame(frame::delta, "a", "x"))},
            {"an output lacks its complete message",
             join(request(allowed_call("a"), output_frame(frame::start, "a"),
                          output_frame(frame::delta, "a", "x"), output_frame(frame::stop, "a")))},
            {"token_usage inside a segment",
             request(text_frame(frame::start), text_frame(frame::delta, "x"))},
        });
}

TEST_CASE("the checker names a complete message that is not its deltas") {
    auto other_images = framed_output("a");
    other_images.insert(other_images.begin() + 2, output_frame(frame::delta, "a").with_images({"data:1"}));
    other_images.back() = std::move(other_images.back()).with_images({"data:2"});
    auto lost_images = framed_output("a");
    lost_images.back() = std::move(lost_images.back()).with_images({"data:1"});
    auto other_stop = framed_output("a");
    other_stop.back() = std::move(other_stop.back()).with_stop(stop_reason::failed);
    check_named(
        rule::concatenation,
        {
            {"a delta is lost", request(text_frame(frame::start), text_frame(frame::delta, "x"),
                                        text_frame(frame::stop), message::assistant_text("xy"))},
            {"a delta is doubled",
             request(text_frame(frame::start), text_frame(frame::delta, "x"), text_frame(frame::delta, "x"),
                     text_frame(frame::stop), message::assistant_text("x"))},
            {"deltas are swapped",
             request(text_frame(frame::start), text_frame(frame::delta, "y"), text_frame(frame::delta, "x"),
                     text_frame(frame::stop), message::assistant_text("xy"))},
            {"arguments differ",
             request(message::partial_tool_call(frame::start, "a", "tool"),
                     message::partial_tool_call(frame::stop, "a"), message::tool_call("tool", "{}", "a"),
                     allow("a"), framed_output("a"))},
            {"the tool's name differs",
             request(message::partial_tool_call(frame::start, "a", "one"),
                     message::partial_tool_call(frame::delta, "a", {}, "{}"),
                     message::partial_tool_call(frame::stop, "a"), message::tool_call("two", "{}", "a"),
                     allow("a"), framed_output("a"))},
            {"images differ", join(request(allowed_call("a")), other_images)},
            {"images come only with the complete message", join(request(allowed_call("a")), lost_images)},
            {"the stop reason differs", join(request(allowed_call("a")), other_stop)},
        });
}

TEST_CASE("the checker names content where a frame must be empty") {
    auto named_delta = allowed_call("a");
    named_delta[1] = message::partial_tool_call(frame::delta, "a", "tool", "{}");
    auto named_stop = allowed_call("a");
    named_stop[2] = message::partial_tool_call(frame::stop, "a", "tool");
    auto nameless = allowed_call("a");
    nameless[0] = message::partial_tool_call(frame::start, "a");
    check_named(rule::frame_content,
                {
                    {"a start with content", request(text_frame(frame::start, "x"), text_frame(frame::stop),
                                                     message::assistant_text("x"))},
                    {"a stop with content", request(text_frame(frame::start), text_frame(frame::stop, "x"),
                                                    message::assistant_text("x"))},
                    {"a start with images",
                     request(allowed_call("a"), output_frame(frame::start, "a").with_images({"data:1"}))},
                    {"a name on a delta", request(named_delta, framed_output("a"))},
                    {"a name on a stop", request(named_stop, framed_output("a"))},
                    {"no name on the start", request(nameless, framed_output("a"))},
                });
}

TEST_CASE("the checker names images in the wrong place") {
    const message images = output_frame(frame::delta, "a").with_images({"data:1"});
    const message complete = message::tool_call_output("x", "a").with_images({"data:1"});
    const auto turn = [&](const auto&... frames) {
        return join(request(allowed_call("a")), output_frame(frame::start, "a"), frames...,
                    output_frame(frame::stop, "a"), complete);
    };
    check_named(rule::images,
                {
                    {"images and text in one delta",
                     turn(output_frame(frame::delta, "a", "x").with_images({"data:1"}))},
                    {"text behind the images", turn(images, output_frame(frame::delta, "a", "x"))},
                    {"images in two deltas", turn(output_frame(frame::delta, "a", "x"), images, images)},
                });
}

TEST_CASE("the checker names deltas without content") {
    check_named(
        rule::empty_delta,
        {
            {"an empty text delta", request(text_frame(frame::start), text_frame(frame::delta),
                                            text_frame(frame::stop), message::assistant_text(""))},
            {"an empty arguments delta", request(message::partial_tool_call(frame::start, "a", "tool"),
                                                 message::partial_tool_call(frame::delta, "a"))},
            {"an empty output delta",
             request(allowed_call("a"), output_frame(frame::start, "a"), output_frame(frame::delta, "a"))},
            {"an empty thinking delta",
             request(message::partial_thinking(frame::start), message::partial_thinking(frame::delta))},
        });
}

TEST_CASE("the checker names decisions in the wrong place") {
    check_named(
        rule::approval,
        {
            {"a decision before its call", request(allow("a"), framed_call("a"), framed_output("a"))},
            {"a decision without call", request(allow("a"))},
            {"a second decision", request(allowed_call("a"), allow("a"), framed_output("a"))},
            {"output before the decision", request(framed_call("a"), framed_output("a"), allow("a"))},
            {"a complete output before the decision",
             request(framed_call("a"), message::tool_call_output("x", "a"), allow("a"))},
            {"the model goes on before the decision",
             request(framed_call("a"), framed_text({"x"}), allow("a"), framed_output("a"))},
            {"decisions out of order", request(framed_call("a"), framed_call("b"), allow("b"), allow("a"),
                                               framed_output("a"), framed_output("b"))},
            {"a decision about a call that is closure only",
             join(message::request_begin(), cut_call("a"), allow("a"), ended(stop_reason::aborted),
                  aborted())},
            {"no decision in a run that goes on", join(request(framed_call("a")), placeholder, request())},
            {"no decision in a run that is not interrupted", join(request(framed_call("a")), placeholder)},
            {"a decision behind the placeholder",
             join(request(framed_call("a")), placeholder, allow("a"), aborted())},
            {"a placeholder before request_end",
             join(message::request_begin(), framed_call("a"), placeholder, tail(), aborted())},
            {"a framed placeholder without decision",
             join(request(framed_call("a")), output_frame(frame::start, "a"),
                  output_frame(frame::stop, "a").with_stop(stop_reason::aborted), placeholder, aborted())},
        });
}

TEST_CASE("the checker names refused calls that are not answered as refused") {
    check_named(
        rule::denial,
        {
            {"a refused call has frames", request(framed_call("a"), denied, framed_output("a"))},
            {"the refusal is not aborted",
             request(framed_call("a"), denied, message::tool_call_output("x", "a"))},
            {"the refusal comes late", request(framed_call("a"), denied, framed_text({"x"}), refusal)},
            {"the refusal comes behind request_end", join(request(framed_call("a"), denied), refusal)},
            {"a forbidden call runs",
             request(framed_call("a"), message::approval_decision(decision::forbidden, "a"),
                     output_frame(frame::start, "a"))},
        });
}

TEST_CASE("the checker names calls and outputs that do not pair") {
    check_named(rule::pairing, {
                                   {"no output", request(allowed_call("a"))},
                                   {"no output and no decision", request(framed_call("a"))},
                                   {"no output of a committed call in an interrupted run",
                                    join(request(allowed_call("a")), aborted())},
                                   {"no placeholder of a committed call without decision",
                                    join(request(framed_call("a")), aborted())},
                                   {"two outputs", join(request(allowed_call("a"), framed_output("a")),
                                                        message::tool_call_output("x", "a"))},
                                   {"frames behind the complete output",
                                    join(request(allowed_call("a"), framed_output("a")), framed_output("a"))},
                                   {"an output for no call", request(framed_output("a"))},
                                   {"an output for a call of an earlier turn",
                                    join(request(allowed_call("a"), framed_output("a")), request(),
                                         message::tool_call_output("x", "a"))},
                                   {"an output for a call that is closure only",
                                    join(message::request_begin(), cut_call("a"), ended(stop_reason::aborted),
                                         placeholder, aborted())},
                                   {"an id used twice", join(request(allowed_call("a"), framed_output("a")),
                                                             request(allowed_call("a"), framed_output("a")))},
                               });
}

TEST_CASE("the checker names what stands in a tail") {
    check_named(rule::tail,
                {
                    {"text between", join(message::request_begin(), usage(), framed_text({"x"}), ended())},
                    {"a tool's frame between",
                     join(message::request_begin(), allowed_call("a"), output_frame(frame::start, "a"),
                          usage(), output_frame(frame::delta, "a", "x"), ended(),
                          output_frame(frame::stop, "a"), message::tool_call_output("x", "a"))},
                    {"an event between",
                     join(message::request_begin(), usage(), message::event(notice{"a", "b"}), ended())},
                    {"a child's message between",
                     join(message::request_begin(), usage(), in_child({meta()}), ended())},
                    {"the run ends between", join(message::request_begin(), usage())},
                    {"a grandchild's message in the child's tail",
                     join(in_child({meta(), message::request_begin(), usage()}),
                          in_child(in_child({meta("grandchild")}, "grandchild")), in_child({ended()}))},
                });
}

TEST_CASE("the checker names wrong counts of token_usage") {
    check_named(rule::usage,
                {
                    {"none in a completed request", join(message::request_begin(), ended())},
                    {"two in one request", join(message::request_begin(), usage(), usage(), ended())},
                    {"one in a failed request",
                     join(message::request_begin(), usage(), ended(stop_reason::failed), aborted())},
                    {"one in an aborted request",
                     join(message::request_begin(), usage(), ended(stop_reason::aborted), aborted())},
                    {"one outside of a request", join(request(), usage())},
                    {"one before any request", join(usage(), request())},
                });
}

TEST_CASE("the checker names requests that do not pair and model messages outside of them") {
    auto completed_notice = framed_text({"[reached max turns (1); stopping]"});
    auto half_completed_notice = limit_notice();
    half_completed_notice[2] = text_frame(frame::stop);
    check_named(rule::request,
                {
                    {"request_begin twice", join(message::request_begin(), request())},
                    {"request_end without begin", join(ended())},
                    {"request_end twice", join(request(), ended())},
                    {"the run ends inside a request", join(message::request_begin(), framed_text({"x"}))},
                    {"abort inside a request", join(message::request_begin(), aborted())},
                    {"a text outside of a request", join(request(), message::assistant_text("x"))},
                    {"thinking outside of a request",
                     join(request(), message::partial_thinking(frame::start),
                          message::partial_thinking(frame::stop), message::thinking(""))},
                    {"a call outside of a request", join(request(), allowed_call("a"))},
                    {"a notice at the limit whose stop is completed", join(request(), half_completed_notice)},
                    {"a notice at the limit that is completed", join(request(), completed_notice)},
                    {"a notice at the limit without frames",
                     join(request(), message::assistant_text("x").with_stop(stop_reason::failed))},
                });
}

TEST_CASE("the checker names what comes before the outputs of a turn are complete") {
    check_named(
        rule::turn_boundary,
        {
            {"the next request", join(request(allowed_call("a")), request(framed_output("a")))},
            {"the next request, an output is open",
             join(request(allowed_call("a"), output_frame(frame::start, "a")), request())},
            {"the retry of a failed request",
             join(message::request_begin(), allowed_call("a"), ended(stop_reason::failed), request())},
            {"a compaction",
             join(request(allowed_call("a")), begin_compaction(), end_compaction(), framed_output("a"))},
            {"user input", join(request(allowed_call("a")), message::user_text("x"), framed_output("a"))},
            {"user input inside the request", request(message::user_text("x"))},
            {"an image inside the request", request(message::image_url("data:1"))},
            {"the notice at the limit", join(request(allowed_call("a")), limit_notice())},
        });
}

TEST_CASE("the checker names what a compaction must not show") {
    const auto compaction = [](const auto&... parts) {
        return join(request(), begin_compaction(), parts..., end_compaction());
    };
    check_named(rule::compaction,
                {
                    {"compaction_end without begin", join(request(), end_compaction())},
                    {"compaction_begin twice", compaction(begin_compaction())},
                    {"the run ends during it", join(request(), begin_compaction())},
                    {"abort during it", join(request(), begin_compaction(), aborted())},
                    {"it begins inside a request",
                     join(message::request_begin(), begin_compaction(), end_compaction(), tail())},
                    {"its request events", compaction(message::request_begin(), tail())},
                    {"thinking", compaction(message::partial_thinking(frame::start),
                                            message::partial_thinking(frame::stop))},
                    {"a call", compaction(message::tool_call("tool", "{}", "a"))},
                    {"user input", compaction(message::user_text("x"))},
                    {"the summary framed and complete", compaction(framed_text({"x"}))},
                });
}

TEST_CASE("the checker names what stands behind the end, and a missing end") {
    check_named(
        rule::end,
        {
            {"a request behind abort", join(aborted(), request())},
            {"abort twice", join(request(), aborted(), aborted())},
            {"a late output", join(request(allowed_call("a")), message::tool_call_output("x", "a"), aborted(),
                                   output_frame(frame::delta, "a", "x"))},
            {"an event behind abort", join(request(), aborted(), message::event(trace_fault{"p", "e", 1}))},
            {"a child's message behind abort",
             join(in_child({meta()}), aborted(), in_child({message::request_begin()}))},
            {"a request behind the notice at the limit", join(request(), limit_notice(), request())},
            {"abort behind the notice at the limit", join(request(), limit_notice(), aborted())},
            {"a failed request without abort", join(message::request_begin(), ended(stop_reason::failed))},
            {"an aborted request without abort", join(message::request_begin(), ended(stop_reason::aborted))},
        });
}

TEST_CASE("the checker names a wrong head") {
    check_named(rule::head, {
                                {"session_meta on one's own stream", join(meta(), request())},
                                {"session_meta in the middle", join(request(), meta())},
                                {"a child without session_meta", join(request(), in_child(request()))},
                                {"session_meta of a child that comes late",
                                 in_child(join(message::user_text("x"), meta(), request()))},
                                {"session_meta of a child twice", in_child(join(meta(), meta(), request()))},
                                {"a grandchild without session_meta",
                                 in_child(join(meta(), in_child(request(), "grandchild")))},
                            });
}

TEST_CASE("the checker names events that belong to the trace only") {
    const message pointer = message::event(subagent{"s2"});
    check_named(rule::trace_only, {
                                      {"inside a request", request(pointer)},
                                      {"outside of a request", join(request(), pointer)},
                                      {"in a child's stream", in_child(join(meta(), pointer, request()))},
                                  });
}
