// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent.hpp>
#include <thalweg/agent/compose.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/scripted.hpp>

#include <algorithm>
#include <stdexcept>

using namespace thalweg;
using namespace std::chrono_literals;
using environments::no_tools;
using testing::after;
using testing::answer;

namespace {

using words = std::vector<std::string>;

struct seen {
    std::vector<message> all;
    composition_outcome how{error(), {}};

    /// "hop/hop: words" of each text frame and each prompt, in order.
    [[nodiscard]] words said() const {
        words lines;
        for (const message& m : all) {
            const bool is_prompt = m.kind() == kind::text && m.role() == role::user;
            if (m.kind() != kind::partial_text && !is_prompt) continue;
            if (m.content().empty()) continue;
            lines.push_back(origin_of(m) + ": " + m.content().str());
        }
        return lines;
    }
    [[nodiscard]] static std::string origin_of(const message& m) {
        std::string hops;
        for (const text& hop : m.origin())
            hops += (hops.empty() ? "" : "/") + hop.str();
        return hops;
    }
    [[nodiscard]] bool has_abort_of(std::string_view origin) const {
        return std::any_of(all.begin(), all.end(), [origin](const message& m) {
            return m.event_if<run_abort>() != nullptr && origin_of(m) == origin;
        });
    }
};

task<seen> watch(stream<message, composition_outcome> run) {
    seen s;
    stream_checker checker;
    while (auto m = co_await run.next()) {
        checker.feed(*m);
        s.all.push_back(std::move(*m));
    }
    checker.finish();
    if (!checker.ok()) testing::complain(checker.report());
    s.how = std::move(run.result());
    co_return s;
}

agent_options called(std::string_view id) {
    agent_options options;
    options.id = text(id);
    return options;
}

words names(const composition_outcome& how) {
    words all;
    for (const part& each : how.parts())
        all.push_back(each.name().str() + (each.ok() ? "" : " failed"));
    return all;
}

std::string prompt_of(const testing::scripted_model& model, std::size_t request = 0) {
    return model.request(request).input.back().content().str();
}

} // namespace

CO_TEST_CASE("members that run at once show up in one stream as they speak") {
    testing::scripted_model slow{answer().wait(10ms).text("a1", "a2").with_gap(20ms)};
    testing::scripted_model late{answer().wait(20ms).text("b1", "b2").with_gap(20ms)};
    agent a(std::ref(slow), no_tools(), called("a"));
    agent b(std::ref(late), no_tools(), called("b"));
    auto s = co_await watch(parallel(a, b).run("go"));
    CHECK(s.said() == words{"a: go", "b: go", "a: a1", "b: b1", "a: a2", "b: b2"});
    CHECK(s.how.ok());
    CHECK(s.how.answer() == "## a\n\na1a2\n\n## b\n\nb1b2");
    CHECK(names(s.how) == words{"a", "b"});
}

CO_TEST_CASE("the answer of one is what the next one is asked, behind the prompt") {
    testing::scripted_model first{answer().text("facts")};
    testing::scripted_model second{answer().text("text")};
    agent a(std::ref(first), no_tools(), called("a"));
    agent b(std::ref(second), no_tools(), called("b"));
    auto s = co_await watch(sequence(a, b).run("why?"));
    CHECK(prompt_of(first) == "why?");
    CHECK(prompt_of(second) == "why?\n\n# Answer so far\n\nfacts");
    CHECK(s.how.answer() == "text");
    CHECK(names(s.how) == words{"a", "b"});
}

CO_TEST_CASE("a member that fails ends a sequence, and says which one it was") {
    testing::scripted_model broken{answer().ends(model_outcome::failed("no credit").permanent())};
    testing::scripted_model idle;
    agent a(std::ref(broken), no_tools(), called("a"));
    agent b(std::ref(idle), no_tools(), called("b"));
    auto s = co_await watch(sequence(a, b).run("go"));
    CHECK_FALSE(s.how.ok());
    CHECK(s.how.error().code() == agent_errc::model_failed);
    CHECK(s.how.error().message().starts_with("a: "));
    CHECK(s.how.error().message().find("no credit") != std::string::npos);
    CHECK(names(s.how) == words{"a failed"});
    CHECK(idle.requests() == 0);
}

