// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/functions.hpp>

#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include "support/last_words.hpp"
#include "support/run_tool.hpp"

#include <memory>
#include <stdexcept>

using namespace thalweg;
using namespace std::chrono_literals;
using environments::functions;
using testing::run_tool;

namespace {

struct city_args {
    std::string city;
    int days = 1;
};
BOOST_DESCRIBE_STRUCT(city_args, (), (city, days))

struct weather {
    std::string sky;
    int degrees;
};
BOOST_DESCRIBE_STRUCT(weather, (), (sky, degrees))

std::string plain(city_args args) {
    return args.city + " " + std::to_string(args.days);
}
std::string by_const_reference(const city_args& args) {
    return args.city;
}
std::string by_rvalue(city_args&& args) {
    return std::move(args.city);
}
std::string without_throwing() noexcept {
    return "calm";
}

task<std::string> later(city_args args) {
    co_await sleep_for(200ms);
    co_return args.city + " later";
}

task<std::string> later_by_reference(const city_args& args) {
    co_await sleep_for(200ms);
    co_return args.city + " later";
}

stream<chunk, tool_result> in_pieces(city_args args) {
    for (int day = 1; day <= args.days; ++day) {
        co_await sleep_for(10ms);
        co_yield chunk::progress("day " + std::to_string(day));
        co_yield chunk::text(args.city + "\n");
    }
    co_return tool_result::completed("a note");
}

stream<chunk> only_pieces() {
    co_yield chunk::text("a");
    co_await sleep_for(1ms);
    co_yield chunk::text("b");
}

constexpr const char* rome = R"({"city":"Rome","days":2})";

/// Counts how often it was copied and whether it lives.
class counted {
public:
    explicit counted(int& copies, int& alive) : copies_(&copies), alive_(&alive) { ++*alive_; }
    counted(const counted& other) : copies_(other.copies_), alive_(other.alive_) {
        ++*copies_;
        ++*alive_;
    }
    counted(counted&& other) noexcept : copies_(other.copies_), alive_(other.alive_) { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_; }

private:
    int* copies_;
    int* alive_;
};

} // namespace

CO_TEST_CASE("a plain function is a tool") {
    auto tools = functions(tool("plain", "d", plain), tool("const", "d", by_const_reference),
                           tool("rvalue", "d", by_rvalue), tool("calm", "d", without_throwing));
    const auto a = co_await run_tool(tools, "plain", rome);
    REQUIRE(a.output() == "Rome 2");
    REQUIRE_FALSE(a.failed());
    const auto b = co_await run_tool(tools, "const", rome);
    REQUIRE(b.output() == "Rome");
    const auto c = co_await run_tool(tools, "rvalue", rome);
    REQUIRE(c.output() == "Rome");
    const auto d = co_await run_tool(tools, "calm", "");
    REQUIRE(d.output() == "calm");
}

CO_TEST_CASE("a coroutine is a tool and its arguments live as long as it runs") {
    auto tools = functions(tool("value", "d", later), tool("reference", "d", later_by_reference));
    const auto a = co_await run_tool(tools, "value", rome);
    REQUIRE(a.output() == "Rome later");
    const auto b = co_await run_tool(tools, "reference", rome);
    REQUIRE(b.output() == "Rome later");
}

CO_TEST_CASE("a streaming coroutine is a tool and its pieces come one by one") {
    auto tools = functions(tool("pieces", "d", in_pieces), tool("only", "d", only_pieces));
    const auto a = co_await run_tool(tools, "pieces", rome);
    REQUIRE(a.pieces == std::vector<std::string>{"Rome\n", "Rome\n"});
    REQUIRE(a.progress == std::vector<std::string>{"day 1", "day 2"});
    REQUIRE(a.stop == stop_reason::completed);
    REQUIRE(a.note == "a note");
    const auto b = co_await run_tool(tools, "only", "{}");
    REQUIRE(b.pieces == std::vector<std::string>{"a", "b"});
    REQUIRE_FALSE(b.stop.has_value());
}

CO_TEST_CASE("values with a form in JSON are written as JSON, text as it is, nothing as nothing") {
    auto tools = functions(tool("struct", "d", [] { return weather{"sun", 21}; }),
                           tool("list", "d", []() -> task<std::vector<int>> { co_return std::vector(2, 7); }),
                           tool("number", "d", [] { return 2.5; }), tool("flag", "d", [] { return true; }),
                           tool("view", "d", [] { return std::string_view("seen"); }),
                           tool("literal", "d", [] { return "said"; }),
                           tool("text", "d", [] { return text("t"); }), tool("void", "d", [] {}),
                           tool("later", "d", []() -> task<> { co_await yield(); }),
                           tool("empty", "d", [] { return std::string(); }));
    const std::vector<std::pair<std::string, std::string>> expected{
        {"struct", R"({"sky":"sun","degrees":21})"},
        {"list", "[7,7]"},
        {"number", "2.5"},
        {"flag", "true"},
        {"view", "seen"},
        {"literal", "said"},
        {"text", "t"},
        {"void", ""},
        {"later", ""},
        {"empty", ""}};
    for (const auto& [name, output] : expected) {
        CAPTURE(name);
        const auto seen = co_await run_tool(tools, name, "{}");
        REQUIRE(seen.output() == output);
        REQUIRE_FALSE(seen.failed());
        REQUIRE(seen.pieces.size() == (output.empty() ? 0 : 1));
    }
}

