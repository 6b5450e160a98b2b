// SPDX-License-Identifier: BSL-1.0

// Where the two views want different things (R-EVT-100…103, C1…C24), and what the agent view does.

#include "agent/logs.hpp"
#include "support/catch.hpp"

#include <thalweg/agent/agent_view.hpp>

using namespace agent_logs;
using thalweg::agent_message;
using thalweg::finish;
using thalweg::frame;
using thalweg::message;
using thalweg::run_ending;
using thalweg::stop_reason;
using thalweg::text;

namespace {

struct note {
    static constexpr std::string_view role = "note";
    std::string body;
};
BOOST_DESCRIBE_STRUCT(note, (), (body))

const fact_log two_calls = join(
    {prompt("Go"), answer(), call("c1", "read", {"{}"}), call("c2", "list", {"{}"})});

fact_log retried(int attempt, std::int64_t wait) {
    thalweg::request_end end;
    end.status = stop_reason::failed;
    end.error_message = text("overloaded");
    end.attempt = attempt;
    end.retry_in_ms = wait;
    end.max_attempts = 5;
    return {message::event(end)};
}

fact_log cut_call(std::string_view id) {
    return {message::partial_tool_call(frame::start, text(id), "read"),
            message::partial_tool_call(frame::delta, text(id), {}, "{\"p\":"),
            message::partial_tool_call(frame::stop, text(id)).with_stop(stop_reason::failed),
            message::tool_call("read", "{\"p\":", text(id)).with_stop(stop_reason::failed)};
}

} // namespace

TEST_CASE("C1: a tool that runs while the model still answers is shown behind the answer") {
    const fact_log eager = join({prompt("Go"),
                                 answer(),
                                 call("c1", "read", {"{}"}),
                                 {message::approval_decision(thalweg::decision::allow, "c1")},
                                 begun("c1", "read"),
                                 {message::call_progress("c1", "10%")},
                                 output("c1", "A"),
                                 words({"more"}),
                                 done(finish::tool_use),
                                 settled({"c1"}),
                                 run_end()});
    const fact_log after = join({prompt("Go"),
                                 answer(),
                                 call("c1", "read", {"{}"}),
                                 words({"more"}),
                                 done(finish::tool_use),
                                 begun("c1", "read"),
                                 {message::call_progress("c1", "10%")},
                                 output("c1", "A"),
                                 settled({"c1"}),
                                 run_end()});
    CHECK(project(eager) == project(after));
}

TEST_CASE("C2: what ran before its request failed is shown and has no result message") {
    const lines expected{"end assistant toolCall c1:{} | error: boom", "tool_start c1 read {}",
                         "tool_end c1 A", "turn_end error", "agent_end user assistant"};
    const fact_log head = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), begun("c1", "read")});
    const fact_log fails = broken(stop_reason::failed, "boom");
    const fact_log end = run_end(run_ending::failed, "boom");
    CHECK(part(project(join({head, output("c1", "A"), fails, end})), expected.front(), expected.back()) ==
          expected);
    CHECK(part(project(join({head, fails, output("c1", "A"), end})), expected.front(), expected.back()) ==
          expected);
}

TEST_CASE("C2: a body that never ends does not keep the turn open") {
    const fact_log facts = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), begun("c1", "read"),
                                 broken(stop_reason::aborted), run_end(run_ending::aborted)});
    CHECK(part(project(facts), "tool_start c1 read {}", "agent_end user assistant") ==
          lines{"tool_start c1 read {}", "tool_end c1 error Operation aborted", "turn_end aborted",
                "agent_end user assistant"});
}

TEST_CASE("C3, C24: what is denied, unknown or invalid has start, end and result") {
    const fact_log facts = join(
        {two_calls,
         {message::approval_decision(thalweg::decision::deny, "c1")},
         {message::tool_call_output("Tool call denied by user.", "c1").with_stop(stop_reason::aborted)},
         done(finish::tool_use),
         {message::call_begin("c2", "list", "{}")},
         output("c2", "Tool list not found", stop_reason::failed),
         settled({"c1", "c2"}),
         run_end()});
    CHECK(part(project(facts), "tool_start c1 read {}", "turn_end toolUse c1 c2") ==
          lines{"tool_start c1 read {}", "tool_end c1 error Tool call denied by user.",
                "tool_start c2 list {}", "tool_end c2 error Tool list not found",
                "start toolResult c1 error Tool call denied by user.",
                "end toolResult c1 error Tool call denied by user.",
                "start toolResult c2 error Tool list not found",
                "end toolResult c2 error Tool list not found", "turn_end toolUse c1 c2"});
}

