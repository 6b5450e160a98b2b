// SPDX-License-Identifier: BSL-1.0

#include "providers/asking.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/no_tools.hpp>
#include <thalweg/providers/rate_limited.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>

#include <deque>
#include <optional>
#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::rate_limit;
using providers::rate_limit_options;
using providers::rate_limited;
using providers::scripted;
using std::chrono::milliseconds;

namespace {

/// Takes a while for each answer and notes when which request began, in milliseconds of the test.
struct slow {
    milliseconds takes{0};
    std::vector<std::string> begun = {};
    std::optional<model_outcome> outcome = {};
    token_counts used = {};
    std::optional<loop::clock::time_point> start = {};

    stream<delta, model_outcome> generate(model_request request) {
        const context here = co_await this_coroutine();
        const auto since = std::chrono::duration_cast<milliseconds>(here.loop().now() - *start);
        begun.push_back(std::string(request.last_text()) + "@" + std::to_string(since.count()));
        const bool whole = co_await sleep_for(takes);
        if (!whole) co_return model_outcome::aborted();
        if (used.total > 0) co_yield delta::usage(used);
        if (outcome) co_return *outcome;
        co_return model_outcome::completed();
    }
};

/// Requests that run side by side, each under a stop request of its own.
class crowd {
public:
    explicit crowd(const context& here) : here_(here), all_(here) {}

    template <class P>
    void ask(P& provider, const char* name) {
        people_.emplace_back(here_, name);
        all_.spawn(one(provider, people_.back()), people_.back().under);
    }
    void interrupt(std::size_t n) { people_.at(n).cancel.request(cancel_reason::user); }
    void drop_all() { all_.drop(); }
    auto join() { return all_.join(); }
    [[nodiscard]] const std::optional<model_outcome>& outcome(std::size_t n) const {
        return people_.at(n).outcome;
    }

private:
    struct person {
        person(const context& here, const char* name) : what(asking(name)), under(here.loop(), cancel) {}
        question what;
        cancel_source cancel;
        context under;
        std::optional<model_outcome> outcome;
    };
    template <class P>
    static task<void> one(P& provider, person& who) {
        answered got = co_await testing::ask(provider, who.what);
        who.outcome.emplace(std::move(got.outcome));
    }
    context here_;
    std::deque<person> people_;
    scope all_;
};

} // namespace

static_assert(is_provider<rate_limited<scripted>>);
static_assert(std::is_move_constructible_v<rate_limited<scripted>>);

CO_TEST_CASE("without limits every request begins at once, and the answer is handed on unchanged") {
    rate_limited free(scripted(answer().text("a", "b").call("x", "look").usage(tokens(1, 2))),
                      rate_limit_options{});
    scripted alone(answer().text("a", "b").call("x", "look").usage(tokens(1, 2)));
    const auto got = co_await ask(free);
    const auto wanted = co_await ask(alone);
    REQUIRE(got.deltas == wanted.deltas);
    REQUIRE(got.outcome.why() == finish::tool_use);
    REQUIRE(free.limit().running() == 0);
}

CO_TEST_CASE("requests beyond the number of one period wait until the first of them is that old") {
    const context here = co_await this_coroutine();
    slow model{.takes = 100ms, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.requests = 2, .per = 1min});
    crowd all(here);
    for (const char* name : {"a", "b", "c", "d", "e"})
        all.ask(limited, name);
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@0", "c@60000", "d@60000", "e@120000"});
}

CO_TEST_CASE("the period slides: what counts is the age of the requests, not a calendar of minutes") {
    const context here = co_await this_coroutine();
    slow model{.start = here.loop().now()};
    rate_limited limited(std::ref(model), {.requests = 2, .per = 10s});
    crowd all(here);
    all.ask(limited, "a");
    co_await sleep_for(9s);
    all.ask(limited, "b");
    all.ask(limited, "c");
    all.ask(limited, "d");
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@9000", "c@10000", "d@19000"});
}

