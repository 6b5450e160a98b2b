// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace std::string_view_literals;
namespace json = thalweg::json;

namespace {

std::string nested(int depth, char open, char close) {
    const auto levels = static_cast<std::size_t>(depth);
    return std::string(levels, open) + std::string(levels, close);
}

json::view parsed(std::string_view text) {
    auto value = json::parse(text);
    INFO(text);
    REQUIRE(value);
    return value.value();
}

std::string written(std::string_view text) {
    std::string out;
    json::append_string(out, text);
    return out;
}

} // namespace

TEST_CASE("the checker takes every form of JSON") {
    const std::string_view good[] = {
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "-12.5e+10",
        "1E5",
        "\"\"",
        "\"\\u00e9\\n\\/\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,[2,{\"a\":[]}]]",
        "{\"a\":1,\"a\":2}",
        "\t\r\n [\n1 ,\r2\t]",
        "\"\xc3\xa9\x7f\xf0\x9f\x98\x80\"",
        "\"\\ud800\"",
        "123456789012345678901234567890",
        "\"\xe2\x80\xa8\"",
    };
    for (const auto text : good) {
        INFO(text);
        CHECK_FALSE(json::check(text));
    }
    CHECK_FALSE(json::check(nested(json::max_depth, '[', ']')));
}

TEST_CASE("the checker names the place and what was expected there") {
    struct bad_case {
        std::string_view text;
        std::size_t offset;
        std::string_view expected;
        bool at_end = false;
    };
    const bad_case bad[] = {
        {"", 0, "a value", true},
        {"  ", 2, "a value", true},
        {"nul", 3, "null", true},
        {"nulx", 3, "null"},
        {"True", 0, "a value"},
        {"1 2", 2, "end of input"},
        {"{} ]", 3, "end of input"},
        {"01", 1, "end of input"},
        {"-", 1, "a digit", true},
        {"-x", 1, "a digit"},
        {"1.", 2, "a digit", true},
        {"1e+", 3, "a digit", true},
        {".5", 0, "a value"},
        {"+1", 0, "a value"},
        {"NaN", 0, "a value"},
        {"[1,]", 3, "a value"},
        {"[1 2]", 3, "',' or ']'"},
        {"[", 1, "a value or ']'", true},
        {"[1", 2, "',' or ']'", true},
        {"{\"a\"", 4, "':'", true},
        {"{\"a\" 1}", 5, "':'"},
        {"{\"a\":1,}", 7, "a string"},
        {"{a:1}", 1, "a string or '}'"},
        {"{\"a\":1", 6, "',' or '}'", true},
        {"{\"a\":", 5, "a value", true},
        {"\"open", 5, "'\"' at the end of the string", true},
        {"\"a\nb\"", 2, "an escape for the control character"},
        {"\"a\x00\""sv, 2, "an escape for the control character"},
        {"\"\\x\"", 2, "one of \"\\/bfnrtu behind '\\'"},
        {"\"\\", 2, "the rest of the escape", true},
        {"\"\\u12g4\"", 5, "four hexadecimal digits"},
        {"\"\\u12", 5, "four hexadecimal digits", true},
        {"\"\xff\"", 1, "valid UTF-8"},
        {"\"ab\xed\xa0\x80\"", 3, "valid UTF-8"},
        {"\"\xe2\x82", 1, "valid UTF-8", true},
        {"[1,\"\xff\", x]", 4, "valid UTF-8"},
        {"[x,\"\xff\"]", 1, "a value"}, // the earlier mistake is the one that is told
        {"\xef\xbb\xbf{}", 0, "a value"},
        {"[1] // no", 4, "end of input"},
        {"'a'", 0, "a value"},
    };
    for (const auto& b : bad) {
        INFO(b.text);
        const auto error = json::check(b.text);
        REQUIRE(error);
        CHECK(error->offset == b.offset);
        CHECK(error->expected == b.expected);
        CHECK(error->at_end == b.at_end);
    }
}