TEST_CASE("C6, C7: ends come in order of completion, results in the order of settlement") {
    const fact_log facts = join({two_calls, done(finish::tool_use), begun("c1", "read"), begun("c2", "list"),
                                 output("c2", "B"), output("c1", "A"), settled({"c1", "c2"}), run_end()});
    CHECK(part(project(facts), "tool_start c1 read {}", "turn_end toolUse c1 c2") ==
          lines{"tool_start c1 read {}", "tool_start c2 list {}", "tool_end c2 B", "tool_end c1 A",
                "start toolResult c1 A", "end toolResult c1 A", "start toolResult c2 B",
                "end toolResult c2 B", "turn_end toolUse c1 c2"});
}

TEST_CASE("C6: in sequential mode each result follows its end") {
    const fact_log facts = join({two_calls,
                                 done(finish::tool_use),
                                 begun("c1", "read"),
                                 output("c1", "A"),
                                 {message::call_settled("c1")},
                                 begun("c2", "list"),
                                 output("c2", "B"),
                                 settled({"c2"}),
                                 run_end()});
    CHECK(part(project(facts), "tool_end c1 A", "tool_start c2 list {}") ==
          lines{"tool_end c1 A", "start toolResult c1 A", "end toolResult c1 A", "tool_start c2 list {}"});
}

TEST_CASE("C8: a turn with calls ends when its batch is settled") {
    const fact_log facts = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), done(finish::tool_use)});
    thalweg::agent_view view;
    lines seen;
    for (const message& fact :
         join({facts, begun("c1", "read"), output("c1", "A"), {message::call_settled("c1")}})) {
        for (const auto& event : view.feed(fact))
            seen.push_back(line(event));
    }
    CHECK(seen.back() == "end toolResult c1 A");
    REQUIRE(view.feed(message::batch_settled()).size() == 1);
}

TEST_CASE("C11: the block of a failed answer that was cut stays, a cut call does not") {
    const fact_log facts = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), cut_call("c2"),
                                 words({"A"}), broken(stop_reason::malformed, "cut"),
                                 run_end(run_ending::failed)});
    const lines all = project(facts);
    CHECK(part(all, "toolcall_start 1", "end assistant toolCall c1:{} text:A | error: cut").size() == 6);
    CHECK(part(all, "tool_start c1 read {}", "turn_end error c1").size() == 5);
}

