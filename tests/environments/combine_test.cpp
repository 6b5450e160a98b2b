// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/any_environment.hpp>
#include <thalweg/environments/combine.hpp>
#include <thalweg/environments/functions.hpp>

#include <thalweg/testing/co_test_case.hpp>

#include "support/run_tool.hpp"

using namespace thalweg;
using environments::functions;
using testing::run_tool;

namespace {

/// An environment of one's own, which finds its tools late.
struct late_tools {
    std::vector<std::string> names;
    int asked = 0;

    std::vector<tool_definition> tools() {
        ++asked;
        std::vector<tool_definition> list;
        for (const auto& name : names)
            list.push_back({.name = name, .description = "late", .parameters = {}});
        return list;
    }
    stream<chunk, tool_result> execute(tool_call call, tool_context) {
        co_yield chunk::text("late " + call.name().str());
        co_return tool_result::completed();
    }
};

functions saying(const char* name, const char* what) {
    return functions(tool(name, "d", [what] { return what; }));
}

template <class E>
std::vector<std::string> names(E& environment) {
    std::vector<std::string> list;
    for (const auto& each : environment.tools())
        list.push_back(each.name.str());
    return list;
}

/// Templates and overloads count as members, too.
struct generic_tools {
    std::vector<tool_definition> tools() const { return {}; }
    stream<chunk, tool_result> execute(auto call, auto context) {
        return none.execute(std::move(call), std::move(context));
    }
};
struct overloaded_tools : generic_tools {
    using generic_tools::execute;
    void execute(int);
};

} // namespace

static_assert(is_environment<generic_tools>);
static_assert(is_environment<overloaded_tools>);
static_assert(is_environment<decltype(combine(none, late_tools{}))>);
static_assert(is_environment<std::reference_wrapper<late_tools>>);
static_assert(sizeof(environments::no_tools) == 1);

CO_TEST_CASE("combined environments list their tools in order and each call finds its own") {
    auto all = combine(saying("a", "from a"), late_tools{{"b", "c"}}, saying("d", "from d"));
    REQUIRE(names(all) == std::vector<std::string>{"a", "b", "c", "d"});
    const std::vector<std::pair<std::string, std::string>> expected{
        {"a", "from a"}, {"b", "late b"}, {"c", "late c"}, {"d", "from d"}};
    for (const auto& [name, output] : expected) {
        const auto seen = co_await run_tool(all, name, "");
        REQUIRE(seen.output() == output);
    }
}

CO_TEST_CASE("the first of two tools with one name is listed and called") {
    auto all = combine(saying("a", "first"), saying("a", "second"), saying("b", "third"));
    REQUIRE(names(all) == std::vector<std::string>{"a", "b"});
    const auto seen = co_await run_tool(all, "a", "");
    REQUIRE(seen.output() == "first");
}

CO_TEST_CASE("a call works before anybody has asked for the list, and tools may turn up later") {
    late_tools late{{"b"}};
    auto all = combine(saying("a", "from a"), std::ref(late));
    const auto first = co_await run_tool(all, "b", "");
    REQUIRE(first.output() == "late b");
    REQUIRE(late.asked == 1);
    co_await run_tool(all, "b", "");
    REQUIRE(late.asked == 1); // known by now
    late.names.push_back("c");
    const auto second = co_await run_tool(all, "c", "");
    REQUIRE(second.output() == "late c");
}

CO_TEST_CASE("a tool that no part has is unknown") {
    auto all = combine(none, late_tools{{"b"}});
    const auto seen = co_await run_tool(all, "x", "");
    REQUIRE(seen.failed());
    REQUIRE(seen.note == "Unknown tool: x");
    REQUIRE(none.tools().empty());
    const auto nothing = co_await run_tool(none, "y", "");
    REQUIRE(nothing.note == "Unknown tool: y");
}

CO_TEST_CASE("combinations nest") {
    auto all = combine(combine(saying("a", "1"), saying("b", "2")), combine(saying("c", "3")));
    REQUIRE(names(all) == std::vector<std::string>{"a", "b", "c"});
    const auto seen = co_await run_tool(all, "c", "");
    REQUIRE(seen.output() == "3");
}

CO_TEST_CASE("any_environment holds or refers to an environment chosen at run time") {
    late_tools late{{"b"}};
    std::vector<any_environment> list;
    list.emplace_back(saying("a", "from a"));
    list.emplace_back(std::ref(late));
    list.emplace_back(none);
    const auto a = co_await run_tool(list[0], "a", "");
    REQUIRE(a.output() == "from a");
    REQUIRE(names(list[1]) == std::vector<std::string>{"b"});
    REQUIRE(late.asked == 1);
    REQUIRE(list[2].tools().empty());
    any_environment moved = std::move(list[1]);
    const auto b = co_await run_tool(moved, "b", "");
    REQUIRE(b.output() == "late b");
    auto all = combine(std::move(moved), any_environment(saying("z", "from z")));
    const auto z = co_await run_tool(all, "z", "");
    REQUIRE(z.output() == "from z");
}