TEST_CASE("nesting beyond the limit is an error at the bracket too many") {
    const auto error = json::check(nested(json::max_depth + 1, '[', ']'));
    REQUIRE(error);
    CHECK(error->offset == json::max_depth);
    CHECK_FALSE(error->at_end);
    const auto mountain = json::check(std::string(10'000'000, '{'));
    REQUIRE(mountain);
}

TEST_CASE("every proper head of a closed value ends early or is another value") {
    const std::string_view whole = R"({"k":[1.5e3,true,null,"\u00e9\\",{"x":-0}],"é":""})";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        INFO(size);
        const auto error = json::check(whole.substr(0, size));
        REQUIRE(error);
        CHECK(error->at_end);
    }
}

TEST_CASE("a parse error is a sentence with the offset") {
    const auto middle = json::parse("{\"a\" 1}");
    REQUIRE_FALSE(middle);
    CHECK(middle.error().message() == "expected ':' at byte 5");
    CHECK(middle.error().code() == json::errc::syntax);
    CHECK(json::parse("[1").error().message() == "the input ended early: expected ',' or ']' at byte 2");
    CHECK(middle.error().code().message() == "the text is not JSON");
}

TEST_CASE("a view knows its type and its exact bytes") {
    CHECK(parsed(" [1, 2] ").raw() == "[1, 2]");
    CHECK(parsed(" -1.50 ").raw() == "-1.50");
    CHECK(parsed("null").is_null());
    CHECK(parsed("{}").is_object());
    CHECK(parsed("[]").is_array());
    CHECK(parsed("\"\"").is_string());
    CHECK(parsed("true").type() == json::type::boolean);
    CHECK(parsed("-1").type() == json::type::number);
    CHECK(json::view().is_null());
    CHECK(json::view().raw() == "null");
}

TEST_CASE("scalars are read only as what they are") {
    CHECK(parsed("true").as_bool() == true);
    CHECK(parsed("false").as_bool() == false);
    CHECK_FALSE(parsed("0").as_bool());
    CHECK(parsed("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
    CHECK(parsed("9223372036854775807").as_int() == std::numeric_limits<std::int64_t>::max());
    for (const auto text : {"9223372036854775808", "1.0", "1e3", "\"1\"", "null"})
        CHECK_FALSE(parsed(text).as_int());
    CHECK(parsed("0.1").as_double() == 0.1);
    CHECK(parsed("7").as_double() == 7.0);
    CHECK_FALSE(parsed("1e999").as_double());
    CHECK(parsed("1e-999").as_double() == 0.0);
    CHECK(std::signbit(*parsed("-1e-999").as_double()));
    CHECK_FALSE(parsed("\"0.1\"").as_double());
    CHECK_FALSE(parsed("1").as_string());
    CHECK_FALSE(parsed("{}").as_text());
}

TEST_CASE("strings are unescaped") {
    CHECK(parsed(R"("a\"\\\/\b\f\n\r\tz")").as_string() == "a\"\\/\b\f\n\r\tz");
    CHECK(parsed(R"("\u0041\u00E9\u20ac\ud83d\ude00")").as_string() ==
          "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(parsed(R"("\u0000")").as_string() == std::string(1, '\0'));
    CHECK(parsed("\"plain \xc3\xa9\"").as_text() == thalweg::text("plain \xc3\xa9"));
    CHECK(parsed(R"("\ud83dx\ude00\ud83d\ud83d\ude00")").as_string() ==
          "\xed\xa0\xbdx\xed\xb8\x80\xed\xa0\xbd\xf0\x9f\x98\x80");
}

TEST_CASE("members come in the order of the text with their raw keys") {
    const auto object = parsed(R"( { "a" : [ {"x": "}"} ] , "\u0062":"\"," ,"a":-1, "":null } )");
    std::vector<std::string> seen;
    for (const auto member : object.members()) {
        seen.push_back(member.key.str() + "|" + std::string(member.key_raw) + "|" +
                       std::string(member.value.raw()));
    }
    CHECK(seen == std::vector<std::string>{R"(a|"a"|[ {"x": "}"} ])", R"(b|"\u0062"|"\",")", R"(a|"a"|-1)",
                                           R"(|""|null)"});
    CHECK(object.find("a")->raw() == R"([ {"x": "}"} ])");
    CHECK(object.find("b")->as_string() == "\",");
    CHECK(object.find("")->is_null());
    CHECK_FALSE(object.find("x"));
    CHECK(parsed("[1]").members().begin() == parsed("[1]").members().end());
    CHECK(parsed("{}").members().begin() == parsed("{}").members().end());
    CHECK_FALSE(parsed("[1]").find("a"));
}

