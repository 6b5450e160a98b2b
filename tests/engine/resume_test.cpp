// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include "records.hpp"

namespace {

using namespace thalweg;
using namespace thalweg::testing;

const std::string exited = ":" + std::string(exited_output) + ":";

std::string made_up(const std::string& id) {
    return "tool_call_output" + exited + id + ":aborted";
}

TEST_CASE("no records make an empty state") {
    const resumed_state s = resume({});
    CHECK(s.history.empty());
    CHECK(s.carry_over.empty());
    CHECK_FALSE(s.context_closed);
    CHECK_FALSE(s.meta);
    CHECK_FALSE(s.dangling);
    CHECK(s.head.empty());
    CHECK(s.usage == token_counts());
}

TEST_CASE("the first session_meta and the last tool list are the session's head") {
    const message early = message::event(tool_list_ready{{tool_definition{.name = "one"}}});
    const message late = message::event(tool_list_ready{{tool_definition{.name = "two"}}});
    const resumed_state s = resume(records{meta("session-a"), user("1"), early, meta("session-b"), late});
    REQUIRE(s.meta);
    CHECK(s.meta->session_id == "session-a");
    REQUIRE(s.head.size() == 2);
    CHECK(s.head[0].event_if<session_meta>()->session_id == "session-a");
    CHECK(s.head[1].event_if<tool_list_ready>()->tools.at(0).name == "two");
    CHECK(words_of(s.history).empty());
}

TEST_CASE("counters come from the last token_usage, whoever asked for it") {
    const records turn = {user("1"), began(), says("a"), used(100, 100), ended()};
    CHECK(resume(turn).usage.total == 100);
    const resumed_state s = resume(turn + records{compacts(), user("P"), began(), says(""), used(160, 60),
                                                  ended(), compacted(stop_reason::failed)});
    CHECK(s.usage.total == 160);
    CHECK(s.last_request_total == 60);
    CHECK(s.first_request_total == 100);
    CHECK(s.session_turns == 1);
}

TEST_CASE("a completed request puts its input and its answer into the history") {
    const resumed_state s = resume(records{meta(), user("1")} +
                                   answered({message::thinking("t"), says("a")}) + records{user("2")});
    CHECK(words_of(s.history) == words{"text:1", "thinking:t", "text:a"});
    CHECK(words_of(s.carry_over) == words{"text:2"});
    CHECK(s.session_turns == 1);
    CHECK(s.repairs == 0);
}

TEST_CASE("answers stand behind their answer in call order, other user messages behind them") {
    const records all = records{user("1")} + answered({call("c1"), call("c2"), says("two calls")}) +
                        records{output("c2", "r2"), user("steering"), output("c1", "r1"),
                                message::image_url("u")};
    const resumed_state owed = resume(all);
    CHECK(words_of(owed.carry_over) ==
          words{"tool_call_output:r1:c1", "tool_call_output:r2:c2", "text:steering", "image_url:u"});
    CHECK(fault_of(owed).empty());
    const resumed_state taken = resume(all + answered({says("done")}));
    CHECK(words_of(taken.history) == words{"text:1", "tool_call:t:{}:c1", "tool_call:t:{}:c2",
                                           "text:two calls", "tool_call_output:r1:c1",
                                           "tool_call_output:r2:c2", "text:steering", "image_url:u",
                                           "text:done"});
    CHECK(taken.session_turns == 2);
    CHECK(fault_of(taken).empty());
}

TEST_CASE("an output recorded before its request has ended belongs to the next one") {
    const resumed_state s = resume(
        records{user("1"), began(), call("c1"), output("c1", "r1"), used(1, 1), ended()});
    CHECK(words_of(s.history) == words{"text:1", "tool_call:t:{}:c1"});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:r1:c1"});
}

TEST_CASE("a committed call without output gets a placeholder at its place") {
    const records all = records{user("1"),  began(), call("c1"),         call("c2").with_timestamp(77),
                                call("c3"), ended(), output("c3", "r3"), output("c1", "r1")};
    const resumed_state owed = resume(all);
    CHECK(words_of(owed.carry_over) ==
          words{"tool_call_output:r1:c1", made_up("c2"), "tool_call_output:r3:c3"});
    CHECK(owed.carry_over[1].timestamp() == 77);
    CHECK(owed.repairs == 1);
    const resumed_state taken = resume(all + answered({says("done")}));
    CHECK(words_of(taken.history) == words{"text:1", "tool_call:t:{}:c1", "tool_call:t:{}:c2",
                                           "tool_call:t:{}:c3", "tool_call_output:r1:c1", made_up("c2"),
                                           "tool_call_output:r3:c3", "text:done"});
    CHECK(taken.carry_over.empty());
    CHECK(taken.repairs == 1);
}

TEST_CASE("an output that comes after its placeholder was sent is left out") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1")}) + answered({says("a")}) +
                                   records{output("c1", "late")} + answered({says("b")}));
    CHECK(words_of(s.history) == words{"text:1", "tool_call:t:{}:c1", made_up("c1"), "text:a", "text:b"});
    CHECK(fault_of(s).empty());
}

