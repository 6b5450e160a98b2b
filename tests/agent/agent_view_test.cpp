// SPDX-License-Identifier: BSL-1.0

// Every row of the table of R-EVT-102.

#include "agent/logs.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/agent/agent_view.hpp>

using namespace agent_logs;
using thalweg::finish;
using thalweg::frame;
using thalweg::message;
using thalweg::run_ending;
using thalweg::stop_reason;
using thalweg::text;

TEST_CASE("a plain answer is one turn of two messages") {
    CHECK(project(join({prompt("Hi"), answer(), words({"Hel", "lo"}), done(), run_end()})) ==
          lines{"agent_start", "turn_start", "start user Hi", "end user Hi", "start assistant",
                "text_start 0", "text_delta 0 Hel", "text_delta 0 lo", "text_end 0 Hello",
                "end assistant text:Hello", "turn_end stop", "agent_end user assistant"});
}

TEST_CASE("the events of a run know times, usage and nothing of the clock") {
    fact_log facts = join({prompt("Hi"), answer(), words({"A"}), done(finish::length), run_end()});
    std::int64_t now = 1'000;
    for (message& fact : facts)
        fact.stamp(++now);
    const auto all = events(facts);
    const auto& end = *all.back().get_if<thalweg::agent_event::agent_end>();
    REQUIRE(end.messages.size() == 2);
    CHECK(end.messages[0].timestamp() == 1'002);
    CHECK(end.messages[1].timestamp() == 1'004);
    CHECK(end.messages[1].usage() == thalweg::token_counts{1, 2, 3, 6});
    CHECK(end.messages[1].stop() == thalweg::agent_stop::length);
}

TEST_CASE("tools are shown between the answer and the end of its turn") {
    const fact_log facts = join(
        {prompt("Go"),
         answer(),
         words({"Reading"}),
         call("c1", "read", {"{\"p\":", "1}"}),
         done(finish::tool_use),
         {message::call_begin("c1", "read", "{\"p\":1}", "Read a file"), message::body_begin("c1")},
         output("c1", "AAA"),
         settled({"c1"}),
         answer(),
         words({"ok"}),
         done(),
         run_end()});
    const lines all = project(facts);
    CHECK(part(all, "toolcall_start 1", "turn_start") ==
          lines{"toolcall_start 1", "toolcall_delta 1 {\"p\":", "toolcall_delta 1 1}",
                "toolcall_end 1 {\"p\":1}", "end assistant text:Reading toolCall c1:{\"p\":1}",
                "tool_start c1 read (Read a file) {\"p\":1}", "tool_end c1 AAA", "start toolResult c1 AAA",
                "end toolResult c1 AAA", "turn_end toolUse c1", "turn_start"});
    CHECK(all.back() == "agent_end user assistant toolResult assistant");
}

TEST_CASE("progress is a snapshot with details, and output so far is the sum of its pieces") {
    const fact_log facts = join(
        {prompt("Go"),
         answer(),
         call("c1", "read", {"{}"}),
         done(finish::tool_use),
         begun("c1", "read"),
         {message::call_progress("c1", "10%", "{\"n\":1}"), message::call_progress("c1", "90%"),
          message::partial_tool_call_output(frame::start, "c1"),
          message::partial_tool_call_output(frame::delta, "c1", "A"),
          message::partial_tool_call_output(frame::delta, "c1", "B"),
          message::partial_tool_call_output(frame::delta, "c1", "C").as_closing(),
          message::partial_tool_call_output(frame::stop, "c1"),
          message::tool_call_output("ABC", "c1")
              .with_details("[1]")
              .with_images({"data:image/png;base64,QUJD"})},
         settled({"c1"}),
         run_end()});
    const auto all = events(facts);
    lines shown;
    for (const auto& event : all)
        shown.push_back(line(event));
    CHECK(part(shown, "tool_start c1 read {}", "turn_end toolUse c1") ==
          lines{"tool_start c1 read {}", "tool_update c1 10% {\"n\":1}", "tool_update c1 90%",
                "tool_update c1 A", "tool_update c1 AB", "tool_end c1 ABC [1]", "start toolResult c1 ABC",
                "end toolResult c1 ABC", "turn_end toolUse c1"});
    const auto& result = all.back().get_if<thalweg::agent_event::agent_end>()->messages.back();
    CHECK(result.details() == "[1]");
    REQUIRE(result.content().size() == 2);
    CHECK(result.content()[1].mime_type() == "image/png");
    CHECK(result.content()[1].content() == "QUJD");
}

TEST_CASE("complete messages without frames give start, delta and end") {
    const fact_log facts = join(
        {prompt("Hi"),
         answer(),
         {message::thinking("hm"), message::assistant_text("yes"), message::assistant_text("")},
         done(),
         run_end()});
    CHECK(part(project(facts), "start assistant", "turn_end stop") ==
          lines{"start assistant", "thinking_start 0", "thinking_delta 0 hm", "thinking_end 0 hm",
                "text_start 1", "text_delta 1 yes", "text_end 1 yes", "text_start 2", "text_end 2 ",
                "end assistant thinking:hm text:yes text:", "turn_end stop"});
}

TEST_CASE("thinking and text are blocks of their own, in order") {
    const fact_log facts = join({prompt("Hi"), answer(), thoughts({"let me ", "see"}), words({"A", "B"}),
                                 words({"C"}), done(), run_end()});
    CHECK(part(project(facts), "thinking_start 0", "turn_end stop") ==
          lines{"thinking_start 0", "thinking_delta 0 let me ", "thinking_delta 0 see",
                "thinking_end 0 let me see", "text_start 1", "text_delta 1 A", "text_delta 1 B",
                "text_end 1 AB", "text_start 2", "text_delta 2 C", "text_end 2 C",
                "end assistant thinking:let me see text:AB text:C", "turn_end stop"});
}

TEST_CASE("an empty block that was closed has its end, whatever comes next") {
    const fact_log empty{message::partial_text(frame::start), message::partial_text(frame::stop)};
    const fact_log facts = join({prompt("Hi"), answer(), empty, words({"A"}), empty, done(), run_end()});
    CHECK(part(project(facts), "start assistant", "turn_end stop") ==
          lines{"start assistant", "text_start 0", "text_end 0 ", "text_start 1", "text_delta 1 A",
                "text_end 1 A", "text_start 2", "text_end 2 ",
                "end assistant text: text:A text:", "turn_end stop"});
}

TEST_CASE("an answer without blocks has no update") {
    CHECK(part(project(join({prompt("Hi"), answer(), done(), run_end()})), "start assistant",
               "turn_end stop") == lines{"start assistant", "end assistant", "turn_end stop"});
}

TEST_CASE("a failed answer keeps what came and has no end for the cut block") {
    const fact_log facts = join(
        {prompt("Hi"),
         answer(),
         words({"A"}),
         {message::partial_text(frame::start), message::partial_text(frame::delta, "par"),
          message::partial_text(frame::stop).with_stop(stop_reason::failed),
          message::assistant_text("par").with_stop(stop_reason::failed)},
         broken(stop_reason::failed, "overloaded"),
         run_end(run_ending::failed, "overloaded")});
    CHECK(part(project(facts), "text_start 1", "agent_end user assistant") ==
          lines{"text_start 1", "text_delta 1 par", "end assistant text:A text:par | error: overloaded",
                "turn_end error", "agent_end user assistant"});
}

TEST_CASE("a cut block keeps every piece that came, whether or not it was closed") {
    const fact_log open{message::partial_text(frame::start), message::partial_text(frame::delta, "a"),
                        message::partial_text(frame::delta, "b"), message::partial_text(frame::delta, "c")};
    const fact_log closed{message::partial_text(frame::stop).with_stop(stop_reason::aborted),
                          message::assistant_text("abc").with_stop(stop_reason::aborted)};
    for (const fact_log& rest : {fact_log{}, closed}) {
        const fact_log facts = join(
            {prompt("Hi"), answer(), open, rest, broken(stop_reason::aborted), run_end()});
        CHECK(part(project(facts), "text_delta 0 b", "turn_end aborted") ==
              lines{"text_delta 0 b", "text_delta 0 c",
                    "end assistant text:abc | aborted: Request was aborted", "turn_end aborted"});
    }
}

TEST_CASE("an answer that fails before it begins has a start all the same") {
    for (const stop_reason status : {stop_reason::failed, stop_reason::timeout, stop_reason::malformed,
                                     stop_reason::auth, stop_reason::aborted}) {
        const fact_log facts = join(
            {prompt("Hi"), {message::request_begin()}, broken(status, "why"), run_end()});
        const std::string stop = status == stop_reason::aborted ? "aborted" : "error";
        CHECK(part(project(facts), "start assistant | " + stop + ": why", "agent_end user assistant") ==
              lines{"start assistant | " + stop + ": why", "end assistant | " + stop + ": why",
                    "turn_end " + stop, "agent_end user assistant"});
    }
}

TEST_CASE("a failure without words gets some") {
    const auto words_of = [](stop_reason status) {
        return project(join({prompt("Hi"), answer(), broken(status), run_end()})).at(5);
    };
    CHECK(words_of(stop_reason::aborted) == "end assistant | aborted: Request was aborted");
    CHECK(words_of(stop_reason::timeout) == "end assistant | error: The request timed out");
    CHECK(words_of(stop_reason::failed) == "end assistant | error: The request failed for an unknown reason");
}

TEST_CASE("an abort between two answers gives one more turn with an empty message") {
    const fact_log facts = join({prompt("Go"),
                                 answer(),
                                 call("c1", "read", {"{}"}),
                                 done(finish::tool_use),
                                 begun("c1", "read"),
                                 output("c1", "Operation aborted", stop_reason::aborted),
                                 settled({"c1"}),
                                 {message::event(thalweg::run_abort{})},
                                 run_end(run_ending::aborted)});
    CHECK(part(project(facts), "turn_end toolUse c1", "agent_end user assistant toolResult assistant") ==
          lines{"turn_end toolUse c1", "turn_start", "start assistant | aborted: Request was aborted",
                "end assistant | aborted: Request was aborted", "turn_end aborted",
                "agent_end user assistant toolResult assistant"});
}

TEST_CASE("an abort inside an answer is told once") {
    const fact_log facts = join(
        {prompt("Hi"),
         answer(),
         {message::partial_text(frame::start), message::partial_text(frame::delta, "par"),
          message::partial_text(frame::stop).with_stop(stop_reason::aborted),
          message::assistant_text("par").with_stop(stop_reason::aborted)},
         broken(stop_reason::aborted),
         {message::event(thalweg::run_abort{"aborted by user"})},
         run_end(run_ending::aborted, "aborted by user")});
    CHECK(part(project(facts), "text_delta 0 par", "agent_end user assistant") ==
          lines{"text_delta 0 par", "end assistant text:par | aborted: Request was aborted",
                "turn_end aborted", "agent_end user assistant"});
}

TEST_CASE("a failure outside of the model's stream closes every level") {
    const lines failed = {"turn_start",
                          "start user Hi",
                          "end user Hi",
                          "start assistant text: | error: no such model",
                          "end assistant text: | error: no such model",
                          "turn_end error",
                          "agent_end user assistant"};
    const fact_log end = run_end(run_ending::failed, "no such model");
    CHECK(part(project(join({prompt("Hi"), end})), "turn_start", failed.back()) == failed);
    CHECK(part(project(join({prompt("Hi"), {message::request_begin()}, end})), "turn_start", failed.back()) ==
          failed);
    const lines later = project(join({prompt("Hi"), answer(), words({"A"}), done(), end}));
    CHECK(part(later, "turn_end stop", "agent_end user assistant assistant") ==
          lines{"turn_end stop", "turn_start", "start assistant text: | error: no such model",
                "end assistant text: | error: no such model", "turn_end error",
                "agent_end user assistant assistant"});
}

TEST_CASE("a run that is continued begins with the model's message") {
    const fact_log facts = join({{message::run_begin()}, answer(), words({"A"}), done(), run_end()});
    CHECK(project(facts).back() == "agent_end assistant");
}

TEST_CASE("inputs between two answers open the next turn") {
    const fact_log facts = join(
        {prompt("Go"),
         answer(),
         words({"A"}),
         done(),
         {message::user_text("more").as_input(), message::image_url("https://x/y.png").as_input()},
         answer(),
         words({"B"}),
         done(),
         run_end()});
    CHECK(part(project(facts), "turn_end stop", "start assistant") ==
          lines{"turn_end stop", "turn_start", "start user more", "end user more", "start user ", "end user ",
                "start assistant"});
}

TEST_CASE("what is not of the run's own stream gives no event") {
    const fact_log noise{message::event(thalweg::notice{"loop", "x"}),
                         message::session_meta({}),
                         message::event(thalweg::compaction_begin{}),
                         message::request_begin().trace_only(),
                         message::event(thalweg::token_usage{}),
                         message::event(thalweg::request_end{}).trace_only(),
                         message::event(thalweg::compaction_end{}),
                         message::partial_text(frame::delta, "child").with_origin_prefix("s2"),
                         message::run_begin().with_origin_prefix("s2"),
                         message::user_text("steered, wrapped for the model"),
                         message::assistant_text("Turn limit reached").with_stop(stop_reason::failed),
                         message::approval_decision(thalweg::decision::allow, "c1")};
    const lines quiet = project(join({prompt("Hi"), answer(), words({"A"}), done(), run_end()}));
    CHECK(project(join({noise, prompt("Hi"), answer(), words({"A"}), done(), noise, run_end(), noise})) ==
          quiet);
    fact_log between = join({prompt("Hi"), answer()});
    for (const message& each : noise) {
        if (each.kind() != thalweg::kind::token_usage && each.role() != thalweg::role::assistant)
            between.push_back(each);
    }
    CHECK(project(join({between, words({"A"}), done(), run_end()})) == quiet);
}

TEST_CASE("two runs of one log are two runs of events") {
    const fact_log one = join({prompt("Hi"), answer(), words({"A"}), done(), run_end()});
    const lines once = project(one);
    lines twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    CHECK(project(join({one, one})) == twice);
}

TEST_CASE("a log with holes still gives events in order") {
    const fact_log call_only = join(
        {prompt("Go"), answer(), call("c1", "read", {"{}"}), done(finish::tool_use)});
    const lines expected{"tool_start c1 read {}", "tool_end c1 error Operation aborted",
                         "start toolResult c1 error Operation aborted",
                         "end toolResult c1 error Operation aborted", "turn_end toolUse c1"};
    for (const fact_log& next : {run_end(), settled({}), settled({"c1"}), join({answer(), done()}),
                                 fact_log{message::user_text("x").as_input()}}) {
        const fact_log rest = next.back().kind() == thalweg::kind::run_end ? fact_log{} : run_end();
        CHECK(part(project(join({call_only, next, rest})), expected.front(), expected.back()) == expected);
    }
    CHECK(project(join({prompt("Hi"), answer(), words({"A"}), answer(), done(), run_end()})).at(8) ==
          "end assistant text:A | error: The answer was left without an end");
    CHECK(project(join({prompt("Hi"), answer(), words({"A"}), run_end()})).at(8) ==
          "end assistant text:A | error: The run ended inside an answer");
    CHECK(project(join({prompt("Hi"), prompt("again"), answer(), done(), run_end()})).at(7) ==
          "agent_end user assistant");
}

TEST_CASE("a delta allocates nothing but room for the text itself") {
    thalweg::agent_view view;
    std::size_t seen = 0;
    const auto feed = [&](const message& fact) {
        for (const auto& event : view.feed(fact))
            seen += event.message() == nullptr ? 0 : event.message()->content().size();
    };
    for (const message& fact : join({prompt("Hi"), answer()}))
        feed(fact);
    feed(message::partial_text(frame::start));
    const message delta = message::partial_text(frame::delta, "four");
    feed(delta);
    const std::size_t allocations = thalweg::testing::allocations_of([&] {
        for (int i = 0; i < 10'000; ++i)
            feed(delta);
    });
    CHECK(seen >= 10'000);
    if (thalweg::testing::allocations_are_counted) CHECK(allocations <= 10); // the block doubles
}
