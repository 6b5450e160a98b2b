// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/describe.hpp>

#include "support/catch.hpp"

#include <limits>

namespace {

enum class unit { celsius, fahrenheit };
BOOST_DESCRIBE_ENUM(unit, celsius, fahrenheit)

struct point {
    double lat;
    double lon;
};
BOOST_DESCRIBE_STRUCT(point, (), (lat, lon))

struct forecast_args {
    std::string city;
    int days = 1;
    static constexpr thalweg::doc docs[] = {{"city", "Name of the \"city\""},
                                            {"days", "How far ahead, 1 to 14"}};
};
BOOST_DESCRIBE_STRUCT(forecast_args, (), (city, days))

struct everything {
    bool flag;
    std::int8_t tiny;
    std::uint64_t big;
    float ratio;
    std::string name;
    thalweg::text note;
    unit in;
    std::optional<int> maybe;
    std::vector<point> path;
    std::map<std::string, std::vector<bool>> table;
    point center;
};
BOOST_DESCRIBE_STRUCT(everything, (), (flag, tiny, big, ratio, name, note, in, maybe, path, table, center))

struct with_defaults {
    bool yes = true;
    bool no = false;
    bool unset_flag;
    int zero = 0;
    int unset_int;
    std::uint32_t as_first_pattern = 0x5A5A5A5A;
    std::uint32_t as_second_pattern = 0xA5A5A5A5;
    double half = 0.5;
    double unset_double;
    unit in = unit::fahrenheit;
    unit unset_unit;
    std::string name = "oslo";
    std::string unset_name;
    std::vector<int> list = {1, 2};
    std::vector<int> unset_list;
    std::optional<int> maybe;
    std::optional<int> certain = 3;
    point nested = {1, 2};
};
BOOST_DESCRIBE_STRUCT(with_defaults, (),
                      (yes, no, unset_flag, zero, unset_int, as_first_pattern, as_second_pattern, half,
                       unset_double, in, unset_unit, name, unset_name, list, unset_list, maybe, certain,
                       nested))

struct base {
    int inherited = 4;
};
BOOST_DESCRIBE_STRUCT(base, (), (inherited))
struct derived : base {
    int own;
};
BOOST_DESCRIBE_STRUCT(derived, (base), (own))

class constructed {
public:
    constructed() : set(7) {}
    int set;
    int unset; // NOLINT: left alone by the constructor on purpose
};
BOOST_DESCRIBE_STRUCT(constructed, (), (set, unset))

struct tree {
    std::string name;
    std::vector<tree> children = {};
};
BOOST_DESCRIBE_STRUCT(tree, (), (name, children))

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

template <class T>
std::string fault(std::string_view json, std::string_view place = {}) {
    auto view = thalweg::json::parse(json);
    REQUIRE(view);
    auto decoded = thalweg::decode<T>(view.value(), place);
    REQUIRE_FALSE(decoded);
    REQUIRE(decoded.error().code() == thalweg::json::errc::shape);
    return decoded.error().message();
}

template <class T>
T read(std::string_view json) {
    auto view = thalweg::json::parse(json);
    REQUIRE(view);
    auto decoded = thalweg::decode<T>(view.value());
    if (!decoded) FAIL(decoded.error().message());
    return std::move(decoded.value());
}

template <class T>
std::string written(const T& value) {
    std::string out;
    thalweg::encode(out, value);
    return out;
}

constexpr std::string_view full =
    R"({"flag":true,"tiny":-128,"big":18446744073709551615,"ratio":0.1,"name":"n\"\u00e4","note":"t","in":"celsius",)"
    R"("maybe":5,"path":[{"lat":1,"lon":-2.5}],"table":{"a":[true,false],"b":[]},"center":{"lat":0,"lon":0}})";

} // namespace

TEST_CASE("a described struct becomes a JSON Schema with descriptions, defaults and the required members") {
    REQUIRE(thalweg::schema<forecast_args>() ==
            R"({"type":"object","properties":{"city":{"type":"string","description":"Name of the \"city\""},)"
            R"("days":{"type":"integer","description":"How far ahead, 1 to 14","default":1}},)"
            R"("required":["city"],"additionalProperties":false})");
}

