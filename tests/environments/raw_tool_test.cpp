// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/functions.hpp>

#include <thalweg/testing/co_test_case.hpp>

#include "support/run_tool.hpp"

using namespace thalweg;
using environments::functions;
using testing::run_tool;
using thalweg::json_schema;

namespace {

constexpr const char* search_schema = R"({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    "where": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}
  },
  "required": ["pattern"],
  "additionalProperties": false
})";

std::string fault(const char* schema, const std::string& value) {
    auto compiled = json_schema::compile(schema);
    if (!compiled) return "no schema: " + compiled.error().message();
    auto parsed = json::parse(value);
    REQUIRE(parsed);
    return compiled.value()->fault(parsed.value()).value_or("");
}

} // namespace

CO_TEST_CASE("a raw tool gets its arguments in the form it asks for, byte for byte") {
    const auto taking = [](auto f) { return raw_tool("t", "d", search_schema, std::move(f)); };
    const std::string arguments = R"({ "pattern" : "aä", "limit": 5.0 })";
    std::vector<tool> tools;
    tools.push_back(taking([](text a) { return a; }));
    tools.push_back(taking([](std::string a) { return a; }));
    tools.push_back(taking([](std::string_view a) { return a; }));
    tools.push_back(taking([](json::view a) { return a.raw(); }));
    tools.push_back(taking(
        [](const json::view& a, tool_context) -> task<std::string> { co_return std::string(a.raw()); }));
    tools.push_back(taking(blocking([](json::view a, std::stop_token) { return std::string(a.raw()); })));
    for (const tool& each : tools) {
        auto alone = functions(each);
        const auto seen = co_await run_tool(alone, "t", arguments);
        REQUIRE(seen.output() == arguments);
    }
    auto without = functions(taking([] { return "no arguments taken"; }));
    const auto seen = co_await run_tool(without, "t", arguments);
    REQUIRE(seen.output() == "no arguments taken");
}

CO_TEST_CASE(
    "the model sees the schema as it was written and gets a sentence with a path for what does not fit") {
    bool ran = false;
    auto tools = functions(raw_tool("search", "d", search_schema, [&](text) { ran = true; }));
    REQUIRE(tools.tools()[0].parameters == search_schema);
    const auto seen = co_await run_tool(tools, "search",
                                        R"({"pattern":"a","where":[{"path":"x"},{"path":3}]})");
    REQUIRE(seen.failed());
    REQUIRE(
        seen.note ==
        "Invalid arguments for search: where[1].path: value type not permitted by 'type' constraint, got 3");
    const auto broken = co_await run_tool(tools, "search", R"({"pattern":)");
    REQUIRE_THAT(broken.note, Catch::StartsWith("Invalid arguments for search: the input ended early"));
    REQUIRE_FALSE(ran);
}

TEST_CASE("each kind of misfit is worded") {
    REQUIRE(fault(search_schema, R"({"pattern":"a","limit":50})").empty());
    REQUIRE(fault(search_schema, "{}") == "missing required property 'pattern'");
    REQUIRE_THAT(fault(search_schema, R"({"pattern":"a","x":1})"), Catch::Contains("'x'"));
    REQUIRE_THAT(fault(search_schema, R"({"pattern":"a","limit":51})"),
                 Catch::StartsWith("limit: expected number less"));
    REQUIRE_THAT(fault(search_schema, R"({"pattern":"a","limit":1.5})"), Catch::EndsWith("got 1.5"));
    REQUIRE_THAT(fault(search_schema, R"({"pattern":""})"), Catch::StartsWith("pattern: string should be"));
    REQUIRE_THAT(fault(search_schema, "[]"), Catch::EndsWith("got an array"));
}

TEST_CASE("numbers of any size count by their value") {
    constexpr const char* schema = R"({"type":"object","properties":{"n":{"type":"integer"}}})";
    for (const char* n : {"1", "1.0", "1e3", "18446744073709551615", "123456789012345678901234567890",
                          "-123456789012345678901234567890", "9223372036854775808"})
        REQUIRE(fault(schema, std::string("{\"n\":") + n + "}").empty());
    REQUIRE_FALSE(fault(schema, R"({"n":1.25})").empty());
    REQUIRE_FALSE(fault(R"({"properties":{"n":{"maximum":10}}})", R"({"n":18446744073709551615})").empty());
}