CO_TEST_CASE("a member that fails beside others is a value in the outcome") {
    testing::scripted_model broken{answer().ends(model_outcome::failed("no credit").permanent())};
    testing::scripted_model good{answer().wait(10ms).text("fine")};
    agent a(std::ref(broken), no_tools(), called("a"));
    agent b(std::ref(good), no_tools(), called("b"));
    auto s = co_await watch(parallel(a, b).run("go"));
    CHECK(s.how.ok());
    CHECK(names(s.how) == words{"a failed", "b"});
    CHECK(s.how.answer().find("(no answer: ") != std::string::npos);
    CHECK(s.how.answer().ends_with("## b\n\nfine"));

    testing::scripted_model also_broken{answer().ends(model_outcome::failed("no luck").permanent())};
    broken.add(answer().ends(model_outcome::failed("no credit").permanent()));
    agent c(std::ref(also_broken), no_tools(), called("c"));
    auto none = co_await watch(parallel(a, c).run("go"));
    CHECK_FALSE(none.how.ok());
    CHECK(none.how.error().message().find("no luck") != std::string::npos);
}

CO_TEST_CASE("the first answer wins a race, and the others are stopped and have ended") {
    testing::scripted_model hanging{answer().hang()};
    testing::scripted_model quick{answer().wait(30ms).text("mine")};
    testing::scripted_model failing{answer().ends(model_outcome::failed("no").permanent())};
    agent a(std::ref(hanging), no_tools(), called("a"));
    agent b(std::ref(quick), no_tools(), called("b"));
    agent c(std::ref(failing), no_tools(), called("c"));
    auto s = co_await watch(race(a, b, c).run("go"));
    CHECK(s.how.answer() == "mine");
    CHECK(names(s.how) == words{"a failed", "b", "c failed"});
    CHECK(s.how.parts()[0].answer().error().code() == agent_errc::aborted);
    CHECK(s.has_abort_of("a"));
    CHECK_FALSE(a.is_busy());
    CHECK(a.state().messages.size() == 2); // the prompt, and what was left of the answer
}

CO_TEST_CASE("a race that is over before the last member begins does not begin it") {
    testing::scripted_model idle;
    agent a(std::ref(idle), no_tools(), called("a"));
    const composition at_once = map({}, [&idle] { return agent(std::ref(idle)); });
    auto s = co_await watch(race(at_once, a).run("go"));
    CHECK(s.how.ok());
    CHECK(names(s.how) == words{"map", "a failed"});
    CHECK(s.how.parts()[1].answer().error().code() == agent_errc::aborted);
    CHECK(idle.requests() == 0);
    CHECK(a.state().messages.empty());
}

CO_TEST_CASE("whom the router names goes on with the prompt itself") {
    testing::scripted_model router{answer().text("\"Technology\".\n"), answer().text("I cannot say")};
    testing::scripted_model bills;
    testing::scripted_model machines{answer().text("switch it on")};
    agent who(std::ref(router), no_tools(), called("who"));
    agent a(std::ref(bills), no_tools(), called("a"));
    agent b(std::ref(machines), no_tools(), called("b"));
    const composition desk = handoff(who, {{"billing", a}, {"technology", b}});
    auto s = co_await watch(desk.run("It is dark."));
    CHECK(prompt_of(router).find("billing, technology") != std::string::npos);
    CHECK(prompt_of(machines) == "It is dark.");
    CHECK(s.how.answer() == "switch it on");
    CHECK(names(s.how) == words{"who", "technology"});

    auto lost = co_await watch(desk.run("It is dark."));
    CHECK(lost.how.error().code() == agent_errc::mismatch);
    CHECK(lost.how.error().message().find("I cannot say") != std::string::npos);
    CHECK(names(lost.how) == words{"who"});
}

namespace {

/// A model that takes its time and counts how many requests go on at once.
struct counting_model {
    int now = 0;
    int most = 0;
    int left = 0;

