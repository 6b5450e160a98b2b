// SPDX-License-Identifier: BSL-1.0

#include "protocol/streams.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/stream_checker.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using rule = stream_checker::rule;

namespace {

void check_good(std::string_view what, const stream_of_messages& stream) {
    stream_checker checker;
    for (const message& m : stream)
        checker.feed(m);
    checker.finish();
    INFO(what);
    CHECK(checker.report().empty());
    CHECK(checker.ok());
}

std::string report_of(const stream_of_messages& stream) {
    stream_checker checker;
    for (const message& m : stream)
        checker.feed(m);
    checker.finish();
    return checker.report();
}

// The streams of one scenario file, one for each of its runs.
std::vector<stream_of_messages> streams_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    const auto scenario = json::parse(content);
    REQUIRE(scenario);
    std::vector<stream_of_messages> streams;
    for (const auto run : scenario.value().find("expect")->find("runs")->elements()) {
        const auto recorded = run.find("stream");
        if (!recorded) continue;
        streams.emplace_back();
        for (const auto m : recorded->elements()) {
            streams.back().push_back(parse_message(m.raw(), {.require_timestamp = false}).value());
        }
    }
    return streams;
}

std::vector<std::filesystem::path> scenario_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(THALWEG_CONFORMANCE_DATA "/omni")) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

// Messages whose loss breaks a promise wherever they stand. What a compaction forwards may be any part of
// what happened, and a child's stream may begin and end anywhere.
bool is_load_bearing(const message& m, bool in_compaction) {
    if (!m.origin().empty()) return false;
    switch (m.kind()) {
    case kind::partial_text: return !in_compaction || m.frame() != frame::delta;
    case kind::token_usage: return !in_compaction;
    case kind::partial_thinking:
    case kind::partial_tool_call:
    case kind::partial_tool_call_output:
    case kind::tool_call:
    case kind::request_begin:
    case kind::request_end:
    case kind::compaction_begin:
    case kind::compaction_end: return true;
    default: return false;
    }
}

} // namespace

TEST_CASE("streams that keep every promise pass") {
    const message denied = message::approval_decision(decision::deny, "a");
    const message refusal = message::tool_call_output("Tool call denied by user.", "a")
                                .with_stop(stop_reason::aborted);
    check_good("nothing at all", {});
    check_good("an empty answer", request());
    check_good("text", request(framed_text({"a", "b"})));
    check_good("complete messages without frames",
               request(message::thinking("x"), message::assistant_text("y")));
    check_good("unknown messages", request(parse_message(R"({"type":"model_msg","payload":{"type":"new"}})",
                                                         {.require_timestamp = false})
                                               .value()));
    check_good("output during the request",
               request(allowed_call("a"), framed_output("a"), framed_text({"x"})));
    check_good("late output", join(request(allowed_call("a"), allowed_call("b")), framed_output("b"),
                                   framed_output("a"), request()));
    check_good("a refused call", join(request(framed_call("a"), denied, refusal), request()));
    check_good("input between turns",
               join(message::user_text("notice"), request(), message::user_text("steering"),
                    message::image_url("data:1"), request()));
    check_good("a retry", join(message::request_begin(), ended(stop_reason::failed), request()));
    check_good("an interrupt before the first request", {aborted()});
    check_good("the turn limit", join(request(), limit_notice(), message::event(trace_fault{"p", "e", 1})));
    check_good("a compaction on request", {begin_compaction(), usage(), end_compaction()});
    check_good("a compaction that forwards a complete summary",
               {begin_compaction(), message::assistant_text("x"), usage(), end_compaction()});
    check_good("a child", join(request(allowed_call("a")),
                               in_child(join(meta(), message::user_text("do").with_sender("parent_agent"),
                                             request(framed_text({"x"})))),
                               framed_output("a"), request()));
}

TEST_CASE("messages of several tools may stand between the frames of the model") {
    auto a = framed_output("a");
    auto b = framed_output("b");
    auto speech = framed_text({"x", "y"});
    check_good("interleaved", join(message::request_begin(), allowed_call("a"), allowed_call("b"), speech[0],
                                   a[0], speech[1], b[0], a[1], speech[2], b[1], speech[3], a[2], speech[4],
                                   b[2], a[3], tail(), b[3]));
}

TEST_CASE("an interrupted run may lack what the interrupt took") {
    const message placeholder = message::tool_call_output("[interrupted: tool aborted by user]", "a")
                                    .with_stop(stop_reason::aborted);
    check_good("the decision of a committed call", join(request(framed_call("a")), placeholder, aborted()));
    check_good("the decision of a call that is not committed",
               join(message::request_begin(), framed_call("a"), ended(stop_reason::aborted), placeholder,
                    aborted()));
    check_good("decision and output of a call that is not committed",
               join(message::request_begin(), framed_call("a"), ended(stop_reason::aborted), aborted()));
    check_good("the complete message of an empty segment",
               join(message::request_begin(), message::partial_text(frame::start),
                    message::partial_text(frame::stop).with_stop(stop_reason::aborted),
                    ended(stop_reason::aborted), aborted()));
}