TEST_CASE("patterns and formats are not enforced, properties of that name are") {
    const std::string endless(400000, 'a');
    constexpr const char* schema = R"({"type":"object","properties":{
        "a":{"type":"string","pattern":"^(b|c)*$"},
        "b":{"type":"string","format":"date"},
        "format":{"type":"integer"},
        "any":{"anyOf":[{"pattern":"x"},{"type":"null"}]},
        "listed":{"enum":[{"pattern":"kept"}]}},
        "patternProperties":{"^(b|c)*$":{"type":"integer"}},"additionalProperties":false})";
    REQUIRE(fault(schema, R"({"a":")" + endless + R"(","b":")" + endless + R"(","any":"y"})").empty());
    REQUIRE(fault(schema, "{\"" + endless + "\":1}").empty());
    REQUIRE_THAT(fault(schema, R"({"format":"x"})"), Catch::StartsWith("format: "));
    REQUIRE(fault(schema, R"({"listed":{"pattern":"kept"}})").empty());
    REQUIRE_FALSE(fault(schema, R"({"listed":{}})").empty());
}

TEST_CASE("deep arguments are read as deep as the parser lets them be") {
    std::string deep;
    for (int i = 0; i < 200; ++i)
        deep += "[";
    for (int i = 0; i < 200; ++i)
        deep += "]";
    REQUIRE(fault(R"({"type":"object"})", "{\"a\":" + deep + "}").empty());
}

TEST_CASE("references within the schema are followed, others are refused") {
    constexpr const char* tree =
        R"({"definitions":{"node":{"type":"object","properties":{"next":{"$ref":"#/definitions/node"},"n":{"type":"integer"}}}},
            "$ref":"#/definitions/node"})";
    REQUIRE(fault(tree, R"({"next":{"next":{"n":1}}})").empty());
    REQUIRE_THAT(fault(tree, R"({"next":{"next":{"n":"x"}}})"), Catch::StartsWith("next.next.n: "));
    REQUIRE(fault(R"({"$ref":"http://127.0.0.1/x.json"})", "{}") ==
            "no schema: a $ref must stay inside the schema, not http://127.0.0.1/x.json");
    REQUIRE(fault(R"({"$ref":"#/definitions/x"})", "{}") ==
            "no schema: there is nothing at the $ref #/definitions/x");
    REQUIRE(fault(R"({"properties":{"a":{"$ref":"#"},"$ref":{"type":"integer"}}})", R"({"a":{"$ref":1}})")
                .empty());
    for (const char* endless :
         {R"({"$ref":"#"})", R"({"definitions":{"a":{"$ref":"#/definitions/a"}},"$ref":"#/definitions/a"})",
          R"({"allOf":[{"$ref":"#"}]})", R"({"properties":{"x":{"if":{"not":{"$ref":"#/properties/x"}}}}})",
          R"({"dependencies":{"x":{"anyOf":[{"$ref":"#"}]}}})"})
        REQUIRE(fault(endless, "{}") == "no schema: it refers to itself without end");
}

TEST_CASE("what is no schema is refused with the reason when the environment is made") {
    const auto fault_of = [](const char* schema) {
        auto made = functions::make({raw_tool("t", "d", schema, [] {})});
        return made ? std::string() : made.error().message();
    };
    REQUIRE(fault_of(R"({"type":"object"})").empty());
    REQUIRE(fault_of(R"({"type":"object")") ==
            "the schema of the tool \"t\": the input ended early: expected ',' or '}' at byte 16");
    REQUIRE(fault_of("[]") == "the schema of the tool \"t\": a JSON Schema of an object is an object itself");
    REQUIRE_THAT(fault_of(R"({"type":"objekt"})"), Catch::StartsWith("the schema of the tool \"t\": "));
}

CO_TEST_CASE("a faulty tool that is run all the same says why it cannot") {
    const tool faulty = raw_tool("t", "d", "[]", [] {});
    auto output = faulty.execute(tool_call("t", "{}", "c"), tool_context());
    auto piece = co_await output.next();
    REQUIRE_FALSE(piece.has_value());
    REQUIRE(output.result().note() == faulty.fault());
}
