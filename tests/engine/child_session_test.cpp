// SPDX-License-Identifier: BSL-1.0

// Sessions as tools of sessions (engine §8).

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <algorithm>
#include <stdexcept>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;

namespace {

/// A session with all it needs.
struct person {
    explicit person(const char* id) { options.meta = meta_of(id), options.trace = &sink; }
    session<scripted_model&, family&>& wake() {
        if (!chat) chat.emplace(std::ref(model), std::ref(tools), options);
        return *chat;
    }
    scripted_model model;
    family tools;
    trace::memory_sink sink;
    session_options options;
    std::optional<session<scripted_model&, family&>> chat;
};

std::string path_of(std::span<const text> origin) {
    std::string path;
    for (const text& hop : origin)
        path += "/" + hop.str();
    return path;
}

/// The messages with exactly this origin, as the session itself gave them.
std::vector<message> said_by(const std::vector<message>& all, const std::string& path) {
    std::vector<message> found;
    for (const message& m : all) {
        if (path_of(m.origin()) == path) found.push_back(m);
    }
    return found;
}

std::string only_output(const std::vector<message>& all) {
    const auto mine = outputs(said_by(all, ""));
    return mine.size() == 1 ? word_of(mine.front()) : std::to_string(mine.size()) + " outputs";
}

/// Remembers who asked, and lets nobody ask twice at a time.
class doorman {
public:
    task<decision> operator()(const tool_call& call) {
        const std::string who = path_of(call.origin());
        asked.push_back(who + ":" + call.id().str());
        CHECK(++open_[who] == 1);
        co_await sleep_for(20ms);
        --open_[who];
        co_return decision::allow;
    }
    std::vector<std::string> asked;

private:
    std::map<std::string, int> open_;
};

} // namespace

CO_TEST_CASE("a question from any depth reaches the root's approver with the way it came, one at a time for "
             "each child") {
    person root("r"), a("a"), b("b"), c("c");
    root.options.max_depth = 3;
    script(root.model, answer().call("1", "a"), answer().text("done"));
    script(a.model, answer().call("2", "b").call("3", "t"), answer().text("A"));
    script(b.model, answer().call("4", "c"), answer().text("B"));
    script(c.model, answer().call("5", "t").call("6", "t"), answer().text("C"));
    root.tools.child("a", a.wake());
    a.tools.child("b", b.wake()).tool("t", after(5ms, "out"));
    b.tools.child("c", c.wake());
    c.tools.tool("t", after(5ms, "out"));
    doorman asks;
    auto all = co_await collect(root.wake().run("go", {.approve = std::ref(asks)}));
    CHECK(all.result.ok());
    std::sort(asks.asked.begin(), asks.asked.end());
    CHECK(asks.asked == std::vector<std::string>{"/a/b/c:5", "/a/b/c:6", "/a/b:4", "/a:2", "/a:3", ":1"});
    CHECK(only_output(all.items) == "tool_call_output:A:1");
    for (const char* path : {"/a", "/a/b", "/a/b/c"}) {
        INFO(path);
        const auto said = said_by(all.items, path);
        REQUIRE(said.size() > 3);
        CHECK(said.front().kind() == kind::session_meta);
        CHECK(said.at(1).sender() == "parent_agent");
        CHECK(word_of(said.back()) == "request_end:completed");
        CHECK(of_kind(said, kind::session_meta).size() == 1);
    }
}

