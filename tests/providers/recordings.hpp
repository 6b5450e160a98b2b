// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the tests of recordings and replays share.

#include "providers/asking.hpp"
#include "support/catch.hpp"

namespace thalweg::testing {

/// A conversation with every kind of message.
inline question rich() {
    question what;
    what.system = "be brief";
    what.thinking_level = "high";
    what.response_schema = R"({"type": "object"})";
    what.tools = {
        {.name = "look", .description = "looks", .parameters = R"({"type":"object","properties":{}})"}};
    what.history.push_back(message::user_text("see").with_images({"data:image/png;base64,AAAA"}));
    what.history.push_back(message::thinking("hm").with_fidelity(R"({"signature":"x"})"));
    what.history.push_back(message::assistant_text("I look"));
    what.history.push_back(message::tool_call("look", R"({"at": 1})", "call-1"));
    what.history.push_back(message::tool_call("look", "{}", "call-2"));
    what.history.push_back(message::tool_call_output("a tree", "call-1"));
    what.history.push_back(message::tool_call_output("", "call-2").with_stop(stop_reason::failed));
    what.history.push_back(message::image_url("https://example.org/a.png"));
    what.history.push_back(message::inline_data(role::assistant, "QUJD", "image/png"));
    return what;
}

/// The sentence of a request that was not recorded.
inline std::string miss_of(const answered& got) {
    REQUIRE(got.deltas.empty());
    REQUIRE(got.outcome.status() == stop_reason::failed);
    REQUIRE(got.outcome.is_permanent());
    return got.outcome.message();
}

} // namespace thalweg::testing