CO_TEST_CASE("a tool fails by its result or by the error it returns") {
    auto tools = functions(
        tool("result", "d", [] { return tool_result::failed("no such city"); }),
        tool("error", "d",
             []() -> result<std::string> {
                 return failure(std::make_error_code(std::errc::io_error), "disk gone");
             }),
        tool("good", "d", []() -> result<weather> { return weather{"fog", 3}; }),
        tool("later", "d",
             []() -> task<result<int>> { co_return failure(make_error_code(json::errc::shape), "odd"); }),
        tool("images", "d", [] { return tool_result::completed().with_images({text("data:,")}); }));
    const auto a = co_await run_tool(tools, "result", "");
    REQUIRE(a.failed());
    REQUIRE(a.note == "no such city");
    const auto b = co_await run_tool(tools, "error", "");
    REQUIRE(b.failed());
    REQUIRE(b.note == "disk gone");
    const auto c = co_await run_tool(tools, "good", "");
    REQUIRE(c.output() == R"({"sky":"fog","degrees":3})");
    const auto d = co_await run_tool(tools, "later", "");
    REQUIRE(d.note == "odd");
    const auto e = co_await run_tool(tools, "images", "");
    REQUIRE_FALSE(e.failed());
}

CO_TEST_CASE("wrong arguments come back as a sentence and the callable does not run") {
    bool ran = false;
    auto tools = functions(tool("plain", "d", [&ran](city_args) { ran = true; }),
                           tool("later", "d",
                                [&ran](city_args) -> task<> {
                                    ran = true;
                                    co_return;
                                }),
                           tool("pieces", "d",
                                [&ran](city_args) -> stream<chunk> {
                                    ran = true;
                                    co_return;
                                }),
                           tool("blocking", "d", blocking([&ran](city_args) { ran = true; })));
    for (const char* name : {"plain", "later", "pieces", "blocking"}) {
        CAPTURE(name);
        const auto seen = co_await run_tool(tools, name, R"({"city":"Rome","days":"two"})");
        REQUIRE(seen.failed());
        REQUIRE(seen.pieces.empty());
        REQUIRE(seen.note ==
                std::string("Invalid arguments for ") + name + R"(: days: expected an integer, got "two")");
        REQUIRE_FALSE(ran);
    }
}

CO_TEST_CASE("an unknown tool is named") {
    auto tools = functions(tool("plain", "d", plain));
    const auto seen = co_await run_tool(tools, "plane", "{}");
    REQUIRE(seen.failed());
    REQUIRE(seen.note == "Unknown tool: plane");
}

CO_TEST_CASE("what a callable throws comes out of the stream") {
    auto tools = functions(tool("plain", "d", [] { throw std::runtime_error("broken"); }),
                           tool("later", "d",
                                []() -> task<int> {
                                    co_await yield();
                                    throw std::runtime_error("broken");
                                }),
                           tool("pieces", "d",
                                []() -> stream<chunk> {
                                    co_yield chunk::text("a");
                                    throw std::runtime_error("broken");
                                }),
                           tool("blocking", "d", blocking([] { throw std::runtime_error("broken"); })));
    for (const char* name : {"plain", "later", "pieces", "blocking"}) {
        CAPTURE(name);
        std::string what;
        try {
            auto running = run_tool(tools, name, "");
            co_await std::move(running);
        } catch (const std::runtime_error& thrown) {
            what = thrown.what();
        }
        REQUIRE(what == "broken");
    }
}

CO_TEST_CASE("captures of temporary lambdas are never copied and live as long as a call runs") {
    int copies = 0;
    int alive = 0;
    {
        auto tools = std::make_optional<functions>(
            tool("later", "d",
                 [held = counted(copies, alive),
                  word = std::string("a captured word, not inline")](city_args args) -> task<std::string> {
                     co_await sleep_for(1s);
                     co_return args.city + word;
                 }),
            tool("moved", "d", [only = std::make_unique<int>(7)] { return *only; }));
        REQUIRE(copies == 0);
        REQUIRE(alive == 1);

        const auto moved = co_await run_tool(*tools, "moved", "");
        REQUIRE(moved.output() == "7");
        auto output = tools->execute(tool_call("later", rome, "c"), tool_context());
        tools.reset(); // the environment goes first
        REQUIRE(alive == 1);
        auto piece = co_await output.next();
        REQUIRE_FALSE(piece);
        REQUIRE(output.result().output() == "Romea captured word, not inline");
    }
    REQUIRE(copies == 0);
    REQUIRE(alive == 0);
}