CO_TEST_CASE("each session records itself and points to its direct children, and nobody records another "
             "one's messages") {
    person root("r"), a("a"), b("b");
    root.options.max_depth = 2;
    script(root.model, answer().call("1", "a"), answer().text("done"));
    script(a.model, answer().call("2", "b"), answer().text("A"));
    script(b.model, answer().text("B"));
    root.tools.child("a", a.wake());
    a.tools.child("b", b.wake());
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    const std::pair<person*, const char*> pointers[] = {{&root, "a"}, {&a, "b"}, {&b, nullptr}};
    for (const auto& [who, child] : pointers) {
        REQUIRE(who->sink.files().size() == 1);
        const auto& records = who->sink.files()[0];
        CHECK(records.front().kind() == kind::session_meta);
        CHECK(
            std::all_of(records.begin(), records.end(), [](const message& m) { return m.origin().empty(); }));
        CHECK(of_kind(records, kind::session_meta).size() == 1);
        const auto found = of_kind(records, kind::subagent);
        REQUIRE(found.size() == (child != nullptr ? 1 : 0));
        if (child != nullptr) CHECK(found[0].event_if<subagent>()->session_id == child);
    }
    CHECK(of_kind(all, kind::subagent).empty());
    CHECK(a.sink.files()[0].front().event_if<session_meta>()->source == text("subagent"));
    CHECK(word_of(a.sink.files()[0].at(1)) == "text:{}");
}

CO_TEST_CASE("without an approver nobody's child runs") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a"), answer().text("done"));
    root.tools.child("a", a.wake());
    auto all = co_await collect(root.wake().run("go"));
    CHECK(only_output(all.items) == "tool_call_output:Tool call denied by user.:1:aborted");
    CHECK(a.model.requests() == 0);
}

CO_TEST_CASE("a session may not lie deeper than the root allows, and is told so") {
    for (const int depth : {0, 1, 2}) {
        person root("r"), a("a"), b("b");
        root.options.max_depth = depth;
        a.options.max_depth = 99; // the root's counts
        script(root.model, answer().call("1", "a"), answer().text("done"));
        script(a.model, answer().call("2", "b"), answer().text("A"));
        script(b.model, answer().text("B"));
        root.tools.child("a", a.wake());
        a.tools.child("b", b.wake());
        auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
        CHECK(all.result.ok());
        CHECK(a.model.requests() == (depth >= 1 ? 2 : 0));
        CHECK(b.model.requests() == (depth >= 2 ? 1 : 0));
        const std::string limit = "[subagent error: sessions may lie at most " + std::to_string(depth) +
                                  " deep under the first one]";
        if (depth == 0) CHECK(only_output(all.items) == "tool_call_output:" + limit + ":1:failed");
        if (depth == 1) {
            const auto refused = outputs(said_by(all.items, "/a"));
            CHECK(words_of(refused) == words{"tool_call_output:" + limit + ":2:failed"});
        }
    }
}

CO_TEST_CASE("stopping the root stops the whole tree within its grace, however deaf the deepest tool") {
    person root("r"), a("a"), b("b");
    root.options.max_depth = 2;
    script(root.model, answer().call("1", "a"), answer().text("next"));
    script(a.model, answer().call("2", "b"), answer().text("a again"));
    script(b.model, answer().call("3", "t"), answer().text("b again"));
    root.tools.child("a", a.wake());
    a.tools.child("b", b.wake());
    b.tools.tool("t", tool_script().output("x").wait_through(1h));
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(100ms, [&] { CHECK(root.chat->interrupt()); }));
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    const auto end = co_await now();
    CHECK(end == 100ms + 2000ms * 9 / 16); // each level leaves the one above a quarter to say so
    CHECK(all.result.how() == how::interrupted);
    for (person* each : {&root, &a, &b}) {
        CHECK_FALSE(each->chat->is_running());
        CHECK(word_of(each->sink.files()[0].back()) == "abort:aborted by user");
    }
    CHECK(call_ids(b.chat->carry_over()) == ids{"3"});
    auto next = co_await collect(root.chat->run("on", {.approve = allow_all}));
    CHECK(next.result.ok());
}

CO_TEST_CASE("a child that is stopped by itself fails its call with the reason, and the parent goes on") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a"), answer().text("done"));
    script(a.model, answer().text("half").hang());
    root.tools.child("a", a.wake());
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(100ms, [&] { CHECK(a.chat->interrupt()); }));
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    CHECK(only_output(all.items) == "tool_call_output:half\n[subagent aborted: aborted by user]:1:failed");
}

