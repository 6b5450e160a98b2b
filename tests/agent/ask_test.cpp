// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/ask.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/scripted.hpp>

using namespace thalweg;
using testing::answer;

struct trip {
    std::string city;
    int days = 1;
};
BOOST_DESCRIBE_STRUCT(trip, (), (city, days))

CO_TEST_CASE("an answer becomes a value, with the schema in prompt and request") {
    testing::scripted_model model{answer().text(R"({"city":"Oslo","days":3})")};
    agent helper(std::ref(model));
    auto planned = co_await helper.ask<trip>("Where to?");
    REQUIRE(planned);
    CHECK(planned.value().city == "Oslo");
    CHECK(planned.value().days == 3);
    CHECK(model.request(0).response_schema == schema<trip>());
    const std::string asked = model.request(0).input.back().content().str();
    CHECK(asked.starts_with("Where to?\n"));
    CHECK(asked.find(schema<trip>().view()) != std::string::npos);
    CHECK(helper.state().messages.size() == 2);

    model.add(answer().text("plain"));
    auto plain = co_await helper.prompt("And without a form?");
    CHECK(plain.ok());
    CHECK(model.request(1).response_schema.empty());
}

CO_TEST_CASE("one fenced block around an answer is taken off, and nothing else") {
    testing::scripted_model model{answer().text("\n```json\n{\"city\":\"Rome\"}\n```\n")};
    agent helper(std::ref(model));
    auto planned = co_await helper.ask<trip>("Where to?");
    REQUIRE(planned);
    CHECK(planned.value().city == "Rome");
    CHECK(planned.value().days == 1);

    CHECK(detail::json_of_answer(" {} ") == "{}");
    CHECK(detail::json_of_answer("").empty());
    CHECK(detail::json_of_answer("```json\n```").empty());
    CHECK(detail::json_of_answer("```\n{}\n```") == "```\n{}\n```");
    CHECK(detail::json_of_answer("Here: ```json\n{}\n```") == "Here: ```json\n{}\n```");
    CHECK(detail::json_of_answer("```json\n``") == "```json\n``");
}

CO_TEST_CASE("an answer that does not fit is sent back once with the path of the first mismatch") {
    testing::scripted_model model{answer().text(R"({"city":"Oslo","days":"many"})"),
                                  answer().text(R"({"city":"Oslo","days":2})")};
    agent helper(std::ref(model));
    auto planned = co_await helper.ask<trip>("Where to?");
    REQUIRE(planned);
    CHECK(planned.value().days == 2);
    CHECK(model.requests() == 2);
    const std::string sent = model.request(1).input.back().content().str();
    CHECK(sent.find("days: expected an integer") != std::string::npos);
    CHECK(model.request(1).response_schema == schema<trip>());
    CHECK(helper.state().messages.size() == 4);
}

CO_TEST_CASE("a second answer that does not fit is a mismatch with its path") {
    testing::scripted_model model{answer().text("Oslo, of course."), answer().text(R"({"days":2})")};
    agent helper(std::ref(model));
    auto planned = co_await helper.ask<trip>("Where to?");
    REQUIRE_FALSE(planned);
    CHECK(planned.error().code() == agent_errc::mismatch);
    CHECK(planned.error().message().find("city") != std::string::npos);
    CHECK(model.requests() == 2);
    CHECK(model.request(1).input.back().content().view().find("not JSON") != std::string_view::npos);
    CHECK_FALSE(helper.is_busy());
}

CO_TEST_CASE("a run that fails is that failure, and a busy agent says so at once") {
    testing::scripted_model model{answer().ends(model_outcome::failed("no credit").permanent())};
    agent helper(std::ref(model));
    auto failed = co_await helper.ask<trip>("Where to?");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == agent_errc::model_failed);

    auto waiting = helper.ask<trip>("Where to?");
    CHECK(helper.is_busy());
    auto refused = co_await helper.ask<trip>("And now?");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == agent_errc::busy);
    waiting.reset();
    CHECK_FALSE(helper.is_busy());
}

CO_TEST_CASE("a question that is aborted behind a wrong answer is not corrected") {
    testing::scripted_model model{answer().text("bad"), answer().text(R"({"city":"Rome"})")};
    agent helper(std::ref(model));
    auto told = helper.subscribe([&helper](const agent_event& e) {
        if (e.kind() == agent_event::type::turn_end) CHECK(helper.abort("stop"));
    });
    auto planned = co_await helper.ask<trip>("Where to?");
    REQUIRE_FALSE(planned);
    CHECK(planned.error().code() == agent_errc::aborted);
    CHECK(model.requests() == 1);
}
