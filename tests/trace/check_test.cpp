// SPDX-License-Identifier: BSL-1.0

// What the checker says about traces and saved streams: nothing about good ones, and every broken promise by
// line.

#include "trace_support.hpp"

#include <thalweg/trace/check.hpp>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

message stamped(message m) {
    m.stamp(1);
    return m;
}

message call(std::string_view id, stop_reason stop = stop_reason::completed) {
    return stamped(message::tool_call("t", "{}", text(id)).with_stop(stop));
}

message decided(std::string_view id, decision d = decision::allow) {
    return stamped(message::approval_decision(d, text(id)));
}

message output(std::string_view id, stop_reason stop = stop_reason::completed) {
    return stamped(message::tool_call_output("out", text(id)).with_stop(stop));
}

message answer(stop_reason stop = stop_reason::completed) {
    return stamped(message::assistant_text("answer").with_stop(stop));
}

message begin() {
    return stamped(message::request_begin());
}

message ended(stop_reason status = stop_reason::completed) {
    struct request_end end;
    end.status = status;
    return stamped(message::event(std::move(end)));
}

message usage(std::int64_t session, std::int64_t request) {
    struct token_usage counts;
    counts.session.total = session;
    counts.request.total = request;
    return stamped(message::event(counts));
}

message aborted() {
    return stamped(message::event(run_abort()));
}

message compacting(compaction_reason why = compaction_reason::context) {
    struct compaction_begin begin;
    begin.reason = why;
    return stamped(message::event(begin));
}

message compacted(stop_reason status = stop_reason::completed) {
    struct compaction_end end;
    end.status = status;
    return stamped(message::event(std::move(end)));
}

using records = std::vector<message>;

trace::check_report check_bytes(std::string bytes, trace::check_as how = trace::check_as::detect) {
    auto from = trace::reader::of_text(std::move(bytes));
    return trace::check(from, "t.jsonl", how);
}

std::string all_lines(const records& of) {
    std::string made;
    for (const message& m : of)
        made += line(m);
    return made;
}

std::string found(const trace::check_report& report) {
    std::string made;
    for (const auto& f : report.findings)
        made += trace::describe(report, f) + "\n";
    return made;
}

// The findings of a trace that starts with session_meta and a prompt, i.e. with lines 1 and 2.
std::string of_trace(records rest) {
    rest.insert(rest.begin(), {sample_meta(), note("go")});
    return found(check_bytes(all_lines(rest)));
}

} // namespace

TEST_CASE("good traces give no findings") {
    const auto failed = stop_reason::failed;
    const auto stopped = stop_reason::aborted;
    const std::vector<records> good{
        {},
        {begin(), answer(), usage(7, 7), ended()},
        {begin(), call("a"), decided("a"), call("b"), decided("b"), output("b"), usage(7, 7), ended(),
         output("a"), begin(), answer(), usage(14, 7), ended(), note("next"), begin(), answer(), usage(25, 7),
         ended()},
        {begin(), call("a"), decided("a", decision::deny), output("a", stopped), usage(0, 0), ended(),
         begin(), answer(), usage(0, 0), ended()},
        {begin(), answer(failed), ended(failed), begin(), answer(), usage(1, 1), ended()},
        {begin(), call("a", failed), ended(failed), aborted(), note("next"), begin(), answer(), usage(1, 1),
         ended()},
        {begin(), call("a"), usage(1, 1), ended(), output("a", stopped), aborted()},
        {begin(), call("a"), answer(), ended(stopped), aborted(), note("next"), aborted()},
        {begin(), answer(), usage(1, 1), ended(), compacting(), note("summarize"), begin(), answer(),
         usage(2, 1), ended(), compacted()},
        {begin(), answer(), usage(1, 1), ended(), compacting(), note("summarize"), begin(), call("a"),
         usage(2, 1), ended(), output("a", failed), note("no tools"), begin(), ended(failed), begin(),
         ended(failed), compacted(failed), aborted()},
        {begin(), call("a"), decided("a"), usage(1, 1), ended(), output("a"), note("[user_steering]"),
         begin(), answer(), usage(2, 1), ended(), answer(failed), note("next")},
    };
    for (const records& rest : good) {
        INFO(all_lines(rest));
        REQUIRE(of_trace(rest).empty());
    }
}