CO_TEST_CASE("two children side by side interleave, and each is whole for itself") {
    person root("r"), a("a"), b("b");
    script(root.model, answer().call("1", "a").call("2", "b"), answer().text("done"));
    script(a.model, answer().text("1", "3", "5").with_gap(20ms));
    script(b.model, answer().wait(10ms).text("2", "4", "6").with_gap(20ms));
    root.tools.child("a", a.wake()).child("b", b.wake());
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    std::string order;
    for (const message& m : all.items) {
        if (!m.origin().empty() && m.kind() == kind::partial_text) order += m.content().str();
    }
    CHECK(order == "123456");
    CHECK(words_of(outputs(all)) == words{"tool_call_output:135:1", "tool_call_output:246:2"});
    CHECK(words_of_request(root.model, 1) == words{"tool_call_output:135:1", "tool_call_output:246:2"});
}

CO_TEST_CASE("a child that is busy refuses a second call by name") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a").call("2", "a"), answer().text("done"));
    script(a.model, answer().wait(50ms).text("A"));
    root.tools.child("a", a.wake());
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    const words said = words_of(outputs(said_by(all.items, "")));
    REQUIRE(said.size() == 2);
    CHECK(said[0].starts_with("tool_call_output:[subagent error: another run of this session is going on"));
    CHECK(said[0].ends_with(":2:failed"));
    CHECK(said[1] == "tool_call_output:A:1");
}

CO_TEST_CASE("a child retries for itself, and its tokens are its own") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a").usage({.total = 10}),
           answer().text("done").usage({.total = 20}));
    script(a.model, answer().text("h").ends(model_outcome::failed("busy").with_usage({.total = 3})),
           answer().text("A").usage({.total = 4}));
    root.tools.child("a", a.wake());
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    CHECK(root.chat->usage().total == 30);
    CHECK(all.result.usage().total == 30);
    CHECK(a.chat->usage().total == 7);
    const auto ends = of_kind(said_by(all.items, "/a"), kind::request_end);
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].event_if<request_end>()->retry_in_ms == 2000);
    CHECK(ends[1].event_if<request_end>()->attempt == 2);
    CHECK(a.sink.files()[0].size() > 5);
}

CO_TEST_CASE("a child that is called again goes on with its context and is announced once") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a"), answer().call("2", "a", R"({"n":2})"), answer().text("done"));
    script(a.model, answer().text("first"), answer().text("second"));
    root.tools.child("a", a.wake());
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    CHECK(of_kind(all, kind::session_meta).size() == 1);
    CHECK(of_kind(root.sink.files()[0], kind::subagent).size() == 1);
    CHECK(words_of(a.model.request(1).history) == words{"text:{}", "text:first"});
    CHECK(words_of_request(a.model, 1) == words{R"(text:{"n":2})"});
    CHECK(words_of(outputs(said_by(all.items, ""))) ==
          words{"tool_call_output:first:1", "tool_call_output:second:2"});
}

CO_TEST_CASE("a child that is interrupted keeps what it owes for its next call") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a"), answer().call("2", "a"), answer().text("done"));
    script(a.model, answer().text("half").hang(), answer().text("whole"));
    root.tools.child("a", a.wake());
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(100ms, [&] { CHECK(root.chat->interrupt()); }));
    stream_checker checker; // of both runs: the child is announced in the first one
    for (const char* prompt : {"go", "on"}) {
        auto run = root.wake().run(text(prompt), {.approve = allow_all});
        while (auto m = co_await run.next())
            checker.feed(*m);
        checker.finish();
        CHECK(run.result().ok() == (std::string_view(prompt) == "on"));
    }
    CHECK(checker.report() == "");
    CHECK(words_of_request(a.model, 1) ==
          words{"text:[turn_aborted]\n  [user_input]{}[/user_input]\n  [text]half[/text]\n[/turn_aborted]",
                "text:{}"});
}