CO_TEST_CASE("calls of one tool run interleaved and each has its own arguments") {
    auto tools = functions(tool("later", "d", later));
    auto first = tools.execute(tool_call("later", R"({"city":"Oslo"})", "1"), tool_context());
    auto second = tools.execute(tool_call("later", R"({"city":"Rome"})", "2"), tool_context());
    auto b = co_await second.next();
    auto a = co_await first.next();
    REQUIRE_FALSE(a);
    REQUIRE_FALSE(b);
    REQUIRE(first.result().output() == "Oslo later");
    REQUIRE(second.result().output() == "Rome later");
}

CO_TEST_CASE("a call that is dropped at any suspension leaves nothing behind") {
    int copies = 0;
    int alive = 0;
    {
        auto tools = functions(
            tool("pieces", "d", [held = counted(copies, alive)](city_args args) -> stream<chunk> {
                for (int day = 0; day < args.days; ++day) {
                    co_await sleep_for(1s);
                    co_yield chunk::text(args.city);
                }
            }));
        auto never_started = tools.execute(tool_call("pieces", rome, "1"), tool_context());
        auto after_one = tools.execute(tool_call("pieces", rome, "2"), tool_context());
        auto piece = co_await after_one.next();
        REQUIRE(piece->content() == "Rome");
    }
    REQUIRE(alive == 0);
}

CO_TEST_CASE("a reference to a callable is used in place") {
    struct counter {
        int calls = 0;
        int operator()() { return ++calls; }
    } count;
    auto tools = functions(tool("count", "d", std::ref(count)), tool("pointer", "d", &without_throwing));
    co_await run_tool(tools, "count", "");
    const auto seen = co_await run_tool(tools, "count", "");
    REQUIRE(seen.output() == "2");
    REQUIRE(count.calls == 2);
}

CO_TEST_CASE("a tool may take its context, with and without arguments") {
    auto tools = functions(tool("one", "d", [](tool_context) { return 1; }),
                           tool("two", "d", [](city_args a, const tool_context&) { return a.city; }));
    const auto one = co_await run_tool(tools, "one", "");
    REQUIRE(one.output() == "1");
    const auto two = co_await run_tool(tools, "two", rome);
    REQUIRE(two.output() == "Rome");
}

CO_TEST_CASE("a tool without parameters ignores what a model sends along") {
    auto tools = functions(tool("ping", "d", [] { return "pong"; }));
    const auto seen = co_await run_tool(tools, "ping", R"({"input":""})");
    REQUIRE(seen.output() == "pong");
}

TEST_CASE("the model sees name, description and schema, people see the label") {
    const auto list = functions(tool("plain", "What it does", plain).label("Plain"),
                                tool("calm", "c", without_throwing))
                          .tools();
    REQUIRE(list.size() == 2);
    REQUIRE(list[0].name == "plain");
    REQUIRE(list[0].description == "What it does");
    REQUIRE(list[0].parameters == schema<city_args>());
    REQUIRE(list[0].label == "Plain");
    REQUIRE(list[1].parameters.empty());
    REQUIRE(list[1].label.empty());
    REQUIRE(functions().tools().empty());
}

TEST_CASE("names that are none and names used twice are refused") {
    const auto fault = [](std::vector<tool> tools) {
        auto made = functions::make(std::move(tools));
        return made ? std::string() : made.error().message();
    };
    REQUIRE(fault({tool("a", "d", plain), tool("B_-9", "d", plain), tool(std::string(64, 'x'), "d", plain)})
                .empty());
    REQUIRE(fault({tool("a", "d", plain), tool("b", "d", plain), tool("a", "d", plain)}) ==
            "two tools are named \"a\"; a model could call only one of them, rename the other");
    for (const char* name : {"", "with space", "dot.ted", "\xC3\xA4"})
        REQUIRE(fault({tool(name, "d", plain)}) ==
                "\"" + std::string(name) + "\" cannot be the name of a tool; use 1 to 64 of A-Z a-z 0-9 _ -");
    REQUIRE_FALSE(fault({tool(std::string(65, 'x'), "d", plain)}).empty());
}

TEST_CASE("a faulty list in a constructor ends the program with the sentence") {
    REQUIRE_THAT(last_words([] { functions(tool("a", "d", plain), tool("a", "d", plain)); }),
                 Catch::StartsWith("thalweg: functions: two tools are named \"a\""));
}
