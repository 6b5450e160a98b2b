// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/agent/agent_message.hpp>

#include <vector>

using thalweg::agent_message;
using thalweg::agent_stop;
using thalweg::content_block;
using thalweg::content_list;
using thalweg::text;

namespace {

struct note {
    static constexpr std::string_view role = "note";
    std::string body;
    int level = 1;
};
BOOST_DESCRIBE_STRUCT(note, (), (body, level))

struct alert {
    static constexpr std::string_view role = "alert";
    std::vector<std::string> places;
};
BOOST_DESCRIBE_STRUCT(alert, (), (places))

} // namespace

TEST_CASE("a copy of a content list does not see what the original gets later") {
    content_list list;
    std::vector<content_list> copies;
    for (int i = 0; i < 50; ++i) {
        copies.push_back(list);
        list.push_back(content_block::text(text(std::to_string(i))));
    }
    for (std::size_t i = 0; i < copies.size(); ++i) {
        REQUIRE(copies[i].size() == i);
        for (std::size_t k = 0; k < i; ++k)
            CHECK(copies[i][k].content() == std::to_string(k));
    }
    content_list branch = copies[10];
    branch.push_back(content_block::text("other"));
    CHECK(list[10].content() == "10");
    CHECK(branch[10].content() == "other");
    CHECK(branch != list);
    list = {};
    CHECK(branch.size() == 11);
    CHECK(branch[9].content() == "9");
}

TEST_CASE("the text of a content list is that of its text blocks") {
    const content_list list{content_block::text("a"), content_block::thinking("hm"),
                            content_block::text("b")};
    CHECK(list.joined_text() == "ab");
    CHECK(content_list().joined_text().empty());
    CHECK(list.back() == content_block::text("b"));
}

TEST_CASE("a data URL becomes an image with its type, a web URL stays") {
    CHECK(content_block::image_url("data:image/png;base64,QUJD") ==
          content_block::image("QUJD", "image/png"));
    CHECK(content_block::image_url("https://x/y.png").content() == "https://x/y.png");
    CHECK(content_block::image_url("https://x/y.png").mime_type().empty());
    CHECK(content_block::image_url("data:,plain").content() == "data:,plain");
}

TEST_CASE("a message knows its role and only its own fields") {
    const auto result = agent_message::tool_result("c1", "read", content_block::text("A"), "[1]", true);
    CHECK(result.role() == "toolResult");
    CHECK(result.details() == "[1]");
    CHECK(result.is_error());
    CHECK(result.error().empty());
    const auto broken = agent_message::assistant({}).with_error(agent_stop::aborted, "stopped");
    CHECK(broken.role() == "assistant");
    CHECK(broken.is_broken());
    CHECK(broken.error() == "stopped");
    CHECK(broken.details().empty());
    CHECK_FALSE(agent_message::assistant({}, agent_stop::length).is_broken());
    CHECK(agent_message().role() == "user");
}

TEST_CASE("a custom message gives its value to who asks for its type, and to nobody else") {
    const auto made = agent_message::custom(note{"saved", 2});
    CHECK(made.role() == "note");
    CHECK(made.members() == R"({"body":"saved","level":2})");
    REQUIRE(made.get_if<note>() != nullptr);
    CHECK(made.get_if<note>()->level == 2);
    CHECK(made.get_if<alert>() == nullptr);
    CHECK(agent_message::user("x").get_if<note>() == nullptr);
    CHECK(agent_message::untyped("note", made.members()).get_if<note>() == nullptr);
    CHECK(agent_message::untyped("note", made.members()) == made);
}

TEST_CASE("a custom message read from data skips what its type does not know and keeps it") {
    const auto read = agent_message::custom_from(thalweg::custom_type_of<note>,
                                                 R"({"body":"x","color":"red"})");
    REQUIRE(read);
    CHECK(read.value().get_if<note>()->body == "x");
    CHECK(read.value().get_if<note>()->level == 1);
    CHECK(read.value().members() == R"({"body":"x","color":"red"})");
    const auto wrong = agent_message::custom_from(thalweg::custom_type_of<note>, R"({"body":7})");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message().find("body") != std::string::npos);
}

TEST_CASE("the table of custom types has each once, in order") {
    const auto table = thalweg::custom_types<note, alert>();
    REQUIRE(table.size() == 2);
    CHECK(table[0]->role == "note");
    CHECK(table[1] == &thalweg::custom_type_of<alert>);
    CHECK(thalweg::custom_types<>().empty());
}