CO_TEST_CASE("each way a child can end gives one output that says how") {
    struct {
        providers::scripted_answer first;
        int max_turns;
        const char* output;
    } cases[] = {
        {answer().text("A"), -1, "tool_call_output:A:1"},
        {answer().thinking("hm"), -1, "tool_call_output:[subagent finished without a text answer]:1"},
        {answer().ends(model_outcome::failed("no luck")), -1,
         "tool_call_output:[subagent aborted: llm request failed after 0 retries: no luck]:1:failed"},
        {answer().text("A").ends(model_outcome::auth("no key")), -1,
         "tool_call_output:A\n[subagent aborted: llm request error: no key]:1:failed"},
        {answer().call("k", "t"), 1, "tool_call_output:[reached max turns (1); stopping]:1"},
    };
    for (auto& each : cases) {
        person root("r"), a("a");
        a.options.max_turns = each.max_turns;
        a.options.retry.most = 0;
        script(root.model, answer().call("1", "a"), answer().text("done"));
        a.model.add(std::move(each.first));
        a.tools.tool("t", after(1ms, "out"));
        root.tools.child("a", a.wake());
        auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
        CHECK(all.result.ok());
        CHECK(only_output(all.items) == each.output);
    }
}

CO_TEST_CASE("a child whose tools cannot even be listed fails its call and not the program") {
    struct broken {
        std::vector<tool_definition> tools() const { throw std::runtime_error("no toolbox"); }
        stream<chunk, tool_result> execute(tool_call, tool_context) { co_return tool_result::completed(); }
    };
    person root("r");
    scripted_model model(answer().text("never"));
    session a(std::ref(model), broken());
    script(root.model, answer().call("1", "a"), answer().text("done"));
    root.tools.child("a", a);
    auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
    CHECK(all.result.ok());
    CHECK(only_output(all.items) ==
          "tool_call_output:[subagent error: the environment could not list its tools: it threw: no toolbox; "
          "nothing was begun, and a later run asks again]:1:failed");
}

CO_TEST_CASE("a child that was announced in an earlier run needs no second announcement") {
    person root("r"), a("a");
    script(root.model, answer().call("1", "a"), answer().text("done"), answer().call("2", "a"),
           answer().text("done"));
    script(a.model, answer().text("one"), answer().text("two"));
    root.tools.child("a", a.wake());
    for (const char* said : {"tool_call_output:one:1", "tool_call_output:two:2"}) {
        auto all = co_await collect(root.wake().run("go", {.approve = allow_all}));
        CHECK(all.result.ok());
        CHECK(only_output(all.items) == said);
    }
    CHECK(take_complaints().empty());
}

CO_TEST_CASE("a tool's definition may give its calls more time than others have, and the session decides") {
    struct slow_tools {
        std::vector<tool_definition> tools() const {
            tool_definition patient{text("patient"), text("a session"), text("{}")};
            patient.timeout = session_call_timeout;
            return {patient, {text("usual"), text("a command"), text("{}")}};
        }
        stream<chunk, tool_result> execute(tool_call, tool_context) {
            const bool slept = co_await sleep_for(300s);
            co_return tool_result::completed(slept ? "late" : "");
        }
    };
    const auto output_of = [](const char* tool, session_options options) -> task<std::string> {
        scripted_model model(answer().call("1", tool), answer().text("done"));
        session chat(std::ref(model), slow_tools(), std::move(options));
        auto all = co_await collect(chat.run("go", {.approve = allow_all}));
        co_return word_of(outputs(all).front());
    };
    const auto usual = co_await output_of("usual", session_options());
    CHECK(usual == "tool_call_output:[tool timeout: exceeded 120000ms]:1:failed");
    const auto patient = co_await output_of("patient", session_options());
    CHECK(patient == "tool_call_output:late:1");
    session_options hurried;
    hurried.tool_overrides["patient"].timeout = 5s;
    const auto cut = co_await output_of("patient", std::move(hurried));
    CHECK(cut == "tool_call_output:[tool timeout: exceeded 5000ms]:1:failed");
}
