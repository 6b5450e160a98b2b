// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent.hpp>
#include <thalweg/agent/agent_event_checker.hpp>
#include <thalweg/agent/agent_json.hpp>
#include <thalweg/agent/agent_view.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>

#include <algorithm>

using namespace thalweg;
using namespace std::chrono_literals;
using testing::after;
using testing::answer;

namespace {

using words = std::vector<std::string>;

/// A message of the program's own.
struct note {
    static constexpr std::string_view role = "note";
    std::string body;
};
BOOST_DESCRIBE_STRUCT(note, (), (body))

task<std::vector<agent_message>> notes_as_user(std::vector<agent_message> all) {
    for (agent_message& m : all) {
        if (const note* n = m.get_if<note>()) m = agent_message::user(text("Note: " + n->body));
    }
    co_return std::move(all);
}

/// Notes the names of all events but updates.
struct notebook {
    words seen;
    void operator()(const agent_event& e) {
        if (e.kind() != agent_event::type::message_update) seen.emplace_back(to_string(e.kind()));
    }
};

} // namespace

CO_TEST_CASE("a prompt without tools gives the events of one turn") {
    testing::scripted_model model{answer().text("hello")};
    agent helper(std::ref(model));
    notebook notes;
    auto told = helper.subscribe(std::ref(notes));
    auto outcome = co_await helper.prompt("hi");
    CHECK(outcome.ok());
    CHECK(outcome.answer() == "hello");
    CHECK(notes.seen == words{"agent_start", "turn_start", "message_start", "message_end", "message_start",
                              "message_end", "turn_end", "agent_end"});
    CHECK(helper.state().messages.size() == 2);
    CHECK_FALSE(helper.is_busy());
}

CO_TEST_CASE("the model gets results in call order, listeners get ends in order of completion") {
    testing::scripted_model model{answer().call("a", "slow").call("b", "fast"), answer().text("done")};
    testing::scripted_tools tools{{"slow", after(300ms, "late")}, {"fast", after(20ms, "early")}};
    agent helper(std::ref(model), std::ref(tools));
    words ends;
    auto told = helper.subscribe([&ends](const agent_event& e) {
        if (const auto* end = e.get_if<agent_event::tool_execution_end>())
            ends.push_back(end->tool_call_id.str());
    });
    auto outcome = co_await helper.prompt("go");
    CHECK(outcome.ok());
    CHECK(ends == words{"b", "a"});
    words asked;
    for (const message& m : model.request(1).input)
        asked.push_back(m.tool_call_id().str());
    CHECK(asked == words{"a", "b"});
}

CO_TEST_CASE("the public messages of an agent's run keep the rules of the stream") {
    testing::scripted_model model{
        answer().text("look").call("a", "slow").call("b", "nowhere").call("c", "fast", "[1]"),
        answer().text("done")};
    testing::scripted_tools tools{{"slow", after(300ms, "late")}, {"fast", after(20ms, "early")}};
    agent helper(std::ref(model), std::ref(tools));
    auto run = helper.run("go");
    stream_checker checker;
    words outputs;
    while (auto m = co_await run.next()) {
        checker.feed(*m);
        CHECK_FALSE(m->is_fact());
        if (m->kind() == kind::tool_call_output) outputs.push_back(m->content().str());
    }
    checker.finish();
    CHECK(checker.report() == "");
    CHECK(run.result().ok());
    CHECK(outputs.size() == 3);
    CHECK(outputs.back() == "late");
}

CO_TEST_CASE("an aborted run ends its public stream with abort") {
    testing::scripted_model model{answer().text("look").call("a", "slow")};
    testing::scripted_tools tools{{"slow", after(10s, "late")}};
    agent helper(std::ref(model), std::ref(tools));
    auto told = helper.subscribe([&helper](const agent_event& e) {
        if (e.kind() == agent_event::type::tool_execution_start) CHECK(helper.abort("enough"));
    });
    auto run = helper.run("go");
    stream_checker checker;
    kind last = kind::text;
    while (auto m = co_await run.next()) {
        checker.feed(*m);
        last = m->kind();
    }
    checker.finish();
    CHECK(checker.report() == "");
    CHECK(last == kind::abort);
    CHECK(run.result().error().code() == agent_errc::aborted);
    CHECK(helper.state().error == text("enough"));
    CHECK(helper.state().messages.size() == 4); // prompt, answer, result, the empty aborted one
}

CO_TEST_CASE("who drops a run in the middle finds the agent idle with the complete messages it had") {
    testing::scripted_model model{answer().text("one", "two").with_gap(50ms), answer().text("again")};
    agent helper(std::ref(model));
    {
        auto run = helper.run("go");
        for (int n = 0; n < 3; ++n) {
            auto m = co_await run.next();
            REQUIRE(m);
        }
        CHECK(helper.is_busy());
    }
    CHECK_FALSE(helper.is_busy());
    CHECK_FALSE(helper.state().stream_message);
    CHECK(helper.state().messages.size() == 1);
    auto outcome = co_await helper.prompt("once more");
    CHECK(outcome.answer() == "again");
}

