// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/engine/summary.hpp>

#include <string>
#include <vector>

namespace {

using namespace thalweg;

TEST_CASE("the inside of the first pair of tags is the summary") {
    CHECK(extract_summary(std::string_view("[summary]the story[/summary]")) == "the story");
    CHECK(extract_summary(std::string_view("Well.\n[summary]\n  a\nb \n[/summary]\nDone.")) == "a\nb");
    CHECK(extract_summary(std::string_view("[summary]one[/summary][summary]two[/summary]")) == "one");
    CHECK(extract_summary(std::string_view("x <summary>in angles</summary> y")) == "in angles");
}

TEST_CASE("square tags win over angle tags wherever they stand") {
    CHECK(extract_summary(std::string_view("<summary>first</summary>[summary]second[/summary]")) == "second");
    CHECK(extract_summary(std::string_view("[summary] [/summary]<summary>first</summary>")) == "first");
}

TEST_CASE("a pair that holds only blanks and tags is passed over") {
    CHECK(extract_summary(std::string_view("[summary] \n[/summary][summary]two[/summary]")) == "two");
    CHECK(extract_summary(std::string_view("[summary]<summary>[/summary][summary]two[/summary]")) == "two");
}

TEST_CASE("stray tags inside of a summary are taken out") {
    CHECK(extract_summary(std::string_view("[summary]a <summary>b[summary] c[/summary]")) == "a b c");
}

TEST_CASE("without a pair that holds anything the text around the tags is the summary") {
    CHECK(extract_summary(std::string_view("[summary][/summary]\nthe body behind")) == "the body behind");
    CHECK(extract_summary(std::string_view("before [summary] \t [/summary]after")) == "before after");
    CHECK(extract_summary(std::string_view("[summary]never closed")) == "never closed");
    CHECK(extract_summary(std::string_view("[/summary]wrong[summary] way round")) == "wrong way round");
    CHECK(extract_summary(std::string_view("<summary>[summary]</summary>[/summary] kept </summary>")) ==
          "kept");
}

TEST_CASE("a text without tags is the summary as it is, trimmed") {
    CHECK(extract_summary(std::string_view(" \n as it is \r\n")) == "as it is");
    CHECK(extract_summary(std::string_view("[Summary]other tags[/Summary]")) ==
          "[Summary]other tags[/Summary]");
}

TEST_CASE("an answer with nothing but blanks and tags is unusable") {
    CHECK(extract_summary(std::string_view()).empty());
    CHECK(extract_summary(std::string_view(" \n\t")).empty());
    CHECK(extract_summary(std::string_view("[summary] [/summary] <summary></summary> [/summary]")).empty());
}

TEST_CASE("of an answer in messages only the assistant's texts count") {
    const std::vector<message> answer = {
        message::user_text("[summary]asked for[/summary]"), message::thinking("[summary]thought[/summary]"),
        message::assistant_text("[summary]be"), message::assistant_text("gun and ended[/summary]")};
    CHECK(extract_summary(answer) == "begun and ended");
    CHECK(extract_summary(std::span<const message>()).empty());
}

TEST_CASE("a new context begins with the summary in a block") {
    const message made = context_summary("a\n[summary] b");
    CHECK(made.kind() == kind::text);
    CHECK(made.role() == role::user);
    CHECK(made.content() == "[context_summary]\na\n[summary] b\n[/context_summary]");
    CHECK(made.sender().empty());
}

TEST_CASE("long hostile answers are read in one go") {
    std::string many;
    for (int i = 0; i < 200'000; ++i)
        many += "[summary][/summary]<summary>";
    CHECK(extract_summary(many).empty());
}

} // namespace
