// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/engine/context_repair.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/context_checker.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

message said(const char* words) {
    return message::user_text(text(words));
}
message call(const char* id) {
    return message::tool_call(text("t"), text("{}"), text(id));
}
message output(const char* id, const char* words = "out") {
    return message::tool_call_output(text(words), text(id));
}
message spoken(const char* words) {
    return message::assistant_text(text(words));
}

struct broken {
    const char* what;
    std::vector<message> history;
    std::vector<message> carry_over;
    std::size_t repairs;
};

std::vector<broken> all_broken() {
    return {
        {"no output", {said("go"), call("a"), spoken("so")}, {}, 1},
        {"one of two", {said("go"), call("a"), call("b"), output("b"), spoken("so")}, {}, 1},
        {"an output without call", {said("go"), output("a"), spoken("so")}, {}, 1},
        {"two outputs", {said("go"), call("a"), output("a"), output("a"), spoken("so")}, {}, 1},
        {"a late output",
         {said("go"), call("a"), said("and"), spoken("so"), output("a"), spoken("so")},
         {},
         2},
        {"two calls with one id", {said("go"), call("a"), call("a"), output("a"), spoken("so")}, {}, 1},
        {"a call that never ran",
         {said("go"), call("a").with_stop(stop_reason::aborted), spoken("so")},
         {},
         1},
        {"nothing at the end", {said("go"), call("a")}, {}, 1},
        {"half at the end", {said("go"), call("a"), call("b"), output("b")}, {}, 1},
        {"a foreign output is owed", {said("go"), spoken("so")}, {output("x"), said("and")}, 1},
    };
}

} // namespace

TEST_CASE("whatever is wrong with the pairs of a context, it is in order when it is repaired") {
    for (broken& each : all_broken()) {
        INFO(each.what);
        CHECK(repair_context(each.history, each.carry_over) == each.repairs);
        CHECK(context_fault(each.history, each.carry_over) == "");
        CHECK(repair_context(each.history, each.carry_over) == 0);
    }
}

TEST_CASE("a context in order stays as it is, and outputs find their place") {
    std::vector<message> history{said("go"),  call("a"),   call("b"), output("b"),
                                 output("a"), said("and"), call("c"), call("d")};
    std::vector<message> owed{said("more"), output("d"), output("c")};
    CHECK(repair_context(history, owed) == 0);
    REQUIRE(history.size() == 8);
    CHECK(history[3].tool_call_id() == "a");
    CHECK(history[4].tool_call_id() == "b");
    REQUIRE(owed.size() == 3);
    CHECK(owed[0].tool_call_id() == "c");
    CHECK(owed[1].tool_call_id() == "d");
    CHECK(owed[2].content() == "more");
}

CO_TEST_CASE("a session that is given a broken history never sends it as it is, and says so once") {
    for (broken& each : all_broken()) {
        INFO(each.what);
        scripted_model model{answer().text("one"), answer().text("two")}; // it checks its contexts
        trace::memory_sink sink;
        session chat(std::ref(model), {.trace = &sink});
        resumed_state from;
        from.history = std::move(each.history);
        from.carry_over = std::move(each.carry_over);
        const auto restored = chat.restore(std::move(from));
        CHECK(restored);
        auto first = co_await collect(chat.run("on"));
        CHECK(first.result.ok());
        const auto notices = of_kind(first, kind::notice);
        REQUIRE(notices.size() == 1);
        CHECK(notices.front().event_if<notice>()->code == "history_repaired");
        CHECK(context_fault(model.request(0).history, model.request(0).input) == "");
        auto second = co_await collect(chat.run("on"));
        CHECK(of_kind(second, kind::notice).empty());
        CHECK(take_complaints().empty());
    }
}