CO_TEST_CASE("a run that nobody begins to read frees the agent again") {
    testing::scripted_model model{answer().text("one")};
    agent helper(std::ref(model));
    {
        auto unread = helper.prompt("never");
        CHECK(helper.is_busy());
        auto refused = co_await helper.prompt("me too");
        CHECK(refused.error().code() == agent_errc::busy);
    }
    CHECK_FALSE(helper.is_busy());
    co_await helper.wait_for_idle();
    CHECK(model.requests() == 0);
}

CO_TEST_CASE("a transcript is saved and loaded, and the run goes on from it") {
    testing::scripted_model model{answer().text("one"), answer().text("two")};
    agent first(std::ref(model));
    auto outcome = co_await first.prompt("hi");
    REQUIRE(outcome.ok());
    agent second(std::ref(model));
    REQUIRE(second.load(first.save()));
    CHECK(second.state().messages == first.state().messages);
    auto tail = co_await second.continue_();
    CHECK(tail.error().code() == agent_errc::assistant_tail);
    auto more = co_await second.prompt("and?");
    CHECK(more.answer() == "two");
    CHECK(model.request(1).history.size() == 2);
    const auto broken = second.load("[{\"role\":\"user\"}]");
    REQUIRE_FALSE(broken);
    CHECK(broken.error().message().find("content") != std::string::npos);
    CHECK(second.state().messages.size() == 4);
}

CO_TEST_CASE("a denied call has its output at once, and its result in its place") {
    testing::scripted_model model{answer().call("a", "write").call("b", "read"), answer().text("done")};
    testing::scripted_tools tools{{"write", after(1ms, "w")}, {"read", after(1ms, "r")}};
    agent_options options;
    options.approve = [](const tool_call& call) {
        return call.name().view() == "write" ? decision::deny : decision::allow;
    };
    agent helper(std::ref(model), std::ref(tools), options);
    agent_event_checker events;
    auto told = helper.subscribe([&events](const agent_event& e) { events.feed(e); });
    auto all = co_await testing::collect(helper.run("go"));
    events.finish();
    CHECK(events.report() == "");
    REQUIRE(all.result.ok());
    REQUIRE(tools.executed().size() == 1);
    const auto& messages = helper.state().messages;
    REQUIRE(messages.size() == 5);
    CHECK(messages[2].tool_call_id().view() == "a");
    CHECK(messages[2].is_error());
    CHECK(messages[2].content().joined_text() == "Tool call denied by user.");
    CHECK(messages[3].tool_call_id().view() == "b");
}

CO_TEST_CASE("a program's own messages live in the transcript and reach the model only where it says so") {
    testing::scripted_model model{answer().text("one"), answer().text("two"), answer().text("three")};
    agent<testing::scripted_model&, environments::no_tools, note> plain(std::ref(model));
    std::vector<agent_message> prompts{agent_message::custom(note{"saved"}), agent_message::user("hi")};
    auto outcome = co_await plain.prompt(std::move(prompts));
    REQUIRE(outcome.ok());
    CHECK(model.request(0).input.size() == 1);
    REQUIRE(plain.state().messages.front().get_if<note>() != nullptr);

    agent_options options;
    options.convert_to_llm = notes_as_user;
    agent<testing::scripted_model&, environments::no_tools, note> telling(std::ref(model), options);
    REQUIRE(telling.load(plain.save()));
    REQUIRE(telling.state().messages.front().get_if<note>() != nullptr);
    CHECK(telling.state().messages.front().get_if<note>()->body == "saved");
    outcome = co_await telling.prompt("and now?");
    REQUIRE(outcome.ok());
    CHECK(model.request(1).history.at(0).content().view() == "Note: saved");
}

CO_TEST_CASE("a custom message that the conversion leaves ends the run with its name") {
    testing::scripted_model model{answer().text("never")};
    agent_options options;
    options.convert_to_llm = [](std::vector<agent_message> all) -> task<std::vector<agent_message>> {
        co_return std::move(all);
    };
    agent<testing::scripted_model&, environments::no_tools, note> helper(std::ref(model), options);
    agent_event_checker events;
    auto told = helper.subscribe([&events](const agent_event& e) { events.feed(e); });
    agent_message stray = agent_message::custom(note{"stray"});
    auto outcome = co_await helper.prompt(std::move(stray));
    events.finish();
    CHECK(events.report() == "");
    CHECK(outcome.error().code() == agent_errc::hook_failed);
    CHECK(outcome.error().message().find("\"note\"") != std::string::npos);
    CHECK(helper.state().error == text(outcome.error().message()));
    CHECK(model.requests() == 0);
    CHECK_FALSE(helper.is_busy());
}