TEST_CASE("C12: an attempt that is repeated leaves nothing behind, and there is one end") {
    const fact_log facts = join({prompt("Hi"), answer(), call("c1", "read", {"{}"}), retried(1, 2'000),
                                 answer(), retried(2, 4'000), answer(), words({"A"}), done(), run_end()});
    const lines all = project(facts);
    CHECK(part(all, "end assistant toolCall c1:{} | error: overloaded", "text_start 0") ==
          lines{"end assistant toolCall c1:{} | error: overloaded", "tool_start c1 read {}",
                "tool_end c1 error Tool call was not executed: the answer failed",
                "start toolResult c1 error Tool call was not executed: the answer failed",
                "end toolResult c1 error Tool call was not executed: the answer failed", "turn_end error c1",
                "retry_start 1 of 5 in 2000: overloaded", "turn_start", "start assistant",
                "end assistant | error: overloaded", "turn_end error",
                "retry_start 2 of 5 in 4000: overloaded", "turn_start", "start assistant", "text_start 0"});
    CHECK(part(all, "end assistant text:A", "agent_end user assistant") ==
          lines{"end assistant text:A", "retry_end 2 ok", "turn_end stop", "agent_end user assistant"});
}

TEST_CASE("C12: a repeat that fails for good says so before the run ends") {
    const fact_log facts = join({prompt("Hi"), answer(), retried(1, 2'000), answer(),
                                 broken(stop_reason::auth, "no key"), run_end(run_ending::failed, "no key")});
    CHECK(part(project(facts), "end assistant | error: no key", "agent_end user assistant") ==
          lines{"end assistant | error: no key", "retry_end 1: no key", "turn_end error",
                "agent_end user assistant"});
}

TEST_CASE("C12: an abort while a repeat is waited for ends the repeat and the run") {
    const fact_log facts = join({prompt("Hi"),
                                 answer(),
                                 retried(1, 2'000),
                                 {message::event(thalweg::run_abort{})},
                                 run_end(run_ending::aborted)});
    CHECK(part(project(facts), "retry_start 1 of 5 in 2000: overloaded", "agent_end user assistant") ==
          lines{"retry_start 1 of 5 in 2000: overloaded", "retry_end 1: Request was aborted", "turn_start",
                "start assistant | aborted: Request was aborted",
                "end assistant | aborted: Request was aborted", "turn_end aborted",
                "agent_end user assistant"});
}

TEST_CASE("C14: complete calls of an aborted answer are answered, so that all calls are paired") {
    const fact_log facts = join({two_calls, broken(stop_reason::aborted), run_end(run_ending::aborted)});
    const std::string not_run = "Tool call was not executed: the answer was aborted";
    const lines all = project(facts);
    CHECK(part(all, "tool_start c1 read {}", "tool_start c2 list {}") ==
          lines{"tool_start c1 read {}", "tool_end c1 error " + not_run,
                "start toolResult c1 error " + not_run, "end toolResult c1 error " + not_run,
                "tool_start c2 list {}"});
    CHECK(all.back() == "agent_end user assistant toolResult toolResult");
}

TEST_CASE("C15, C21: progress behind a call's end, and facts about unknown calls, are dropped") {
    const fact_log late = join(
        {{message::call_progress("c1", "99%"), message::body_begin("c1"),
          message::partial_tool_call_output(frame::delta, "c1", "late"),
          message::tool_call_output("again", "c1"), message::call_settled("c1"),
          message::call_begin("c9", "read", "{}"), message::tool_call_output("who", "c9")}});
    const fact_log head = join({prompt("Go"),
                                answer(),
                                call("c1", "read", {"{}"}),
                                done(finish::tool_use),
                                begun("c1", "read"),
                                output("c1", "A"),
                                {message::call_settled("c1")}});
    const fact_log tail = join({settled({}), run_end()});
    CHECK(project(join({head, late, tail})) == project(join({head, tail})));
}

TEST_CASE("C18: a limit of turns gives no event but the end of the run") {
    const fact_log notice{message::partial_text(frame::start), message::partial_text(frame::delta, "limit"),
                          message::partial_text(frame::stop).with_stop(stop_reason::failed),
                          message::assistant_text("limit").with_stop(stop_reason::failed)};
    const fact_log facts = join({prompt("Hi"), answer(), words({"A"}), done(), notice, run_end()});
    CHECK(part(project(facts), "turn_end stop", "agent_end user assistant").size() == 2);
}

TEST_CASE("C19: under a length limit complete calls run and the cut one gets an error") {
    const std::string cut = "Tool call was not executed: its arguments were cut off";
    const fact_log facts = join({prompt("Go"), answer(), call("c1", "read", {"{}"}), cut_call("c2"),
                                 done(finish::length), begun("c1", "read"), output("c1", "A"),
                                 settled({"c1"}), run_end()});
    CHECK(part(project(facts), "end assistant toolCall c1:{} toolCall c2:{\"p\":", "turn_end length c1 c2") ==
          lines{"end assistant toolCall c1:{} toolCall c2:{\"p\":", "tool_start c1 read {}", "tool_end c1 A",
                "start toolResult c1 A", "end toolResult c1 A",
                "tool_start c2 read {\"p\":", "tool_end c2 error " + cut, "start toolResult c2 error " + cut,
                "end toolResult c2 error " + cut, "turn_end length c1 c2"});
    const fact_log alone = join({prompt("Go"), answer(), cut_call("c2"), done(finish::length), run_end()});
    CHECK(part(project(alone), "tool_start c2 read {\"p\":", "turn_end length c2").size() == 5);
}

TEST_CASE("C20: a program's own messages enter as what they are") {
    const auto customs = thalweg::custom_types<note>();
    const auto rich = agent_message::user(
        {thalweg::content_block::text("see"), thalweg::content_block::image("QUJD", "image/png")});
    const fact_log facts = join({{message::run_begin(), input_fact(agent_message::custom(note{"saved"})),
                                  input_fact(rich), input_fact(agent_message::user("Go"))},
                                 answer(),
                                 words({"A"}),
                                 done(),
                                 run_end()});
    const auto all = events(facts, customs);
    const auto& added = all.back().get_if<thalweg::agent_event::agent_end>()->messages;
    REQUIRE(added.size() == 4);
    REQUIRE(added[0].get_if<note>() != nullptr);
    CHECK(added[0].get_if<note>()->body == "saved");
    CHECK(added[1] == rich);
    CHECK(added[2] == agent_message::user("Go"));
    // Without the type it is data, and nothing is lost.
    CHECK(part(project(facts), "turn_start", "end note {\"body\":\"saved\"}").size() == 3);
}

TEST_CASE("C20: an input that cannot be read is shown as it is") {
    const fact_log facts = join(
        {{message::run_begin(), message::agent_input(R"({"role":"note","body":7})")}, run_end()});
    const auto customs = thalweg::custom_types<note>();
    CHECK(project(facts, customs).at(2) == R"(start user {"role":"note","body":7})");
}

TEST_CASE("other model messages keep their place in the answer") {
    const fact_log facts = join({prompt("Hi"),
                                 answer(),
                                 words({"A"}),
                                 {message::inline_data(thalweg::role::assistant, "QUJD", "image/png")},
                                 words({"B"}),
                                 done(),
                                 run_end()});
    const lines all = project(facts);
    CHECK(part(all, "text_end 0 A", "text_start 2").size() == 2);
    CHECK(all.at(all.size() - 3).find("image/png") != std::string::npos);
}
