// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/request_rules.hpp>

#include "support/catch.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace thalweg;

namespace {

constexpr std::array<std::string_view, 2> two_types = {"image/png", "image/gif"};
constexpr std::array<std::string_view, 1> one_member = {"anyOf"};
constexpr wire::request_rules strict = {.server = "Somebody",
                                        .longest_name = 5,
                                        .beside_letters = "_.",
                                        .name_begins_with_word = true,
                                        .no_members_on_top = one_member,
                                        .image_types = two_types,
                                        .largest_image = 4,
                                        .takes_image_urls = false};
constexpr wire::request_rules lax = {.server = "Anybody"};

const message prompt = message::user_text("go");

std::string of_tools(std::vector<tool_definition> tools, const wire::request_rules& rules) {
    return wire::refusal_of(model_request({}, std::span(&prompt, 1), tools, {}, {}), rules);
}

std::string of_name(std::string_view name, const wire::request_rules& rules) {
    return of_tools({{text(name), "", ""}}, rules);
}

std::string of_schema(std::string_view schema, const wire::request_rules& rules) {
    return of_tools({{"t", "", text(schema)}}, rules);
}

std::string of_message(const message& one, const wire::request_rules& rules) {
    const std::string as_input = wire::refusal_of(model_request({}, std::span(&one, 1), {}, {}, {}), rules);
    const model_request later(std::span(&one, 1), std::span(&prompt, 1), {}, {}, {});
    CHECK(wire::refusal_of(later, rules) == as_input); // wherever it stands
    return as_input;
}

message picture(std::string_view bytes, std::string_view type) {
    return message::inline_data(role::user, text(bytes), text(type));
}

} // namespace

TEST_CASE("request rules: names of tools") {
    for (const auto* const good : {"a", "_", "a1_.z"})
        CHECK(of_name(good, strict).empty());
    for (const auto* const bad : {"", "abcdef", "1a", ".a", "a-b", "a b", "\xC3\xA4", "a\n"}) {
        INFO(bad);
        const std::string refusal = of_name(bad, strict);
        CHECK(refusal.starts_with("tool name \""));
        CHECK(refusal.ends_with(
            "Somebody takes 1 to 5 letters, digits, '_' and '.', the first one a letter or '_'"));
    }
    CHECK(of_name("any.thing at all, of any length", lax).empty());
    CHECK(of_name("", lax) == "a tool has no name");
}

TEST_CASE("request rules: two tools of one name could both be meant") {
    CHECK(of_tools({{"a", "", ""}, {"b", "", ""}}, lax).empty());
    CHECK(of_tools({{"a", "", ""}, {"b", "", ""}, {"a", "", ""}}, lax) ==
          "two tools are named \"a\": a call could mean either");
}

TEST_CASE("request rules: schemas") {
    CHECK(of_schema("", strict).empty());
    CHECK(of_schema("{}", strict).empty());
    CHECK(of_schema(R"({"type":"object","properties":{"x":{"anyOf":[]}}})", strict).empty());
    CHECK(of_schema("[]", lax) == "the schema of tool \"t\" is no JSON object");
    CHECK(of_schema("{", lax).starts_with("the schema of tool \"t\" is not JSON: "));
    CHECK(of_schema(R"({"type":"array"})", lax) ==
          "the schema of tool \"t\" is of the type \"array\", but arguments are always an \"object\"");
    CHECK_FALSE(of_schema(R"({"type":["object","null"]})", lax).empty());
    CHECK(of_schema(R"({"anyOf":[]})", lax).empty());
    CHECK(of_schema(R"({"anyOf":[]})", strict) ==
          "the schema of tool \"t\" has \"anyOf\" at its top, which Somebody takes inside of \"properties\" "
          "only");
}

TEST_CASE("request rules: images by type, size and place") {
    CHECK(of_message(picture("AAAA", "image/png"), strict).empty());
    CHECK(of_message(picture("AAAAAA==", "image/gif"), strict).empty()); // four bytes
    CHECK(of_message(picture("AAAAAAA=", "image/gif"), strict) ==
          "an image has 5 bytes: Somebody takes at most 4");
    CHECK(of_message(picture("AAAA", "image/tiff"), strict) ==
          "an image is of the type \"image/tiff\": Somebody takes image/png and image/gif");
    const message by_url = message::image_url("https://x/y.png");
    CHECK(of_message(by_url, strict) == "an image is given by its URL: Somebody takes its bytes only");
    CHECK(of_message(by_url, lax).empty());
    CHECK(of_message(message::image_url("data:image/tiff;base64,AAAA"), strict).find("image/tiff") !=
          std::string::npos);
    std::vector<text> shots = {"data:image/png;base64,AAAA", "data:image/tiff;base64,AAAA"};
    const message output = message::tool_call_output("ok", "c1").with_images(std::move(shots));
    CHECK(of_message(output, strict).find("image/tiff") != std::string::npos);
    CHECK(of_message(output, lax).empty());
    CHECK(of_message(picture("AAAAAAAAAAAA", "image/tiff"), lax).empty());
    CHECK(of_message(picture("AAAAAAAAAAAA", "audio/wav"), strict).empty()); // no image
}