CO_TEST_CASE("options of one run go before those of the agent, and its facts can be had") {
    testing::scripted_model model{answer().call("a", "read"), answer().text("never")};
    testing::scripted_tools tools{{"read", after(1ms, "r")}};
    agent helper(std::ref(model), std::ref(tools));
    run_options once;
    once.max_turns = 1;
    once.thinking_level = "low";
    once.facts = true;
    auto run = helper.run("go", once);
    std::vector<message> facts;
    while (auto m = co_await run.next())
        facts.push_back(std::move(*m));
    CHECK(run.result().ok());
    CHECK(model.requests() == 1);
    CHECK(model.request(0).thinking_level == text("low"));
    agent_view view;
    std::size_t ends = 0;
    for (const message& fact : facts) {
        for (const agent_event& e : view.feed(fact))
            ends += e.kind() == agent_event::type::agent_end ? 1 : 0;
    }
    CHECK(ends == 1);
}

CO_TEST_CASE("calls of an answer that is asked for again have an output each in the public stream") {
    testing::scripted_model model{answer().call("q", "fast").ends(model_outcome::failed("net")),
                                  answer().text("fine")};
    testing::scripted_tools tools{{"fast", after(1ms, "f")}};
    agent_options options;
    options.retry.most = 1;
    agent helper(std::ref(model), std::ref(tools), options);
    auto all = co_await testing::collect(helper.run("go"));
    CHECK(all.result.ok());
    CHECK(tools.executed().empty());
    CHECK(helper.state().messages.size() == 2);
}

CO_TEST_CASE("an abort between the call and the first step of a run is not lost") {
    testing::scripted_model model{answer().text("never")};
    agent helper(std::ref(model));
    auto asked = helper.prompt("hi");
    CHECK(helper.abort("too late"));
    CHECK_FALSE(helper.abort());
    auto outcome = co_await std::move(asked);
    CHECK(outcome.error().code() == agent_errc::aborted);
    CHECK(helper.state().error == text("too late"));
    CHECK(model.requests() == 0);
}

CO_TEST_CASE("a prompt stays in the transcript of a run that ends before its first request") {
    testing::scripted_model model{answer().text("never")};
    agent_options options;
    options.poll_steering = []() -> std::vector<agent_message> { throw std::runtime_error("no queue"); };
    agent helper(std::ref(model), options);
    helper.steer("kept");
    auto outcome = co_await helper.prompt("hi");
    CHECK(outcome.error().code() == agent_errc::hook_failed);
    REQUIRE(helper.state().messages.size() == 2);
    CHECK(helper.state().messages[0].content().joined_text() == "hi");
    CHECK(helper.has_queued_messages());
}

CO_TEST_CASE("answers, results and nothing at all are no prompts") {
    testing::scripted_model model{answer().text("never")};
    agent helper(std::ref(model));
    std::vector<agent_message> wrong{agent_message::assistant(content_block::text("x")),
                                     agent_message::tool_result("c", "t", content_block::text("o"))};
    for (const agent_message& each : wrong) {
        auto outcome = co_await helper.prompt(each);
        CHECK(outcome.error().code() == agent_errc::bad_prompt);
    }
    auto none_at_all = co_await helper.prompt(std::vector<agent_message>());
    CHECK(none_at_all.error().code() == agent_errc::bad_prompt);
    CHECK(helper.state().messages.empty());
    CHECK(model.requests() == 0);
}

CO_TEST_CASE("what is queued stays queued when the run that was to take it is never read") {
    testing::scripted_model model{answer().text("one")};
    agent helper(std::ref(model));
    helper.follow_up("keep");
    { auto unread = helper.continue_(); }
    CHECK(helper.has_queued_messages());
    auto outcome = co_await helper.continue_();
    CHECK(outcome.ok());
    CHECK_FALSE(helper.has_queued_messages());
}

CO_TEST_CASE("a report of a listener's fault that throws itself stops nothing") {
    testing::scripted_model model{answer().text("one")};
    agent_options options;
    options.on_listener_fault = [](std::string_view) { throw std::runtime_error("the report"); };
    agent helper(std::ref(model), options);
    auto told = helper.subscribe([](const agent_event& e) {
        if (e.kind() == agent_event::type::turn_start) throw std::runtime_error("the listener");
    });
    auto outcome = co_await helper.prompt("hi");
    CHECK(outcome.ok());
}

CO_TEST_CASE("output that a hook may still change is kept whole between pieces, and within its limit") {
    testing::scripted_model model{answer().call("a", "split").call("b", "flood"), answer().text("done")};
    testing::tool_script flood;
    for (int n = 0; n < 100; ++n)
        flood = std::move(flood).output("0123456789");
    testing::scripted_tools tools{{"split", testing::tool_script().output("caf\xc3").output("\xa9")},
                                  {"flood", flood}};
    agent_options options;
    options.tool_overrides["flood"].max_output = 15;
    std::size_t longest = 0;
    options.after_tool_call = [&longest](hooked_call, executed_tool& result) -> task<void> {
        longest = std::max(longest, result.content.joined_text().size());
        co_return;
    };
    agent helper(std::ref(model), std::ref(tools), options);
    auto outcome = co_await helper.prompt("go");
    REQUIRE(outcome.ok());
    const auto& messages = helper.state().messages;
    CHECK(messages[2].content().joined_text() == "caf\xc3\xa9");
    CHECK(messages[3].content().joined_text() == "012345678901234\n[output truncated: exceeded 15 chars]");
    CHECK(longest < 100);
}