TEST_CASE("a child may outlive the run and goes on in the next one") {
    stream_checker checker;
    for (const auto& m : join(request(allowed_call("a")), in_child({meta(), message::request_begin()}),
                              framed_output("a"), request()))
        checker.feed(m);
    checker.finish();
    for (const auto& m :
         join(message::request_begin(), in_child(join(framed_text({"x"}), tail(), aborted())), tail()))
        checker.feed(m);
    checker.finish();
    for (const auto& m : join(in_child(join(message::user_text("again"), request())), request()))
        checker.feed(m);
    checker.finish();
    CHECK(checker.report().empty());
}

TEST_CASE("a child of a run that was not watched may be known, and is checked from its next boundary on") {
    const auto second_run = join(in_child(join(message::partial_text(frame::stop), tail())), request(),
                                 in_child(join(message::user_text("again"), request())));
    const auto report_of = [](stream_checker checker, const std::vector<message>& run) {
        for (const auto& m : run)
            checker.feed(m);
        checker.finish();
        return checker.report();
    };
    using children = stream_checker::children;
    CHECK(report_of(stream_checker(children::may_be_known), second_run).empty());
    CHECK_FALSE(report_of(stream_checker(), second_run).empty());
    const auto late_head = join(in_child(join(request(), meta())), request());
    CHECK_FALSE(report_of(stream_checker(children::may_be_known), late_head).empty());
    const auto broken = join(in_child(join(request(), tail())), request());
    CHECK_FALSE(report_of(stream_checker(children::may_be_known), broken).empty());
}

TEST_CASE("a violation is a sentence with number, place and index") {
    stream_checker checker;
    checker.feed(message::request_begin());
    checker.feed(message::partial_text(frame::delta, "x"));
    REQUIRE(checker.violations().size() == 1);
    CHECK_FALSE(checker.ok());
    CHECK(checker.violations()[0].rule == rule::framing);
    CHECK(checker.violations()[0].message_index == 1);
    CHECK(checker.violations()[0].text == "R-PRO-20 at message 1: partial_text delta outside of its segment");
    CHECK(report_of(in_child(in_child({message::request_begin()}, "b"), "a")) ==
          "R-PRO-41 at message 0 in the stream of a/b: request_begin before the child's session_meta\n");
    CHECK(report_of(join(request(framed_text({"same"})), message::request_begin(),
                         message::partial_text(frame::start), message::partial_text(frame::delta, "abX"),
                         message::partial_text(frame::stop), message::assistant_text("abY"), tail())) ==
          "R-PRO-21 at message 11: text and its frames differ in the content at byte 2\n");
    CHECK(report_of(request(allowed_call("c1"))) ==
          "R-ENG-24 at message 8: the run ends, but tool_call c1 has no output\n");
    CHECK(to_string(rule::turn_boundary) == "turn_boundary");
    CHECK(to_string(rule::trace_only) == "trace_only");
}

TEST_CASE("violations beyond the limit are counted and not kept") {
    stream_checker checker;
    for (int i = 0; i < 250; ++i)
        checker.feed(message::event(subagent{"s"}));
    CHECK(checker.violation_count() == 250);
    CHECK(checker.violations().size() == stream_checker::max_kept);
    CHECK(checker.report().find("and 150 more") != std::string::npos);
}

TEST_CASE("every recorded stream of the conformance scenarios passes") {
    const auto files = scenario_files();
    CHECK(files.size() >= 90);
    for (const auto& file : files) {
        stream_checker checker;
        for (const auto& stream : streams_of(file)) {
            for (const message& m : stream)
                checker.feed(m);
            checker.finish();
        }
        INFO(file.filename().string());
        CHECK(checker.report().empty());
    }
}

TEST_CASE("no recorded stream passes with one message lost or doubled") {
    std::size_t mutants = 0;
    const auto expect_fault = [&mutants](const stream_of_messages& stream, const std::string& what) {
        ++mutants;
        INFO(what);
        if (report_of(stream).empty()) FAIL_CHECK("passed");
    };
    for (const auto& file : scenario_files()) {
        for (const auto& stream : streams_of(file)) {
            bool in_compaction = false;
            for (std::size_t i = 0; i < stream.size(); ++i) {
                if (stream[i].kind() == kind::compaction_begin) in_compaction = true;
                if (stream[i].kind() == kind::compaction_end) in_compaction = false;
                if (!is_load_bearing(stream[i], in_compaction)) continue;
                const std::string place = file.filename().string() + " " + std::to_string(i) + " " +
                                          to_json(stream[i]);
                const auto at = static_cast<std::ptrdiff_t>(i);
                stream_of_messages lost = stream;
                lost.erase(lost.begin() + at);
                expect_fault(lost, "lost: " + place);
                stream_of_messages doubled = stream;
                doubled.insert(doubled.begin() + at, stream[i]);
                expect_fault(doubled, "doubled: " + place);
            }
        }
    }
    CHECK(mutants > 3500);
}