TEST_CASE("elements come one by one") {
    std::vector<std::string> seen;
    for (const auto element : parsed(R"([1 , "a,]", [2,[]],{"b":[3]},true])").elements())
        seen.emplace_back(element.raw());
    CHECK(seen == std::vector<std::string>{"1", R"("a,]")", "[2,[]]", R"({"b":[3]})", "true"});
    CHECK(parsed("[]").elements().begin() == parsed("[]").elements().end());
    CHECK(parsed("{\"a\":1}").elements().begin() == parsed("{}").elements().end());
}

TEST_CASE("strings are written with the escapes of the wire form and no others") {
    CHECK(written("") == R"("")");
    CHECK(written("a\"\\\b\t\n\f\r/\x7f") == "\"a\\\"\\\\\\b\\t\\n\\f\\r/\x7f\"");
    CHECK(written("\x01\x1f\x00"sv) == R"("\u0001\u001f\u0000")");
    CHECK(written("\xc3\xa9\xe2\x80\xa8\xe2\x80\xa9\xf0\x9f\x98\x80") ==
          "\"\xc3\xa9\xe2\x80\xa8\xe2\x80\xa9\xf0\x9f\x98\x80\"");
    CHECK(written("x\xed\xa0\xbdy\xed\xbf\xbf\n") == R"("x\ud83dy\udfff\n")");
    CHECK(written("a\xff\xe2\x82") == "\"a\xef\xbf\xbd\xef\xbf\xbd\"");
    CHECK(written("\xff\xed\xa0\xbd\"") == "\"\xef\xbf\xbd\\ud83d\\\"\"");
}

TEST_CASE("what needs an escape is found at every place of a string") {
    for (std::size_t size = 1; size <= 20; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (const auto& [byte, escape] :
                 {std::pair{'"', "\\\""}, {'\\', "\\\\"}, {'\x1f', "\\u001f"}, {'\0', "\\u0000"}}) {
                std::string bytes(size, '~');
                bytes[at] = byte;
                const std::string expected = '"' + std::string(at, '~') + escape +
                                             std::string(size - at - 1, '~') + '"';
                REQUIRE(written(bytes) == expected);
            }
            std::string broken(size, ' ');
            broken[at] = '\x80';
            REQUIRE(written(broken) ==
                    '"' + std::string(at, ' ') + "\xef\xbf\xbd" + std::string(size - at - 1, ' ') + '"');
        }
    }
}

TEST_CASE("what is written is read back the same") {
    for (const auto text :
         {"", "plain", "tab\t\"quote\" \\ \x01", "\xed\xa0\x80 alone", "\xf0\x9f\x98\x80"}) {
        CHECK(parsed(written(text)).as_string() == text);
    }
}

TEST_CASE("numbers are written in their shortest form") {
    std::string out;
    json::append_int(out, std::numeric_limits<std::int64_t>::min());
    json::append_int(out, 0);
    CHECK(out == "-92233720368547758080");
    out.clear();
    for (const double value : {0.1, -1e300, 5.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        json::append_double(out, value);
        out += ' ';
    }
    CHECK(out == "0.1 -1e+300 5 null null ");
}

TEST_CASE("compacting removes white space between tokens only") {
    std::string out;
    json::append_compact(out, " { \"a b\" :\n[ 1 , \"\\\" x\" ]\t} ");
    CHECK(out == R"({"a b":[1,"\" x"]})");
}