TEST_CASE("every supported type has its place in the schema") {
    REQUIRE(
        thalweg::schema<everything>() ==
        R"({"type":"object","properties":{"flag":{"type":"boolean"},"tiny":{"type":"integer"},)"
        R"("big":{"type":"integer"},"ratio":{"type":"number"},"name":{"type":"string"},"note":{"type":"string"},)"
        R"("in":{"type":"string","enum":["celsius","fahrenheit"]},"maybe":{"type":"integer"},)"
        R"("path":{"type":"array","items":{"type":"object","properties":{"lat":{"type":"number"},)"
        R"("lon":{"type":"number"}},"required":["lat","lon"],"additionalProperties":false}},)"
        R"("table":{"type":"object","additionalProperties":{"type":"array","items":{"type":"boolean"}}},)"
        R"("center":{"type":"object","properties":{"lat":{"type":"number"},"lon":{"type":"number"}},)"
        R"("required":["lat","lon"],"additionalProperties":false}},)"
        R"("required":["flag","tiny","big","ratio","name","note","in","path","table","center"],)"
        R"("additionalProperties":false})");
}

TEST_CASE("a schema is a JSON text itself") {
    REQUIRE(thalweg::json::parse(thalweg::schema<everything>().view()));
    REQUIRE(thalweg::json::parse(thalweg::schema<with_defaults>().view()));
    REQUIRE(thalweg::schema<nothing>() ==
            R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

TEST_CASE("a struct that contains itself has a finite schema") {
    REQUIRE(thalweg::schema<tree>() ==
            R"({"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array",)"
            R"("items":{"type":"object"}}},"required":["name","children"],"additionalProperties":false})");
    const auto t = read<tree>(R"({"name":"a","children":[{"name":"b","children":[]}]})");
    REQUIRE(t.children.at(0).name == "b");
}

TEST_CASE("a member with an initializer may be left out, one without may not") {
    std::vector<std::string_view> required;
    for (const auto& f : thalweg::detail::fields_of<with_defaults>())
        if (f.required) required.push_back(f.name);
    REQUIRE(required == std::vector<std::string_view>{"unset_flag", "unset_int", "unset_double", "unset_unit",
                                                      "unset_name", "unset_list", "nested"});
    const auto made = read<with_defaults>(
        R"({"unset_flag":true,"unset_int":1,"unset_double":1,"unset_unit":"celsius","unset_name":"","unset_list":[],)"
        R"("nested":{"lat":1,"lon":1}})");
    REQUIRE(made.yes);
    REQUIRE_FALSE(made.no);
    REQUIRE(made.zero == 0);
    REQUIRE(made.as_first_pattern == 0x5A5A5A5A);
    REQUIRE(made.as_second_pattern == 0xA5A5A5A5);
    REQUIRE(made.half == 0.5);
    REQUIRE(made.in == unit::fahrenheit);
    REQUIRE(made.name == "oslo");
    REQUIRE(made.list == std::vector{1, 2});
    REQUIRE_FALSE(made.maybe);
    REQUIRE(made.certain == 3);
}

TEST_CASE("every visible default is written into the schema") {
    const std::string schema = thalweg::schema<with_defaults>().str();
    for (const char* part :
         {R"("yes":{"type":"boolean","default":true})", R"("no":{"type":"boolean","default":false})",
          R"("zero":{"type":"integer","default":0})", R"("half":{"type":"number","default":0.5})",
          R"("in":{"type":"string","enum":["celsius","fahrenheit"],"default":"fahrenheit"})",
          R"("name":{"type":"string","default":"oslo"})",
          R"("list":{"type":"array","items":{"type":"integer"},"default":[1,2]})",
          R"("maybe":{"type":"integer"})", R"("certain":{"type":"integer","default":3})",
          R"("unset_int":{"type":"integer"})"})
        REQUIRE_THAT(schema, Catch::Contains(part));
}

TEST_CASE("members of bases and members that a constructor sets count as well") {
    REQUIRE(
        thalweg::schema<derived>() ==
        R"({"type":"object","properties":{"inherited":{"type":"integer","default":4},"own":{"type":"integer"}},)"
        R"("required":["own"],"additionalProperties":false})");
    const auto fields = thalweg::detail::fields_of<constructed>();
    REQUIRE_FALSE(fields[0].required);
    REQUIRE(fields[1].required);
}

TEST_CASE("values of every supported type are read and written back") {
    const auto value = read<everything>(full);
    REQUIRE(value.flag);
    REQUIRE(value.tiny == -128);
    REQUIRE(value.big == std::numeric_limits<std::uint64_t>::max());
    REQUIRE(value.ratio == 0.1F);
    REQUIRE(value.name == "n\"\xC3\xA4");
    REQUIRE(value.note == "t");
    REQUIRE(value.in == unit::celsius);
    REQUIRE(value.maybe == 5);
    REQUIRE(value.path.at(0).lon == -2.5);
    REQUIRE(value.table.at("a") == std::vector{true, false});
    REQUIRE(value.table.at("b").empty());
    REQUIRE(written(read<everything>(written(value))) == written(value));
    REQUIRE(
        written(value) ==
        "{\"flag\":true,\"tiny\":-128,\"big\":18446744073709551615,\"ratio\":0.1,\"name\":\"n\\\"\xC3\xA4\","
        R"("note":"t","in":"celsius","maybe":5,"path":[{"lat":1,"lon":-2.5}],)"
        R"("table":{"a":[true,false],"b":[]},"center":{"lat":0,"lon":0}})");
}

TEST_CASE("values stand alone too, not only as members") {
    REQUIRE(read<std::vector<int>>("[1, 2]") == std::vector{1, 2});
    REQUIRE(read<unit>(R"("fahrenheit")") == unit::fahrenheit);
    REQUIRE(written(std::vector<std::string>{"a", "b"}) == R"(["a","b"])");
    REQUIRE(written(std::optional<int>()) == "null");
    REQUIRE(written(std::map<std::string, int>()) == "{}");
    REQUIRE(written(static_cast<unit>(9)) == "9");
    REQUIRE(written(std::numeric_limits<float>::infinity()) == "null");
    REQUIRE(written(nothing{}) == "{}");
}

TEST_CASE("an empty optional is left out of a struct when it is written, and null reads as empty") {
    REQUIRE_THAT(written(with_defaults{}), !Catch::Contains("maybe"));
    auto view = thalweg::json::parse(R"(null)");
    auto decoded = thalweg::decode<std::optional<int>>(view.value());
    REQUIRE(decoded);
    REQUIRE_FALSE(decoded.value().has_value());
}

TEST_CASE("a wrong value is named by its path, what was expected and what came") {
    REQUIRE(fault<everything>(R"({"path":[{"lat":1,"lon":2},{"lat":"north","lon":2}]})") ==
            R"(path[1].lat: expected a number, got "north")");
    REQUIRE(fault<everything>(R"({"table":{"a":[true,1]}})") == "table.a[1]: expected true or false, got 1");
    REQUIRE(fault<everything>(R"({"flag":null})") == "flag: expected true or false, got null");
    REQUIRE(fault<everything>(R"({"name":[1]})") == "name: expected a string, got an array");
    REQUIRE(fault<everything>(R"({"path":{}})") == "path: expected an array, got an object");
    REQUIRE(fault<everything>(R"({"table":3})") == "table: expected an object, got 3");
    REQUIRE(fault<everything>(R"({"in":"kelvin"})") ==
            R"(in: expected one of "celsius", "fahrenheit", got "kelvin")");
    REQUIRE(fault<everything>(R"({"in":0})") == R"(in: expected one of "celsius", "fahrenheit", got 0)");
    REQUIRE(fault<everything>(R"({"maybe":"x"})") == R"(maybe: expected an integer, got "x")");
    REQUIRE(fault<forecast_args>("[1]") == "expected an object, got an array");
    REQUIRE(fault<forecast_args>("7", "arguments") == "arguments: expected an object, got 7");
    REQUIRE(fault<forecast_args>(R"({"city":3})", "where") == "where.city: expected a string, got 3");
    REQUIRE(fault<std::vector<int>>(R"([1,"a"])", "list") == R"(list[1]: expected an integer, got "a")");
}

TEST_CASE("numbers out of range or with a fraction are refused, integers in another dress are not") {
    REQUIRE(fault<everything>(R"({"tiny":128})") == "tiny: expected an integer from -128 to 127, got 128");
    REQUIRE(fault<everything>(R"({"tiny":-129})") == "tiny: expected an integer from -128 to 127, got -129");
    REQUIRE(fault<everything>(R"({"big":18446744073709551616})") ==
            "big: expected an integer from 0 to 18446744073709551615, got 18446744073709551616");
    REQUIRE(fault<everything>(R"({"big":-1})") ==
            "big: expected an integer from 0 to 18446744073709551615, got -1");
    REQUIRE(fault<everything>(R"({"tiny":1.5})") == "tiny: expected an integer, got 1.5");
    REQUIRE(fault<everything>(R"({"tiny":1e99})") == "tiny: expected an integer from -128 to 127, got 1e99");
    REQUIRE(fault<everything>(R"({"ratio":1e39})") == "ratio: expected a number of a smaller size, got 1e39");
    REQUIRE(fault<everything>(R"({"ratio":1e999})") ==
            "ratio: expected a number of a smaller size, got 1e999");
    REQUIRE(read<std::vector<int>>("[1.0, 2e1, -3.0, -0]") == std::vector{1, 20, -3, 0});
    REQUIRE(read<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    REQUIRE(
        fault<std::int64_t>("-9223372036854775809", "n") ==
        "n: expected an integer from -9223372036854775808 to 9223372036854775807, got -9223372036854775809");
}

TEST_CASE("unknown, missing and doubled members are named") {
    REQUIRE(fault<forecast_args>(R"({"city":"Rome","dys":1})") ==
            "dys: unknown member; known are city, days");
    REQUIRE(fault<nothing>(R"({"x":1})") == "x: unknown member; there are none");
    REQUIRE(fault<forecast_args>(R"({"days":2})") == "city: required, but missing (string)");
    REQUIRE(fault<everything>(R"({"center":{"lat":1}})") == "center.lon: required, but missing (number)");
    REQUIRE(fault<forecast_args>(R"({"city":"a","city":"b"})") == "city: given twice");
    REQUIRE(fault<std::map<std::string, int>>(R"({"a":1,"\u0061":2})") == "a: given twice");
}

TEST_CASE("a long wrong value is cut at a character") {
    const std::string
        umlauts = "\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\xA4\xC3\xB6";
    const std::string message = fault<forecast_args>("{\"days\":\"x" + umlauts + umlauts + umlauts + "\"}");
    REQUIRE(message == "days: expected an integer, got \"x" + umlauts + umlauts.substr(0, 18) + "...");
}

TEST_CASE("an unpaired surrogate arrives as the replacement character") {
    REQUIRE(read<forecast_args>(R"({"city":"a\ud800b"})").city == "a\xEF\xBF\xBD"
                                                                  "b");
    REQUIRE(read<forecast_args>(R"({"city":"\ud83d\ude00"})").city == "\xF0\x9F\x98\x80");
}

TEST_CASE("a tool call decodes its own arguments and names the tool in the fault") {
    using thalweg::tool_call;
    REQUIRE(tool_call("forecast", R"({"city":"Rome","days":3})", "c1").decode<forecast_args>().value().days ==
            3);
    REQUIRE(tool_call("ping", "", "c1").decode<nothing>());
    REQUIRE(tool_call("ping", " \n", "c1").decode<nothing>());

    auto wrong = tool_call("forecast", R"({"city":"Rome","days":"two"})", "c1").decode<forecast_args>();
    REQUIRE(wrong.error().message() ==
            R"(Invalid arguments for forecast: days: expected an integer, got "two")");
    REQUIRE(wrong.error().code() == thalweg::json::errc::shape);

    auto broken = tool_call("forecast", R"({"city":)", "c1").decode<forecast_args>();
    REQUIRE_THAT(broken.error().message(),
                 Catch::StartsWith("Invalid arguments for forecast: the input ended early"));
    REQUIRE_THAT(broken.error().message(), Catch::Contains("byte 8"));
}