TEST_CASE("of two outputs of one call the first one counts") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1")}) +
                                   records{output("c1", "r"), output("c1", "again")});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:r:c1"});
}

TEST_CASE("an output without a committed call is left out, wherever it stands") {
    CHECK(resume(records{output("x", "r")}).carry_over.empty());
    const resumed_state s = resume(records{output("x", "r"), user("1")} + answered({says("a")}));
    CHECK(words_of(s.history) == words{"text:1", "text:a"});
}

TEST_CASE("a request that was not completed leaves its input owed, as it was recorded") {
    for (const stop_reason how : {stop_reason::aborted, stop_reason::failed, stop_reason::timeout,
                                  stop_reason::malformed, stop_reason::auth}) {
        const resumed_state s = resume(records{user("1"), message::image_url("u"), began(),
                                               says("half").with_stop(how), call("c1"), output("c1", "r1"),
                                               user("2"), ended(how), aborted("aborted by user")});
        CHECK(s.history.empty());
        CHECK(words_of(s.carry_over) == words{"text:1", "image_url:u", "text:2"});
        CHECK(s.session_turns == 0);
        CHECK(s.repairs == 0);
    }
}

TEST_CASE("a turn that succeeds on a later attempt is in the history once") {
    const resumed_state s = resume(records{user("1"), began(), call("c1"), output("c1", "r"),
                                           ended(stop_reason::timeout), began(), says("bad"),
                                           ended(stop_reason::failed)} +
                                   answered({says("good")}));
    CHECK(words_of(s.history) == words{"text:1", "text:good"});
    CHECK(s.carry_over.empty());
    CHECK(s.session_turns == 1);
}

TEST_CASE("outputs that a failed request was given are owed again") {
    const resumed_state s = resume(
        records{user("1")} + answered({call("c1")}) +
        records{output("c1", "r1"), began(), says("half"), ended(stop_reason::failed)});
    CHECK(words_of(s.history) == words{"text:1", "tool_call:t:{}:c1"});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:r1:c1"});
}

TEST_CASE("a request without end is dropped, at the end of the records and before the next one") {
    const records cut = {user("1"), began(), message::thinking("t"), says("half")};
    CHECK(words_of(resume(cut).carry_over) == words{"text:1"});
    const resumed_state s = resume(cut + records{user("2")} + answered({says("a")}));
    CHECK(words_of(s.history) == words{"text:1", "text:2", "text:a"});
}

TEST_CASE("what the turn limit says is no history, and the outputs it held back are owed") {
    const resumed_state s = resume(
        records{user("1")} + answered({call("c1")}) +
        records{output("c1", "r1"),
                says("[reached max turns (1); stopping]").with_stop(stop_reason::failed)});
    CHECK(words_of(s.history) == words{"text:1", "tool_call:t:{}:c1"});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:r1:c1"});
    CHECK(words_of(s.render_list).back() == "text:[reached max turns (1); stopping]:failed");
}