TEST_CASE("what only the end of the process explains is a note") {
    const auto failed = stop_reason::failed;
    const std::vector<std::pair<records, std::string>> cut{
        {{begin(), answer()}, "t.jsonl:4: note: the trace ends inside a request (R-TRC-32)\n"},
        {{begin(), answer(), note("next"), begin(), answer(), usage(1, 1), ended()},
         "t.jsonl:5: note: the process that wrote this ended inside a request (R-TRC-32)\n"},
        {{begin(), call("a"), decided("a"), usage(1, 1), ended(), note("next"), begin(), answer(),
          usage(2, 1), ended()},
         "t.jsonl:8: note: user input, but the call a has no output; the process ended before (R-ENG-14)\n"},
        {{begin(), call("a"), decided("a"), usage(1, 1), ended()},
         "t.jsonl:7: note: the trace ends, but the call a has no output; the process ended before "
         "(R-ENG-14)\n"},
        {{begin(), ended(failed), note("next"), begin(), answer(), usage(1, 1), ended()},
         "t.jsonl:5: note: the process that wrote this ended behind a request that is not completed, before "
         "the run's "
         "end (R-TRC-32)\n"},
        {{begin(), ended(failed)},
         "t.jsonl:4: note: the trace ends behind a request that is not completed, without abort "
         "(R-TRC-32)\n"},
        {{compacting(), note("summarize"), begin(), answer(), compacted(failed), note("next")},
         "t.jsonl:7: note: the process that wrote this ended inside a compaction (R-TRC-32)\n"},
        {{compacting(), note("summarize")},
         "t.jsonl:4: note: the trace ends inside a compaction (R-TRC-37)\n"},
    };
    for (const auto& [rest, expected] : cut)
        REQUIRE(of_trace(rest) == expected);
    REQUIRE(found(check_bytes("")) == "t.jsonl: note: there is no record (R-PRO-41)\n");
}

TEST_CASE("a file of another kind is told in one sentence, not line by line") {
    REQUIRE(found(check_bytes("\x7f"
                              "ELF\nmore\n\neven more\n")) ==
            "t.jsonl: this is neither a trace nor a stream: there is no record in any of its 3 lines "
            "(R-TRC-11)\n");
}

