// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include "records.hpp"

namespace {

using namespace thalweg;
using namespace thalweg::testing;

const records first_turn = records{meta(), user("1"), began(), says("a"), used(100, 100), ended()};

records closed_by(const records& outputs) {
    return first_turn + records{compacts(), user("P")} + answered(outputs) + records{compacted()};
}

TEST_CASE("a completed compaction as last record closes the file") {
    const resumed_state s = resume(
        closed_by({says("[summary]the "), says("story[/summary]"), used(150, 50)}));
    CHECK(s.context_closed);
    CHECK(s.came_from_compaction);
    CHECK(s.history.empty());
    CHECK(s.carry_over.empty());
    CHECK(s.render_list.empty());
    CHECK(s.session_turns == 0);
    CHECK(s.last_request_total == 0);
    CHECK(s.usage.total == 150);
    REQUIRE(s.pending_summary);
    CHECK(s.pending_summary->content() == "[context_summary]\nthe story\n[/context_summary]");
    CHECK(s.meta);
}

TEST_CASE("a closed file still tells the ids of its calls") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1")}) +
                                   records{output("c1", "r"), compacts()} + answered({says("s")}) +
                                   records{compacted()});
    CHECK(s.context_closed);
    CHECK(s.call_ids == std::vector<text>{"c1"});
}

TEST_CASE("a context that was thrown away leaves no summary") {
    const resumed_state s = resume(first_turn +
                                   records{compacts(compaction_reason::turns, compaction_mode::discard),
                                           compacted(stop_reason::completed, compaction_mode::discard)});
    CHECK(s.context_closed);
    CHECK_FALSE(s.pending_summary);
    CHECK(s.history.empty());
    CHECK(s.usage.total == 100);
}

TEST_CASE("only the last completed request is the summary, even if it says nothing") {
    const records said = {says("[summary]earlier[/summary]")};
    const records silent = {message::thinking("[summary]thought[/summary]")};
    const resumed_state s = resume(first_turn + records{compacts(), user("P")} + answered(said) +
                                   answered(silent) + records{compacted()});
    CHECK_FALSE(s.context_closed);
    CHECK_FALSE(s.pending_summary);
    const resumed_state t = resume(first_turn + records{compacts(), user("P")} + answered(said) +
                                   records{began(), says("half"), ended(stop_reason::timeout), compacted()});
    CHECK(t.context_closed);
    CHECK(t.pending_summary->content() == "[context_summary]\nearlier\n[/context_summary]");
}

TEST_CASE("a closure without a summary is void and the context goes on") {
    const resumed_state s = resume(closed_by({says("[summary] [/summary]")}));
    CHECK_FALSE(s.context_closed);
    CHECK_FALSE(s.came_from_compaction);
    CHECK(words_of(s.history) == words{"text:1", "text:a", "text:P", "text:[summary] [/summary]"});
    CHECK(s.session_turns == 1);
    CHECK_FALSE(s.dangling);
}

TEST_CASE("records behind a completed compaction open the file again") {
    const resumed_state s = resume(closed_by({says("[summary]s[/summary]")}) + records{user("2")});
    CHECK_FALSE(s.context_closed);
    CHECK(words_of(s.carry_over) == words{"text:2"});
}

TEST_CASE("a compaction that did not complete does not close the file") {
    const resumed_state s = resume(first_turn +
                                   records{compacts(), user("P"), began(), says("[summary]s[/summary]"),
                                           ended(stop_reason::failed), compacted(stop_reason::failed)});
    CHECK_FALSE(s.context_closed);
    CHECK_FALSE(s.dangling);
    CHECK(words_of(s.history) == words{"text:1", "text:a"});
    CHECK(s.carry_over.empty());
    CHECK(s.session_turns == 1);
}

TEST_CASE("a compaction without end is told, with reason and mode, as failed") {
    const records cut = first_turn + records{compacts(compaction_reason::manual), user("P"), began(),
                                             says("[summary]never used[/summary]")};
    const resumed_state s = resume(cut);
    REQUIRE(s.dangling);
    CHECK(s.dangling->reason == compaction_reason::manual);
    CHECK(s.dangling->mode == compaction_mode::summarize);
    CHECK(s.dangling->status == stop_reason::failed);
    CHECK_FALSE(s.dangling->attempt);
    CHECK_FALSE(s.dangling->error_message);
    CHECK(words_of(s.history) == words{"text:1", "text:a"});
    CHECK(s.carry_over.empty());
}

TEST_CASE("the prompt of a compaction is never owed, however far its process got") {
    const records span = {compacts(),   user("P"), began(), says("half"), ended(stop_reason::timeout),
                          user("note"), began()};
    for (std::size_t n = 0; n <= span.size(); ++n) {
        const records cut = first_turn + records(span.begin(), span.begin() + static_cast<std::ptrdiff_t>(n));
        CAPTURE(n);
        CHECK(resume(cut).carry_over.empty());
        CHECK(resume(cut + records{compacted(stop_reason::failed), user("2")}).carry_over.size() == 1);
        CHECK(
            words_of(resume(cut + records{compacted(stop_reason::failed), user("2")} + answered({says("b")}))
                         .history) == words{"text:1", "text:a", "text:2", "text:b"});
    }
}

TEST_CASE("outputs that a failed compaction was given are owed again") {
    const resumed_state s = resume(records{user("1")} + answered({call("c1")}) +
                                   records{output("c1", "r1"), compacts(), user("P"), began(),
                                           ended(stop_reason::aborted), compacted(stop_reason::aborted)});
    CHECK(words_of(s.history) == words{"text:1", "tool_call:t:{}:c1"});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:r1:c1"});
}

TEST_CASE("what an interrupted run left is still owed after a failed compaction that folded it") {
    const resumed_state s = resume(records{user("1"), began(), ended(stop_reason::aborted),
                                           aborted("aborted by user"), compacts(compaction_reason::manual),
                                           user("P"), began(), ended(stop_reason::failed),
                                           compacted(stop_reason::failed)});
    CHECK(s.history.empty());
    CHECK(words_of(s.carry_over) == words{"text:1"});
}

TEST_CASE("an unusable summary was committed and is history with its repair") {
    const records cut = first_turn + records{compacts(), user("P")} + answered({call("x1")});
    CHECK(words_of(resume(cut).history) == words{"text:1", "text:a", "text:P", "tool_call:t:{}:x1"});
    CHECK(resume(cut).carry_over.size() == 1); // a placeholder: the repair was not recorded
    const resumed_state s = resume(cut + records{output("x1", "[tool error] no"), user("note"), began(),
                                                 says("half"), ended(stop_reason::failed),
                                                 compacted(stop_reason::failed)});
    CHECK(words_of(s.carry_over) == words{"tool_call_output:[tool error] no:x1"});
    CHECK(s.session_turns == 1);
    CHECK(fault_of(s).empty());
}

TEST_CASE("an attempt behind a broken one gets the compaction's prompt, as it did") {
    const resumed_state s = resume(first_turn +
                                   records{compacts(), user("P"), began(), ended(stop_reason::timeout)} +
                                   answered({says("")}) + records{compacted(stop_reason::failed)});
    CHECK(words_of(s.history) == words{"text:1", "text:a", "text:P", "text"});
}

TEST_CASE("a compaction that begins where another one or a request is open ends those") {
    const resumed_state s = resume(records{user("1"), began(), says("half"), compacts(), user("P"),
                                           compacts(compaction_reason::manual), user("Q")});
    CHECK(words_of(s.carry_over) == words{"text:1"});
    REQUIRE(s.dangling);
    CHECK(s.dangling->reason == compaction_reason::manual);
}

} // namespace