CO_TEST_CASE("no more requests run at the same time than may, first come first served") {
    const context here = co_await this_coroutine();
    slow model{.takes = 1s, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.concurrent = 2});
    crowd all(here);
    for (const char* name : {"a", "b", "c", "d", "e"})
        all.ask(limited, name);
    co_await sleep_for(500ms);
    REQUIRE(limited.limit().running() == 2);
    REQUIRE(limited.limit().waiting() == 3);
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@0", "c@1000", "d@1000", "e@2000"});
    REQUIRE(limited.limit().running() == 0);
    REQUIRE(limited.limit().waiting() == 0);
}

CO_TEST_CASE("who comes while a slot becomes free does not overtake the line") {
    const context here = co_await this_coroutine();
    slow model{.takes = 1s, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.concurrent = 1});
    crowd all(here);
    all.ask(limited, "a");
    all.ask(limited, "b");
    co_await sleep_for(1s); // a's slot is given free in this very moment
    all.ask(limited, "late");
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@1000", "late@2000"});
}

CO_TEST_CASE("an interrupt takes a request out of the line at any place and moves nobody") {
    for (std::size_t gone = 1; gone < 4; ++gone) {
        const context here = co_await this_coroutine();
        slow model{.takes = 1s, .start = here.loop().now()};
        rate_limited limited(std::ref(model), {.concurrent = 1});
        crowd all(here);
        for (const char* name : {"a", "b", "c", "d"})
            all.ask(limited, name);
        co_await sleep_for(500ms);
        all.interrupt(gone);
        co_await sleep_for(1ms);
        REQUIRE(all.outcome(gone));
        REQUIRE(all.outcome(gone)->status() == stop_reason::aborted);
        co_await all.join();
        std::vector<std::string> expected;
        std::size_t place = 0;
        for (const char* name : {"a", "b", "c", "d"})
            if (place++ != gone) expected.push_back(name + ("@" + std::to_string(expected.size() * 1000)));
        REQUIRE(model.begun == expected);
    }
}

CO_TEST_CASE("the next in the line goes at its time when the first gives up waiting for it") {
    const context here = co_await this_coroutine();
    slow model{.start = here.loop().now()};
    rate_limited limited(std::ref(model), {.requests = 1, .per = 10s});
    crowd all(here);
    all.ask(limited, "a");
    all.ask(limited, "b");
    all.ask(limited, "c");
    co_await sleep_for(3s);
    all.interrupt(1);
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "c@10000"});
}

CO_TEST_CASE("an interrupted or dropped request gives its slot free") {
    const context here = co_await this_coroutine();
    slow model{.takes = 1h, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.concurrent = 1});
    crowd all(here);
    all.ask(limited, "a");
    all.ask(limited, "b");
    co_await sleep_for(1s);
    all.interrupt(0);
    co_await sleep_for(1s);
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@1000"});
    all.interrupt(1);
    co_await all.join();

    crowd dropped(here);
    dropped.ask(limited, "c");
    co_await sleep_for(1s);
    REQUIRE(limited.limit().running() == 1);
    dropped.drop_all();
    REQUIRE(limited.limit().running() == 0);

    const question what = asking("d");
    auto unread = limited.generate(what.request()); // nobody is in the line before somebody reads
    REQUIRE(limited.limit().waiting() + limited.limit().running() == 0);
}

CO_TEST_CASE("a stream that is dropped while it waits leaves the line intact") {
    const context here = co_await this_coroutine();
    slow model{.takes = 1s, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.concurrent = 1});
    crowd all(here);
    all.ask(limited, "a");
    crowd dropped(here);
    dropped.ask(limited, "x");
    dropped.ask(limited, "y");
    co_await sleep_for(100ms);
    all.ask(limited, "b");
    co_await sleep_for(100ms);
    REQUIRE(limited.limit().waiting() == 3);
    dropped.drop_all();
    REQUIRE(limited.limit().waiting() == 1);
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@1000"});
}