TEST_CASE("every broken promise of a trace is told with line and rule") {
    const auto failed = stop_reason::failed;
    const auto stopped = stop_reason::aborted;
    const std::vector<std::pair<records, std::string>> broken{
        {{sample_meta()}, "t.jsonl:3: a second session_meta (R-PRO-41)\n"},
        {{stamped(message::partial_text(frame::start))},
         "t.jsonl:3: partial_text start: frames are for the stream only (R-TRC-10)\n"},
        {{note("hi").with_origin_prefix("kid")},
         "t.jsonl:3: text of the child session kid, which has a trace of its own (R-TRC-10)\n"},
        {{answer()}, "t.jsonl:3: text outside of a request (R-ENG-10)\n"},
        {{ended()}, "t.jsonl:3: request_end without request_begin (R-ENG-10)\n"},
        {{begin(), begin(), answer(), usage(1, 1), ended()},
         "t.jsonl:4: request_begin inside a request (R-ENG-10)\n"},
        {{begin(), answer(), ended()}, "t.jsonl:5: a completed request without token_usage (R-ENG-16)\n"},
        {{begin(), answer(), usage(1, 1), usage(2, 1), ended()},
         "t.jsonl:6: token_usage between token_usage and request_end (D-04)\n"
         "t.jsonl:6: a second token_usage in one request (R-ENG-16)\n"},
        {{begin(), usage(1, 1), answer(), ended()},
         "t.jsonl:5: text between token_usage and request_end (D-04)\n"},
        {{usage(1, 1)}, "t.jsonl:3: token_usage outside of a request (R-ENG-16)\n"},
        {{begin(), usage(1, 1), ended(failed), aborted()},
         "t.jsonl:5: token_usage in a request that is not completed (R-ENG-16)\n"},
        {{begin(), answer(), usage(9, 9), ended(), note("next"), begin(), answer(), usage(9, 1), ended()},
         "t.jsonl:10: token_usage: the session's total of 9 is less than the 9 before and the 1 of this "
         "request "
         "(R-ENG-17)\n"},
        {{begin(), call("a"), decided("a"), usage(1, 1), ended(), begin(), answer(), usage(2, 1), ended()},
         "t.jsonl:8: request_begin, but the call a has no output (R-ENG-14)\n"},
        {{begin(), call("a"), decided("a"), output("a"), output("a"), usage(1, 1), ended()},
         "t.jsonl:7: a second tool_call_output a (R-ENG-40)\n"},
        {{begin(), output("a"), answer(), usage(1, 1), ended()},
         "t.jsonl:4: tool_call_output a for no call of this turn (R-ENG-34)\n"},
        {{begin(), call("a"), output("a"), usage(1, 1), ended()},
         "t.jsonl:5: tool_call_output a before the decision about its call (R-ENG-23)\n"},
        {{begin(), call("a"), output("a"), decided("a"), usage(1, 1), ended()},
         "t.jsonl:5: tool_call_output a before the decision about its call (R-ENG-23)\n"
         "t.jsonl:6: approval_decision a behind the output of its call (R-ENG-23)\n"},
        {{begin(), decided("a"), answer(), usage(1, 1), ended()},
         "t.jsonl:4: approval_decision a without its tool_call before it (R-ENG-23)\n"},
        {{begin(), call("a"), decided("a"), decided("a"), output("a"), usage(1, 1), ended()},
         "t.jsonl:6: approval_decision a for the second time (R-ENG-20)\n"},
        {{begin(), call("a"), answer(), decided("a"), output("a"), usage(1, 1), ended()},
         "t.jsonl:6: approval_decision a behind later messages of the model (R-ENG-21)\n"},
        {{begin(), call("a", failed), decided("a"), usage(1, 1), ended()},
         "t.jsonl:5: approval_decision a about a call that is closure only (R-PRO-28)\n"},
        {{begin(), call("a", failed), output("a"), usage(1, 1), ended()},
         "t.jsonl:5: tool_call_output a for a call that is closure only (R-PRO-28)\n"},
        {{begin(), call("a"), decided("a", decision::deny), output("a"), usage(1, 1), ended()},
         "t.jsonl:6: tool_call_output a of a refused call is not aborted (R-ENG-24)\n"},
        {{begin(), call("a"), decided("a", decision::forbidden), answer(), output("a", stopped), usage(1, 1),
          ended()},
         "t.jsonl:6: text where the output of the refused call a is due (R-ENG-24)\n"},
        {{begin(), call("a"), decided("a"), output("a"), call("a"), decided("a"), output("a"), usage(1, 1),
          ended()},
         "t.jsonl:7: tool_call a uses an id for the second time (R-PRO-13)\n"},
        {{begin(), call("a"), usage(1, 1), ended(), output("a", stopped), begin(), answer(), usage(2, 1),
          ended()},
         "t.jsonl:8: request_begin, although the run has the placeholder output of the call a, which only an "
         "interrupt "
         "explains (D-20)\n"},
        {{begin(), aborted()}, "t.jsonl:4: abort inside a request (R-ENG-35)\n"},
        {{begin(), call("a"), usage(1, 1), ended(), aborted()},
         "t.jsonl:7: abort, but the committed call a has no output (R-ENG-40)\n"},
        {{begin(), ended(failed), aborted(), begin(), answer(), usage(1, 1), ended()},
         "t.jsonl:6: request_begin behind abort, which is the last of its run (R-ENG-37)\n"},
        {{begin(), ended(failed), aborted(), aborted()},
         "t.jsonl:6: abort behind abort, which is the last of its run (R-ENG-37)\n"},
        {{answer(failed), begin(), answer(), usage(1, 1), ended()},
         "t.jsonl:4: request_begin behind the notice at the turn limit (R-ENG-38)\n"},
        {{compacting(), compacting(), compacted(failed)},
         "t.jsonl:4: compaction_begin inside a compaction (R-ENG-71)\n"},
        {{begin(), compacting(), compacted(failed)},
         "t.jsonl:4: compaction_begin inside a request (R-ENG-71)\n"},
        {{compacted()}, "t.jsonl:3: compaction_end without compaction_begin (R-ENG-71)\n"},
        {{compacting(), begin(), compacted(stopped)},
         "t.jsonl:5: compaction_end inside a request (R-ENG-71)\n"},
        {{compacting(), begin(), note("more"), ended(failed), compacted(failed)},
         "t.jsonl:5: text of the user inside a request (R-ENG-71)\n"},
        {{compacting(), compacted(), note("next")},
         "t.jsonl:5: text behind the completed compaction, which closes the file (R-ENG-75)\n"},
        {{compacting(), begin(), call("a"), decided("a"), usage(1, 1), ended(), output("a", failed),
          compacted(failed)},
         "t.jsonl:6: approval_decision a about a call that answers a compaction (R-ENG-78)\n"},
        {{compacting(), aborted()}, "t.jsonl:4: abort inside a compaction (R-ENG-37)\n"},
    };
    for (const auto& [rest, expected] : broken) {
        const std::string told = of_trace(rest);
        INFO(told);
        REQUIRE(told.starts_with(expected));
    }
}

TEST_CASE("a trace without its first line is checked all the same") {
    const auto report = check_bytes(all_lines({note("go"), begin(), answer(), usage(1, 1), ended()}));
    REQUIRE_FALSE(report.is_stream);
    REQUIRE(found(report) == "t.jsonl:1: the trace begins with text, not with session_meta (R-PRO-41)\n");
}