TEST_CASE("a call that is closure only is no part of the context") {
    const resumed_state s = resume(records{user("1")} +
                                   answered({says("a"), call("c1").with_stop(stop_reason::failed)}) +
                                   records{output("c1", "impossible")});
    CHECK(words_of(s.history) == words{"text:1", "text:a"});
    CHECK(s.carry_over.empty());
    CHECK(s.call_ids == std::vector<text>{"c1"});
}

TEST_CASE("a stop reason that an old writer left out means completed") {
    const auto bare = parse_message(R"({"type":"model_msg","payload":{"type":"tool_call","role":"assistant",)"
                                    R"("name":"t","arguments":"{}","tool_call_id":"c1"}})",
                                    {.require_timestamp = false});
    REQUIRE(bare);
    const resumed_state s = resume(records{user("1")} + answered({bare.value()}));
    CHECK(words_of(s.carry_over) == words{made_up("c1")});
}

TEST_CASE("two calls of one answer with one id become one call and a visible note") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1"), call("c1")}));
    CHECK(words_of(s.history) ==
          words{"text:1", "tool_call:t:{}:c1", "text:[left out: a second call with the id c1]"});
    CHECK(words_of(s.carry_over) == words{made_up("c1")});
    CHECK(s.repairs == 2);
    CHECK(fault_of(s).empty());
}

TEST_CASE("an id that a later answer uses again is a call of its own") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1")}) + records{output("c1", "r")} +
                                   answered({call("c1")}) + records{output("c1", "s")});
    CHECK(words_of(s.history) ==
          words{"text:1", "tool_call:t:{}:c1", "tool_call_output:r:c1", "tool_call:t:{}:c1"});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:s:c1"});
}

TEST_CASE("all call ids are told, also those of attempts that failed") {
    const resumed_state s = resume(records{user("1"), began(), call("c1"), ended(stop_reason::failed)} +
                                   answered({call("c1#2")}));
    CHECK(s.call_ids == std::vector<text>{"c1", "c1#2"});
}

TEST_CASE("a message of an unknown type is placed by its role") {
    const auto unknown = [](const char* role) {
        return parse_message(std::string(R"({"type":"model_msg","payload":{"type":"new","role":")") + role +
                                 R"("}})",
                             {.require_timestamp = false})
            .value();
    };
    const resumed_state s = resume(records{began(), unknown("assistant"), unknown("user"), ended()});
    CHECK(s.history.size() == 1);
    CHECK(s.carry_over.size() == 1);
    CHECK(to_json(s.carry_over.at(0)).find(R"("role":"user")") != std::string::npos);
}

TEST_CASE("frames, children's messages and unknown events change nothing") {
    const records plain = records{user("1")} + answered({says("a")});
    records mixed = {user("1"),
                     message::partial_text(frame::start),
                     says("child").with_origin_prefix("session-c"),
                     began(),
                     message::event(subagent{"session-c"}),
                     says("a"),
                     message::approval_decision(decision::allow, "x"),
                     ended()};
    CHECK(text_of(resume(mixed)) == text_of(resume(plain)));
}

TEST_CASE("a user interface sees failed attempts, the limit's notice and aborts") {
    const resumed_state s = resume(
        records{meta(), user("1"), began(), says("half").with_stop(stop_reason::aborted), used(1, 1),
                ended(stop_reason::aborted), aborted("aborted by user"), user("2")} +
        answered({says("a")}));
    CHECK(words_of(s.render_list) ==
          words{"text:1", "text:half:aborted", "abort:aborted by user", "text:2", "text:a"});
}

TEST_CASE("resuming takes time in proportion to the records, whatever they are") {
    records many;
    for (int i = 0; i < 100'000; ++i)
        many.push_back(user("u"));
    for (int i = 0; i < 50'000; ++i) {
        many.push_back(began());
        many.push_back(ended(stop_reason::failed));
    }
    many.push_back(compacts());
    for (int i = 0; i < 50'000; ++i) {
        many.push_back(user("P"));
        many.push_back(output("x", "repair"));
        many.push_back(began());
    }
    const resumed_state s = resume(many); // a square of this would not end within the test's limit
    CHECK(s.carry_over.size() == 100'000);
}

} // namespace
