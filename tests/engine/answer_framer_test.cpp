// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include "engine/framing.hpp"

#include <thalweg/engine/answer_framer.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace thalweg;

namespace {

/// Feeds deltas and keeps the messages; remembers the calls in the order in which they were to be decided.
class framed {
public:
    framed& feed(delta d) {
        for (bool consumed = false; !consumed;) {
            consumed = framer.step(d);
            take();
        }
        return *this;
    }
    answer_framer::verdict finish(const model_outcome& outcome) {
        auto verdict = framer.finish(outcome);
        take();
        return verdict;
    }

    void settle() {
        framer.settle();
        take();
    }

    id_registry ids;
    answer_framer framer{ids};
    words seen;
    std::vector<message> messages;
    words to_decide;

private:
    void take() {
        for (message& m : framer.pending()) {
            seen.push_back(word_of(m));
            messages.push_back(std::move(m));
        }
        framer.pending().clear();
        if (auto call = framer.finished_call()) {
            to_decide.push_back(call->tool_call_id().str());
            seen.push_back("decide:" + call->tool_call_id().str());
        }
    }
};

model_outcome length_cut() {
    return model_outcome::completed(finish::length);
}

} // namespace

TEST_CASE("content opens a block and another kind closes it") {
    framed f;
    f.feed(delta::thinking("a")).feed(delta::text("b")).feed(delta::text("c"));
    f.finish(model_outcome::completed());
    CHECK(f.seen == words{"partial_thinking:start", "partial_thinking:delta:a", "partial_thinking:stop",
                          "thinking:a", "partial_text:start", "partial_text:delta:b", "partial_text:delta:c",
                          "partial_text:stop", "text:bc"});
}

TEST_CASE("a call that is over is decided about before the next block begins") {
    framed f;
    f.feed(delta::call("x", "t")).feed(delta::arguments("{}")).feed(delta::call("y", "t"));
    f.finish(model_outcome::completed());
    CHECK(f.seen == words{"partial_tool_call:start:t:x", "partial_tool_call:delta:{}:x",
                          "partial_tool_call:stop:x", "tool_call:t:{}:x", "decide:x",
                          "partial_tool_call:start:t:y", "partial_tool_call:delta:{}:y",
                          "partial_tool_call:stop:y", "tool_call:t:{}:y", "decide:y"});
}

TEST_CASE("end closes a block at once, and the same kind again is a new block") {
    framed f;
    f.feed(delta::text("a")).feed(delta::end()).feed(delta::text("b"));
    CHECK(f.framer.segments().size() == 1);
    f.finish(model_outcome::completed());
    CHECK(f.framer.segments().size() == 2);
}

TEST_CASE("empty deltas leave no trace") {
    framed f;
    f.feed(delta::text("")).feed(delta::thinking("")).feed(delta::end());
    f.finish(model_outcome::completed());
    CHECK(f.seen.empty());
}

TEST_CASE("a failing answer closes what is open with its status and decides nothing") {
    const std::pair<model_outcome, std::string> ends[] = {{model_outcome::failed("no"), "failed"},
                                                          {model_outcome::timeout("late"), "timeout"},
                                                          {model_outcome::malformed("odd"), "malformed"},
                                                          {model_outcome::auth("who"), "auth"},
                                                          {model_outcome::aborted(), "aborted"}};
    for (const auto& [outcome, name] : ends) {
        framed f;
        f.feed(delta::call("x", "t")).feed(delta::arguments("{}"));
        const auto verdict = f.finish(outcome);
        CHECK(to_string(verdict.status) == name);
        CHECK(f.seen.back() == "tool_call:t:{}:x:" + name);
        CHECK(f.to_decide.empty());
    }
}

TEST_CASE("an open block without content gives no complete message when the answer fails") {
    framed f;
    f.feed(delta::begin_text());
    f.finish(model_outcome::failed("no"));
    CHECK(f.seen == words{"partial_text:start", "partial_text:stop:failed"});
}

TEST_CASE("arguments that end early make a finished answer malformed, wherever they are cut") {
    const std::string whole = R"({"city":"Zürich \ud83d\ude00","days":[1,2.5e3,{"a":null}],"t":true})";
    for (std::size_t cut = 1; cut < whole.size(); ++cut) {
        INFO("cut at " << cut);
        for (const bool said_end : {false, true}) {
            framed f;
            f.feed(delta::call("x", "t")).feed(delta::arguments(text(whole.substr(0, cut))));
            if (said_end) f.feed(delta::end());
            CHECK(f.to_decide.empty());
            const auto verdict = f.finish(model_outcome::completed(finish::tool_use));
            CHECK(verdict.status == stop_reason::malformed);
            CHECK(verdict.why.find("'t'") != std::string::npos);
            CHECK(f.to_decide.empty());
            CHECK(f.messages.back().stop() == stop_reason::malformed);
        }
    }
}

TEST_CASE("a length stop drops the cut call, keeps the answer and runs the complete calls") {
    framed f;
    f.feed(delta::call("x", "t")).feed(delta::arguments("{}")).feed(delta::end());
    f.feed(delta::call("y", "t")).feed(delta::arguments(R"({"a":)"));
    const auto verdict = f.finish(length_cut());
    CHECK(verdict.status == stop_reason::completed);
    CHECK(f.to_decide == words{"x"});
    CHECK(f.seen.back() == R"(tool_call:t:{"a"::y:failed)");
}