    struct visit {
        counting_model& of;
        explicit visit(counting_model& m) : of(m) { of.most = std::max(of.most, ++of.now); }
        visit(const visit&) = delete;
        ~visit() {
            --of.now;
            ++of.left;
        }
    };

    stream<delta, model_outcome> generate(model_request request) {
        const visit counted(*this);
        const std::string asked(request.last_text());
        const auto pause = asked.ends_with("one") ? 50ms : 10ms;
        const bool is_over = co_await sleep_for(pause);
        if (!is_over) co_return model_outcome::aborted();
        co_yield delta::text(text("re: " + asked));
        co_return model_outcome::completed();
    }
};

} // namespace

CO_TEST_CASE("a map works on so many inputs at once and gives the answers in their order") {
    counting_model model;
    const std::vector<text> inputs{text("one"), text("two"), text("three"), text("four"), text("five")};
    auto many = map(inputs, [&model] { return agent(std::ref(model)); }, {.limit = 2});
    auto s = co_await watch(many.run("Q:"));
    CHECK(model.most == 2);
    CHECK(model.left == 5);
    CHECK(names(s.how) == words{"input 1", "input 2", "input 3", "input 4", "input 5"});
    CHECK(s.how.parts()[0].answer().value() == "re: Q:\n\none");
    CHECK(s.how.parts()[4].answer().value() == "re: Q:\n\nfive");
    CHECK(s.how.answer().starts_with("## input 1\n\nre: Q:\n\none\n\n## input 2"));
}

CO_TEST_CASE("an input for which no agent can be made fails alone") {
    counting_model model;
    const std::vector<text> inputs{text("good"), text("bad")};
    auto many = map(inputs, [&model](const text& input) {
        if (input.view() == "bad") throw std::runtime_error("no such thing");
        return agent(std::ref(model));
    });
    auto s = co_await watch(many.run());
    CHECK(s.how.ok());
    CHECK(s.how.parts()[0].answer().value() == "re: good");
    CHECK(s.how.parts()[1].answer().error().code() == agent_errc::hook_failed);
    CHECK(s.how.parts()[1].answer().error().message().find("no such thing") != std::string::npos);
    const composition idle = map({}, [&model] { return agent(std::ref(model)); });
    auto nothing = co_await watch(idle.run());
    CHECK(nothing.how.ok());
    CHECK(nothing.how.parts().empty());
}

CO_TEST_CASE("compositions are made of compositions, agents and sessions") {
    testing::scripted_model m1{answer().wait(10ms).text("fact")};
    testing::scripted_model m2{answer().wait(5ms).text("doubt")};
    testing::scripted_model m3{answer().text("essay")};
    agent researcher(std::ref(m1), no_tools(), called("researcher"));
    session critic(std::ref(m2), no_tools());
    agent writer(std::ref(m3), no_tools(), called("writer"));
    auto team = sequence(parallel(researcher, named("doubts", critic)), writer);
    auto s = co_await watch(team.run("Why do thalwegs wander?"));
    CHECK(s.how.answer() == "essay");
    CHECK(names(s.how) == words{"parallel", "writer"});
    REQUIRE(s.how.parts()[0].parts().size() == 2);
    CHECK(s.how.parts()[0].parts()[1].name().view() == "doubts");
    CHECK(prompt_of(m3) == "Why do thalwegs wander?\n\n# Answer so far\n\n## researcher\n\nfact\n\n## "
                           "doubts\n\ndoubt");
    for (const message& m : s.all)
        CHECK(m.origin().size() == 1);
}

CO_TEST_CASE("two members of one id do not run at once") {
    testing::scripted_model model{answer().wait(10ms).text("once")};
    agent a(std::ref(model), no_tools(), called("a"));
    auto s = co_await watch(parallel(a, named("again", a)).run("go"));
    CHECK(names(s.how) == words{"a", "again failed"});
    CHECK(s.how.parts()[1].answer().error().code() == agent_errc::busy);
    CHECK(model.requests() == 1);
}

