// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/protocol/provider.hpp>

#include <type_traits>
#include <vector>

using namespace thalweg;
using namespace std::chrono_literals;

static_assert(!std::is_aggregate_v<delta> && !std::is_aggregate_v<model_outcome> &&
              !std::is_aggregate_v<model_request>);
static_assert(std::is_nothrow_move_constructible_v<delta>);

TEST_CASE("outcomes say how a request ended") {
    CHECK(model_outcome::completed().status() == stop_reason::completed);
    CHECK(model_outcome::completed().why() == finish::end);
    const auto cut = model_outcome::completed(finish::length, "max_tokens");
    CHECK(cut.why() == finish::length);
    CHECK(cut.raw_stop_reason() == "max_tokens");
    CHECK(model_outcome::failed("broken pipe").message() == "broken pipe");
    CHECK(model_outcome::failed("x").status() == stop_reason::failed);
    CHECK(model_outcome::timeout("x").status() == stop_reason::timeout);
    CHECK(model_outcome::malformed("x").status() == stop_reason::malformed);
    CHECK(model_outcome::auth("x").status() == stop_reason::auth);
    CHECK(model_outcome::aborted().status() == stop_reason::aborted);
}

TEST_CASE("outcomes carry what the engine needs to decide about a retry") {
    const auto plain = model_outcome::failed("x");
    CHECK_FALSE(plain.is_permanent());
    CHECK_FALSE(plain.wait());
    CHECK_FALSE(plain.usage());
    const model_outcome busy = model_outcome::failed("429")
                                   .with_wait(1500ms)
                                   .with_usage({1, 2, 3, 4})
                                   .with_raw_stop_reason("overloaded");
    CHECK(busy.wait() == 1500ms);
    CHECK(busy.usage() == token_counts{1, 2, 3, 4});
    CHECK(busy.raw_stop_reason() == "overloaded");
    const model_outcome refused = model_outcome::failed("400").permanent();
    CHECK(refused.is_permanent());
    CHECK_FALSE(refused.is_context_too_long());
    const model_outcome too_long = model_outcome::failed("400").context_too_long();
    CHECK(too_long.is_context_too_long());
    CHECK(too_long.is_permanent());
}

TEST_CASE("a request's last text is the last text of its user input") {
    const std::vector<message> history = {message::user_text("long ago")};
    const std::vector<message> input = {message::user_text("first"), message::user_text("second"),
                                        message::assistant_text("an answer"), message::image_url("data:1")};
    CHECK(model_request(history, input, {}, {}, {}).last_text() == "second");
    CHECK(model_request(history, {}, {}, {}, {}).last_text().empty());
}

TEST_CASE("deltas carry their piece, and usage and whole messages in a box") {
    CHECK(delta::text("a").kind() == delta::type::text);
    CHECK(delta::text("a").content() == "a");
    CHECK(delta::call("id", "name").id() == "id");
    CHECK(delta::call("id", "name").content() == "name");
    CHECK(delta::usage({1, 2, 3, 4}).counts() == token_counts{1, 2, 3, 4});
    auto whole = delta::whole(message::assistant_text("x"));
    CHECK(whole.wrapped().content() == "x");
    CHECK(delta::end().kind() == delta::type::end);
}