TEST_CASE("a length stop marks the last open text as failed and the answer as committed") {
    framed f;
    f.feed(delta::text("half a sen"));
    const auto verdict = f.finish(length_cut());
    CHECK(verdict.status == stop_reason::completed);
    CHECK(f.seen.back() == "text:half a sen:failed");
}

TEST_CASE("what a limit cut is failed also where the provider said its end in the same breath") {
    framed text_cut;
    text_cut.feed(delta::text("half a sen")).feed(delta::end()).feed(delta::usage({.total = 3}));
    CHECK(text_cut.finish(length_cut()).status == stop_reason::completed);
    CHECK(text_cut.seen.back() == "text:half a sen:failed");
    framed filtered;
    filtered.feed(delta::thinking("a")).feed(delta::end()).feed(delta::text("b")).feed(delta::end());
    filtered.finish(model_outcome::completed(finish::filtered));
    CHECK(filtered.seen.back() == "text:b:failed");
    CHECK(filtered.framer.segments().front().stop() == stop_reason::completed);
}

TEST_CASE("a text that has ended is complete once the model waits, or whatever happens to the answer later") {
    framed settled;
    settled.feed(delta::text("a")).feed(delta::end());
    CHECK(settled.seen.back() == "partial_text:delta:a");
    settled.settle();
    CHECK(settled.seen.back() == "text:a");
    settled.finish(length_cut());
    CHECK(settled.seen.back() == "text:a");
    framed still_open;
    still_open.feed(delta::text("a"));
    still_open.settle();
    CHECK(still_open.seen.back() == "partial_text:delta:a");
    framed broken;
    broken.feed(delta::text("a")).feed(delta::end());
    broken.finish(model_outcome::failed("no"));
    CHECK(broken.seen.back() == "text:a");
}

TEST_CASE("a call that a limit leaves open runs if its arguments are whole, and not if there are none") {
    framed whole;
    whole.feed(delta::call("x", "t")).feed(delta::arguments("{}"));
    whole.finish(length_cut());
    CHECK(whole.to_decide == words{"x"});
    framed nothing;
    nothing.feed(delta::call("x", "t"));
    nothing.finish(length_cut());
    CHECK(nothing.to_decide.empty());
    CHECK(nothing.messages.back().stop() == stop_reason::failed);
}

TEST_CASE("a call that is cut by the next block is closed as malformed and so is the answer") {
    framed f;
    f.feed(delta::call("x", "t")).feed(delta::arguments("{")).feed(delta::text("but"));
    CHECK(f.finish(model_outcome::completed()).status == stop_reason::malformed);
    CHECK(f.to_decide.empty());
}

TEST_CASE("complete arguments that are no object are committed: the tool run refuses them") {
    for (const char* arguments : {"42", "[1]", "\"x\"", "null", "{]", "{} {}", "nonsense"}) {
        framed f;
        f.feed(delta::call("x", "t")).feed(delta::arguments(arguments)).feed(delta::end());
        CHECK(f.finish(model_outcome::completed()).status == stop_reason::completed);
        CHECK(f.to_decide == words{"x"});
    }
}

TEST_CASE("a call without arguments says so in a delta, so that pieces and whole agree") {
    framed f;
    f.feed(delta::call("x", "t")).feed(delta::end());
    CHECK(f.seen == words{"partial_tool_call:start:t:x", "partial_tool_call:delta:{}:x",
                          "partial_tool_call:stop:x", "tool_call:t:{}:x", "decide:x"});
}

TEST_CASE("ids are unique in the session and the provider's own is kept beside") {
    framed f;
    for (const char* id : {"a", "a", "", "a", "a#2", ""})
        f.feed(delta::call(id, "t")).feed(delta::end());
    f.finish(model_outcome::completed());
    CHECK(f.to_decide == words{"a", "a#2", "call_1", "a#3", "a#2#2", "call_2"});
    CHECK(f.framer.segments()[1].provider_id() == "a");
    CHECK(f.framer.segments()[4].provider_id() == "a#2");
}

TEST_CASE("whole messages pass unchanged but for a call's id") {
    framed f;
    f.feed(delta::text("open")).feed(delta::whole(message::assistant_text("whole")));
    f.feed(delta::whole(message::tool_call("t", "{}", "x")))
        .feed(delta::whole(message::tool_call("t", "{}", "x")));
    f.finish(model_outcome::completed());
    CHECK(f.seen == words{"partial_text:start", "partial_text:delta:open", "partial_text:stop", "text:open",
                          "text:whole", "tool_call:t:{}:x", "decide:x", "tool_call:t:{}:x#2", "decide:x#2"});
}

TEST_CASE("fidelity goes on the complete message, collects, and alone makes a thinking block") {
    framed f;
    f.feed(delta::thinking("t"))
        .feed(delta::fidelity(R"({"a":1,"b":{"z":1.50}})"))
        .feed(delta::fidelity(R"({"a":2})"));
    f.feed(delta::end()).feed(delta::fidelity(R"({"data":"x"})"));
    f.finish(model_outcome::completed());
    CHECK(f.framer.segments()[0].fidelity() == R"({"a":2,"b":{"z":1.50}})");
    CHECK(f.framer.segments()[1].kind() == kind::thinking);
    CHECK(f.framer.segments()[1].fidelity() == R"({"data":"x"})");
    for (const message& m : f.messages) {
        if (m.is_partial()) CHECK(m.fidelity().empty());
    }
}

TEST_CASE("the last word about usage counts") {
    framed f;
    CHECK(f.framer.usage() == token_counts{});
    f.feed(delta::usage({.total = 3})).feed(delta::usage({.total = 5}));
    CHECK(f.framer.usage().total == 5);
}
