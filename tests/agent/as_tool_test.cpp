// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent.hpp>
#include <thalweg/agent/as_tool.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>

using namespace thalweg;
using namespace std::chrono_literals;
using environments::no_tools;
using testing::after;
using testing::answer;

namespace {

using words = std::vector<std::string>;

std::string origin_of(std::span<const text> origin) {
    std::string hops;
    for (const text& hop : origin)
        hops += (hops.empty() ? "" : "/") + hop.str();
    return hops;
}

agent_options called(std::string_view id) {
    agent_options options;
    options.id = text(id);
    return options;
}

/// The output of the call that the model was told in its second request.
std::string output_in(const testing::scripted_model& model) {
    return model.request(1).input.back().content().str();
}

testing::scripted_model asking_model() {
    return testing::scripted_model(answer().call("p", "research", R"({"prompt":"find it"})"),
                                   answer().text("done"));
}

} // namespace

CO_TEST_CASE("an agent is a tool of a session: its messages pass live, and its words are the output") {
    testing::scripted_model inner{answer().text("it ", "is here").with_gap(5ms)};
    agent researcher(std::ref(inner), no_tools(), called("researcher"));
    testing::scripted_model outer = asking_model();
    session chat(std::ref(outer), as_tool("research", "Looks things up", researcher));
    auto seen = co_await testing::collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    words heard;
    for (const message& m : seen) {
        if (m.kind() == kind::partial_text && m.frame() == frame::delta && !m.origin().empty())
            heard.push_back(origin_of(m.origin()) + ": " + m.content().str());
    }
    CHECK(heard == words{"researcher: it ", "researcher: is here"});
    CHECK(output_in(outer) == "it is here");
    CHECK(inner.request(0).input.back().content().view() == "find it");
}

CO_TEST_CASE("a session is a tool of an agent, and an agent of an agent") {
    testing::scripted_model innermost{answer().text("deep")};
    session notes(std::ref(innermost), no_tools());
    testing::scripted_model inner{answer().call("q", "notes", R"({"prompt":"look"})"),
                                  answer().text("found")};
    agent_options deep = called("researcher");
    agent researcher(std::ref(inner), as_tool("notes", "Notes", notes), std::move(deep));
    testing::scripted_model outer = asking_model();
    agent_options settings = called("boss");
    settings.max_depth = 2;
    agent boss(std::ref(outer), as_tool("research", "Looks things up", researcher), std::move(settings));
    auto how = co_await boss.prompt("go");
    CHECK(how.answer() == "done");
    CHECK(output_in(inner) == "deep");
    CHECK(output_in(outer) == "found");
}

CO_TEST_CASE("the calls of a child are asked about above it, by name") {
    testing::scripted_model inner{answer().call("w", "write"), answer().text("written")};
    testing::scripted_tools tools{{"write", after(1ms, "ok")}};
    agent researcher(std::ref(inner), std::ref(tools), called("researcher"));
    testing::scripted_model outer = asking_model();
    session chat(std::ref(outer), as_tool("research", "Looks things up", researcher));
    words asked;
    auto approve = [&asked](const tool_call& call) {
        asked.push_back(origin_of(call.origin()) + ":" + call.name().str());
        return call.name().view() == "write" ? decision::deny : decision::allow;
    };
    auto seen = co_await testing::collect(chat.run("go", {.approve = std::ref(approve)}));
    CHECK(seen.result.ok());
    CHECK(asked == words{":research", "researcher:write"});
    CHECK(tools.executed().empty());
}

CO_TEST_CASE("of a composition the answer alone is the output, under the name of its tool") {
    testing::scripted_model m1{answer().text("fact")};
    testing::scripted_model m2{answer().call("w", "write"), answer().text("essay")};
    testing::scripted_tools tools{{"write", after(1ms, "ok")}};
    agent finder(std::ref(m1), no_tools(), called("finder"));
    agent writer(std::ref(m2), std::ref(tools), called("writer"));
    testing::scripted_model outer = asking_model();
    session chat(std::ref(outer), as_tool("research", "Looks things up", sequence(finder, writer)));
    words asked;
    auto approve = [&asked](const tool_call& call) {
        asked.push_back(origin_of(call.origin()) + ":" + call.name().str());
        return decision::allow;
    };
    auto seen = co_await testing::collect(chat.run("go", {.approve = std::ref(approve)}));
    CHECK(seen.result.ok());
    CHECK(output_in(outer) == "essay");
    CHECK(asked == words{":research", "research/writer:write"});
    words origins;
    for (const message& m : seen) {
        if (m.kind() == kind::partial_text && m.frame() == frame::delta && !m.origin().empty())
            origins.push_back(origin_of(m.origin()));
    }
    CHECK(origins == words{"research/finder", "research/writer"});
}

CO_TEST_CASE("a child that fails, is too deep or is busy is an output that says so") {
    testing::scripted_model inner{answer().ends(model_outcome::failed("no credit").permanent())};
    agent researcher(std::ref(inner), no_tools(), called("researcher"));
    testing::scripted_model outer = asking_model();
    session chat(std::ref(outer), as_tool("research", "Looks things up", researcher));
    auto seen = co_await testing::collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    CHECK(output_in(outer).find("no credit") != std::string::npos);

    testing::scripted_model again = asking_model();
    session_options flat;
    flat.max_depth = 0;
    session alone(std::ref(again), as_tool("research", "Looks things up", researcher), std::move(flat));
    auto refused = co_await testing::collect(alone.run("go", {.approve = allow_all}));
    CHECK(refused.result.ok());
    CHECK(output_in(again).find("at most 0 deep") != std::string::npos);
    CHECK(inner.requests() == 1);

    inner.add(answer().text("for one"));
    testing::scripted_model twice{
        answer().call("p", "research", R"({"prompt":"one"})").call("q", "research", R"({"prompt":"two"})"),
        answer().text("done")};
    session doubled(std::ref(twice), as_tool("research", "Looks things up", researcher));
    auto both = co_await testing::collect(doubled.run("go", {.approve = allow_all}));
    CHECK(both.result.ok());
    CHECK(twice.request(1).input[0].content().view() == "for one");
    CHECK(output_in(twice).find("busy") != std::string::npos);
}

CO_TEST_CASE("a child stops with the call it runs under") {
    testing::scripted_model inner{answer().hang()};
    agent researcher(std::ref(inner), no_tools(), called("researcher"));
    testing::scripted_model outer = asking_model();
    session_options settings;
    settings.tool_overrides["research"].timeout = 40ms;
    session chat(std::ref(outer), as_tool("research", "Looks things up", researcher), std::move(settings));
    auto seen = co_await testing::collect(chat.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    CHECK_FALSE(researcher.is_busy());
    CHECK(output_in(outer).ends_with("[tool timeout: exceeded 40ms]"));
}

CO_TEST_CASE("a call without a prompt, or of another tool, is refused by the environment itself") {
    testing::scripted_model inner;
    agent researcher(std::ref(inner), no_tools(), called("researcher"));
    agent_tool tool = as_tool("research", "Looks things up", researcher);
    REQUIRE(tool.tools().size() == 1);
    CHECK(tool.tools()[0].name.view() == "research");
    auto other = tool.execute(tool_call(text("else"), text("{}"), text("1")), tool_context());
    auto none = co_await other.next();
    CHECK_FALSE(none.has_value());
    CHECK(other.result().stop() == stop_reason::failed);
    auto empty = tool.execute(tool_call(text("research"), text("{}"), text("1")), tool_context());
    auto nothing = co_await empty.next();
    CHECK_FALSE(nothing.has_value());
    CHECK(empty.result().note() == "prompt: expected a string");
}
