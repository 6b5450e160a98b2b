// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/testing/context_checker.hpp>

#include <vector>

using namespace thalweg;
using thalweg::testing::context_fault;

namespace {

message call(const char* id) {
    return message::tool_call("t", "{}", id);
}
message output(const char* id) {
    return message::tool_call_output("o", id);
}
message placeholder(const char* id) {
    return message::tool_call_output("gone", id).with_stop(stop_reason::aborted);
}
message user() {
    return message::user_text("u");
}
message said() {
    return message::assistant_text("a");
}

std::string fault(std::vector<message> context) {
    return context_fault(context, {});
}

} // namespace

TEST_CASE("a good context has each output directly behind its answer, in call order") {
    CHECK(fault({user(), said(), call("a"), call("b"), output("a"), output("b"), user()}) == "");
    CHECK(fault({user(), call("a"), output("a"), call("b"), output("b"), said()}) == "");
    CHECK(fault({user(), call("a"), call("b"), output("b"), placeholder("a"), user()}) == "");
    CHECK(context_fault(std::vector{user(), call("a")}, std::vector{output("a")}) == "");
}

TEST_CASE("a call without an output is named, whatever comes instead") {
    CHECK(fault({user(), call("a")}).find("'a' has no output") != std::string::npos);
    CHECK(fault({user(), call("a"), user(), output("a")}).find("'a' has no output") != std::string::npos);
    CHECK(fault({user(), call("a"), call("b"), output("a"), said()}).find("'b' has no output") !=
          std::string::npos);
}

TEST_CASE("an output without a call, a second one and a wrong order are named") {
    CHECK(fault({user(), output("x")}).find("'x' has no call") != std::string::npos);
    CHECK(fault({user(), call("a"), output("a"), output("a")}).find("two outputs") != std::string::npos);
    CHECK(fault({user(), call("a"), call("b"), output("b"), output("a")}).find("not in call order") !=
          std::string::npos);
}

TEST_CASE("a late placeholder in one batch says nothing about the order in the next") {
    CHECK(fault({user(), call("a"), call("b"), output("b"), placeholder("a"), said(), call("c"), call("d"),
                 output("c"), output("d")}) == "");
    CHECK(fault({user(), call("a"), call("b"), output("b"), placeholder("a"), said(), call("c"), call("d"),
                 output("d"), output("c")}) != "");
}