CO_TEST_CASE("a busy member is a failed part and is not disturbed") {
    testing::scripted_model model{answer().wait(50ms).text("mine")};
    agent a(std::ref(model), no_tools(), called("a"));
    auto own = a.run("for myself");
    auto first = co_await own.next();
    CHECK(first.has_value());
    auto s = co_await watch(sequence(a).run("go"));
    CHECK(s.how.error().code() == agent_errc::busy);
    CHECK(s.all.empty());
    while (auto m = co_await own.next())
        static_cast<void>(m);
    CHECK(own.result().answer() == "mine");
}

// Stops
// -------------------------------------------------------------------------------------------------------

namespace {

/// Reads `run` in a scope of its own, asks it to stop after `pause`, and gives what it saw.
task<void> keep(stream<message, composition_outcome> run, seen& into) {
    seen all = co_await watch(std::move(run));
    into = std::move(all);
}

task<seen> stopped_after(composition what, std::chrono::milliseconds pause) {
    const context here = co_await this_coroutine();
    seen s;
    scope reader(here);
    reader.spawn(keep(what.run("go"), s));
    const bool is_over = co_await sleep_for(pause);
    static_cast<void>(is_over);
    reader.cancel(cancel_reason::user);
    co_await reader.join();
    co_return s;
}

} // namespace

CO_TEST_CASE("a stop request stops all members in order, whatever they are at") {
    for (const auto pause : {0ms, 5ms, 15ms, 25ms, 45ms}) {
        testing::scripted_model m1{answer().wait(10ms).text("x", "y").with_gap(10ms)};
        testing::scripted_model m2{answer().call("c", "slow"), answer().wait(10ms).text("z")};
        testing::scripted_model m3{answer().wait(20ms).text("end")};
        testing::scripted_tools tools{{"slow", after(20ms, "out")}};
        agent a(std::ref(m1), no_tools(), called("a"));
        agent b(std::ref(m2), std::ref(tools), called("b"));
        session c(std::ref(m3), no_tools());
        auto s = co_await stopped_after(sequence(parallel(a, b), c), pause);
        INFO("stopped after " << pause.count() << " ms");
        CHECK(s.how.error().code() == agent_errc::aborted);
        CHECK_FALSE(a.is_busy());
        CHECK_FALSE(b.is_busy());
        CHECK_FALSE(c.is_running());
        const std::size_t requests = m1.requests();
        CHECK(requests == 1);
        CHECK(s.has_abort_of("b") == (pause < 30ms));
    }
}

CO_TEST_CASE("a dropped stream takes its members back at every stage") {
    testing::scripted_model m1;
    testing::scripted_model m2;
    testing::scripted_tools tools{{"slow", after(20ms, "out")}};
    agent a(std::ref(m1), no_tools(), called("a"));
    agent b(std::ref(m2), std::ref(tools), called("b"));
    const composition team = sequence(parallel(a, b), race(b, a));
    std::size_t length = 1;
    for (std::size_t at = 0; at < length; ++at) {
        for (int n = 0; n < 3; ++n) {
            m1.add(answer().wait(10ms).text("x", "y"));
            m2.add(answer().call("c", "slow"));
            m2.add(answer().text("z"));
        }
        auto run = team.run("go");
        std::size_t taken = 0;
        for (; taken <= at; ++taken) {
            auto m = co_await run.next();
            if (!m) break;
        }
        if (taken > at) length = at + 2;
        run.reset();
        CHECK_FALSE(a.is_busy());
        CHECK_FALSE(b.is_busy());
    }
    CHECK(length > 20);
}

CO_TEST_CASE("what waits for its turn in a map is not begun when the whole is stopped") {
    counting_model model;
    const std::vector<text> inputs{text("a"), text("b"), text("c"), text("d")};
    auto many = map(inputs, [&model] { return agent(std::ref(model)); }, {.limit = 1});
    auto s = co_await stopped_after(many, 15ms);
    CHECK(s.how.error().code() == agent_errc::aborted);
    CHECK(names(s.how) == words{"input 1", "input 2 failed", "input 3 failed", "input 4 failed"});
    CHECK(model.left == 2);
}