CO_TEST_CASE("a wish to wait holds back all that share the limit, but not for longer than allowed") {
    const context here = co_await this_coroutine();
    slow busy{.outcome = model_outcome::failed("429").with_wait(20s), .start = here.loop().now()};
    slow other{.start = here.loop().now()};
    const rate_limit account({.longest_hold = 30s});
    rate_limited one(std::ref(busy), account);
    rate_limited two(std::ref(other), account);
    crowd all(here);
    all.ask(one, "a");
    co_await sleep_for(1s);
    all.ask(two, "b");
    co_await sleep_for(1s);
    REQUIRE(other.begun.empty());
    co_await sleep_for(19s);
    REQUIRE(other.begun == std::vector<std::string>{"b@20000"});
    busy.outcome = model_outcome::failed("429").with_wait(24h);
    all.ask(one, "c"); // at 21 s
    co_await sleep_for(1ms);
    all.ask(two, "d");
    co_await all.join();
    REQUIRE(other.begun == std::vector<std::string>{"b@20000", "d@51000"});

    rate_limited deaf(scripted(answer().ends(model_outcome::failed("x").with_wait(1h)), answer().text("now")),
                      rate_limit_options{.longest_hold = 0ms});
    const auto before = here.loop().now();
    co_await ask(deaf);
    co_await ask(deaf);
    REQUIRE(here.loop().now() == before);
}

CO_TEST_CASE("a shorter wish does not end a longer hold") {
    const context here = co_await this_coroutine();
    slow model{.outcome = model_outcome::failed("429").with_wait(20s), .start = here.loop().now()};
    rate_limited limited(std::ref(model), rate_limit_options{});
    slow quick{
        .takes = 1s, .outcome = model_outcome::failed("429").with_wait(1s), .start = here.loop().now()};
    rate_limited second(std::ref(quick), limited.limit());
    crowd all(here);
    all.ask(second, "a"); // fails at 1 s and wishes for 1 s
    all.ask(limited, "b");
    co_await sleep_for(2s);
    all.ask(second, "c");
    co_await all.join();
    REQUIRE(quick.begun == std::vector<std::string>{"a@0", "c@20000"});
}

CO_TEST_CASE("tokens that were reported within the period keep the next request waiting") {
    const context here = co_await this_coroutine();
    slow model{.used = tokens(10, 600), .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.tokens = 1000, .per = 10s});
    crowd all(here);
    all.ask(limited, "a"); // 600
    co_await sleep_for(4s);
    all.ask(limited, "b"); // 1200
    co_await sleep_for(1s);
    all.ask(limited, "c"); // at 10 s, when a's are forgotten
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@4000", "c@10000"});

    slow failing{.outcome = model_outcome::failed("x").with_usage(tokens(1, 1000)),
                 .start = here.loop().now()};
    rate_limited counted(std::ref(failing), {.tokens = 1000, .per = 10s});
    crowd more(here);
    more.ask(counted, "a");
    co_await sleep_for(1s);
    more.ask(counted, "b");
    co_await more.join();
    REQUIRE(failing.begun == std::vector<std::string>{"a@0", "b@10000"});
}

CO_TEST_CASE("all limits hold at once") {
    const context here = co_await this_coroutine();
    slow model{.takes = 4s, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.requests = 3, .per = 10s, .concurrent = 2});
    crowd all(here);
    for (const char* name : {"a", "b", "c", "d"})
        all.ask(limited, name);
    co_await all.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@0", "c@4000", "d@10000"});
}

CO_TEST_CASE("a provider that throws gives its slot free") {
    struct throwing {
        stream<delta, model_outcome> generate(model_request) { throw std::runtime_error("no luck"); }
    };
    rate_limited limited(throwing{}, {.concurrent = 1});
    for (int n = 0; n < 2; ++n) {
        std::string said;
        try {
            co_await ask(limited);
        } catch (const std::runtime_error& e) {
            said = e.what();
        }
        REQUIRE(said == "no luck");
        REQUIRE(limited.limit().running() == 0);
    }
}

CO_TEST_CASE("sessions of one loop share a limit") {
    const context here = co_await this_coroutine();
    slow model{.takes = 1s, .start = here.loop().now()};
    rate_limited limited(std::ref(model), {.concurrent = 1});
    session first(std::ref(limited), none);
    session second(std::ref(limited), none);
    scope both(here);
    const auto talk = [](auto& chat, const char* prompt) -> task<void> {
        auto run = chat.run(prompt);
        while (auto m = co_await run.next()) {}
    };
    both.spawn(talk(first, "a"));
    both.spawn(talk(second, "b"));
    co_await both.join();
    REQUIRE(model.begun == std::vector<std::string>{"a@0", "b@1000"});
}