TEST_CASE("unreadable lines are faults with line and offset, a torn tail is a note") {
    const auto good = line(sample_meta());
    const auto report = check_bytes(good + "{\"timestamp\":1}\n" + line(note("go")) + "\n{\"times");
    REQUIRE(report.records == 2);
    REQUIRE(report.fault_count == 1);
    REQUIRE(report.note_count == 1);
    REQUIRE_FALSE(report.ok());
    REQUIRE(report.findings[0].line == 2);
    REQUIRE(report.findings[0].rule == "R-TRC-11");
    REQUIRE(report.findings[0].text.find("begins at byte " + std::to_string(good.size())) !=
            std::string::npos);
    REQUIRE(report.findings[1].line == 5);
    REQUIRE(report.findings[1].rule == "R-TRC-20");
    REQUIRE(trace::summary(report) ==
            "t.jsonl: a trace of 2 records, 0 requests, 0 tool calls: 1 fault, 1 note");
}

TEST_CASE("a saved stream is recognized and asked for the rules of a stream") {
    auto run = sample_run();
    run.erase(run.begin() + 6); // the child's message
    run.insert(run.end(), {begin(), usage(8, 1), ended()});
    auto report = check_bytes(all_lines(run));
    REQUIRE(report.is_stream);
    REQUIRE(found(report).empty());
    REQUIRE(trace::summary(report) ==
            "t.jsonl: a stream of 15 records, 2 requests, 1 tool call: 0 faults, 0 notes");

    std::swap(run[2], run[3]);
    report = check_bytes("\n" + all_lines(run));
    REQUIRE(report.is_stream);
    REQUIRE(report.fault_count > 0);
    REQUIRE(report.findings[0].line == 5);
    REQUIRE(report.findings[0].rule == "R-PRO-20");
    REQUIRE(report.findings[0].text ==
            "partial_tool_call delta c1 where the complete message of partial_tool_call c1 must follow");
}

TEST_CASE("a stream without frames is recognized, too") {
    const auto report = check_bytes(all_lines({begin(), ended(stop_reason::auth), aborted()}));
    REQUIRE(report.is_stream);
    REQUIRE(found(report).empty());
}

TEST_CASE("what a file is can be said instead of guessed") {
    const std::string stream = all_lines({begin(), ended(stop_reason::auth), aborted()});
    const auto as_trace = check_bytes(stream, trace::check_as::trace);
    REQUIRE_FALSE(as_trace.is_stream);
    REQUIRE(as_trace.fault_count == 1);
    const auto as_stream = check_bytes(line(sample_meta()), trace::check_as::stream);
    REQUIRE(as_stream.is_stream);
    REQUIRE(as_stream.findings.at(0).text == "session_meta on the session's own stream");
}

TEST_CASE("findings beyond what is kept are counted") {
    std::string bad = line(sample_meta());
    for (std::size_t i = 0; i < trace::check_report::max_kept + 5; ++i)
        bad += line(ended());
    const auto report = check_bytes(bad);
    REQUIRE(report.findings.size() == trace::check_report::max_kept);
    REQUIRE(report.fault_count == trace::check_report::max_kept + 5);
}

TEST_CASE("a file is checked by its path") {
    const temporary_folder folder;
    REQUIRE(write(*open_sink(folder.file("t.jsonl")), {sample_meta(), note("go")}));
    const auto report = trace::check_file(folder.file("t.jsonl"));
    REQUIRE(report);
    REQUIRE(report.value().ok());
    REQUIRE(report.value().name == folder.file("t.jsonl"));
    REQUIRE_FALSE(trace::check_file(folder.file("missing")));
}

TEST_CASE("what only the end of a process or of its run explains is a note, whatever comes next") {
    const auto manual = [] { return compacting(compaction_reason::manual); };
    const std::vector<records> places{
        {begin(), answer(), usage(7, 7), note("next"), begin(), answer(), usage(14, 7), ended()},
        {begin(), answer(), usage(7, 7), manual()},
        {begin(), call("a"), manual()},
        {begin(), call("a"), decided("a", decision::deny), manual()},
        {begin(), call("a"), usage(7, 7), ended(), manual()},
    };
    for (const records& place : places) {
        records all = place;
        all.insert(all.begin(), {sample_meta(), note("go")});
        const auto report = check_bytes(all_lines(all));
        INFO(found(report));
        CHECK(report.fault_count == 0);
        CHECK(report.note_count > 0);
    }
    CHECK(of_trace({begin(), call("a"), compacting()}) != "");
}
