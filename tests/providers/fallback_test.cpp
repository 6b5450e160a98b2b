// SPDX-License-Identifier: BSL-1.0

#include "providers/asking.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/no_tools.hpp>
#include <thalweg/providers/any_provider.hpp>
#include <thalweg/providers/fallback.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>

#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::fallback;
using providers::provider_switch;
using providers::scripted;

namespace {

scripted fails(model_outcome how) {
    return scripted(answer().ends(std::move(how)));
}

/// Throws in the middle of its answer, or before.
struct throwing {
    bool says_something = false;
    stream<delta, model_outcome> generate(model_request) {
        if (says_something) co_yield delta::text("half");
        throw std::runtime_error("no luck");
        co_return model_outcome::completed();
    }
};

/// No coroutine: what it throws comes out of generate() itself.
struct throwing_at_once {
    stream<delta, model_outcome> generate(model_request) { throw std::runtime_error("not even a stream"); }
};

} // namespace

static_assert(is_provider<fallback<scripted, std::reference_wrapper<scripted>>>);
static_assert(is_provider<any_provider>);
static_assert(std::is_nothrow_move_constructible_v<any_provider>);

CO_TEST_CASE("any_provider owns or refers to a provider that is chosen at run time") {
    scripted kept(answer().text("kept"), answer().text("again"));
    std::vector<any_provider> list;
    list.emplace_back(scripted(answer().text("owned")));
    list.emplace_back(std::ref(kept));
    const auto first = co_await ask(list[0]);
    REQUIRE(first.text == "owned");
    const auto second = co_await ask(list[1]);
    REQUIRE(second.text == "kept");
    REQUIRE(kept.requests() == 1);
    any_provider moved = std::move(list[1]);
    const auto third = co_await ask(moved);
    REQUIRE(third.text == "again");
    session chat(std::move(list[0]), none); // a session takes it as any other
    const auto run = co_await collect(chat.run("go"));
    REQUIRE_FALSE(run.result.ok()); // its script has been played
}

CO_TEST_CASE("the answer of the first provider that works is handed on unchanged") {
    scripted second(answer().text("unused"));
    fallback both(scripted(answer()
                               .thinking("hm")
                               .text("a", "b")
                               .call("x", "look", "{}")
                               .with_fidelity(R"({"s":1})")
                               .usage(tokens(3, 9))),
                  std::ref(second));
    scripted alone(answer()
                       .thinking("hm")
                       .text("a", "b")
                       .call("x", "look", "{}")
                       .with_fidelity(R"({"s":1})")
                       .usage(tokens(3, 9)));
    const auto got = co_await ask(both);
    const auto wanted = co_await ask(alone);
    REQUIRE(got.deltas == wanted.deltas);
    REQUIRE(got.outcome.status() == stop_reason::completed);
    REQUIRE(got.outcome.why() == finish::tool_use);
    REQUIRE_FALSE(got.outcome.usage());
    REQUIRE(second.requests() == 0);
}

CO_TEST_CASE(
    "every kind of failure before the first delta goes on to the next provider, which is asked the same") {
    std::vector<model_outcome> ways{model_outcome::failed("overloaded"),
                                    model_outcome::timeout("too slow"),
                                    model_outcome::malformed("no JSON"),
                                    model_outcome::auth("no key"),
                                    model_outcome::failed("no such model").permanent(),
                                    model_outcome::failed("too long").context_too_long()};
    for (const model_outcome& way : ways) {
        scripted second(answer().text("here"));
        std::vector<std::string> switches;
        fallback both(fails(way), std::ref(second));
        both.on_switch([&](const provider_switch& s) {
            switches.push_back(std::to_string(s.from) + ">" + std::to_string(s.to) + " " + s.why->message());
        });
        question what = asking("same");
        what.system = "be brief";
        const auto got = co_await ask(both, what);
        REQUIRE(got.text == "here");
        REQUIRE(got.outcome.status() == stop_reason::completed);
        REQUIRE(switches == std::vector<std::string>{"0>1 " + way.message()});
        REQUIRE(second.request(0).input.at(0).content() == "same");
        REQUIRE(second.request(0).system == "be brief");
    }
}

CO_TEST_CASE("once a delta was handed on a failure is the session's to retry") {
    scripted second(answer().text("never"));
    const auto cut = model_outcome::failed("reset").with_wait(3s);
    fallback both(scripted(answer().text("half").ends(cut)), std::ref(second));
    const auto got = co_await ask(both);
    REQUIRE(got.text == "half");
    REQUIRE(got.outcome.message() == "reset");
    REQUIRE(got.outcome.wait() == 3s);
    REQUIRE(second.requests() == 0);
}

CO_TEST_CASE("when all fail the message has every cause in order") {
    fallback all(fails(model_outcome::failed("busy").with_wait(5s)),
                 fails(model_outcome::timeout("slow").with_wait(2s)), fails(model_outcome::auth("no key")));
    const auto got = co_await ask(all);
    REQUIRE(got.outcome.status() == stop_reason::failed);
    REQUIRE(got.outcome.message() ==
            "none of 3 providers answered: (1) failed: busy; (2) timeout: slow; (3) auth: no key");
    REQUIRE(got.outcome.wait() == 2s); // the third has none, but is not worth another try
    REQUIRE_FALSE(got.outcome.is_permanent());
}

CO_TEST_CASE("the outcome of all failures says whether another try is worth it") {
    fallback keys(fails(model_outcome::auth("a")), fails(model_outcome::auth("b")));
    const auto no_key = co_await ask(keys);
    REQUIRE(no_key.outcome.status() == stop_reason::auth);
    REQUIRE(no_key.outcome.is_permanent());

    fallback slow(fails(model_outcome::timeout("a")), fails(model_outcome::timeout("b")));
    const auto too_slow = co_await ask(slow);
    REQUIRE(too_slow.outcome.status() == stop_reason::timeout);

    fallback garbage(fails(model_outcome::malformed("a")), fails(model_outcome::malformed("b")));
    const auto unreadable = co_await ask(garbage);
    REQUIRE(unreadable.outcome.status() == stop_reason::malformed);

    fallback lengths(fails(model_outcome::auth("a")), fails(model_outcome::failed("b").context_too_long()));
    const auto too_long = co_await ask(lengths);
    REQUIRE(too_long.outcome.is_context_too_long());
    REQUIRE(too_long.outcome.is_permanent());

    fallback mixed(fails(model_outcome::failed("a").context_too_long()), fails(model_outcome::failed("b")));
    const auto passing = co_await ask(mixed);
    REQUIRE_FALSE(passing.outcome.is_context_too_long());
    REQUIRE_FALSE(passing.outcome.is_permanent());

    fallback half(fails(model_outcome::failed("a").with_wait(1s)), fails(model_outcome::failed("b")));
    const auto no_wish = co_await ask(half);
    REQUIRE_FALSE(no_wish.outcome.wait()); // b may be asked at once
}

CO_TEST_CASE("a fallback of one provider changes nothing") {
    fallback one(fails(model_outcome::timeout("slow").with_wait(7s).with_raw_stop_reason("x")));
    const auto got = co_await ask(one);
    REQUIRE(got.outcome.status() == stop_reason::timeout);
    REQUIRE(got.outcome.message() == "slow");
    REQUIRE(got.outcome.wait() == 7s);
    REQUIRE(got.outcome.raw_stop_reason() == "x");
}

CO_TEST_CASE("the usage of failed attempts is summed up and never shown as that of the answer") {
    fallback none_left(fails(model_outcome::failed("a").with_usage(tokens(1, 10))),
                       scripted(answer().usage(tokens(2, 20)).ends(model_outcome::failed("b"))));
    const auto lost = co_await ask(none_left);
    REQUIRE(lost.deltas.empty());
    REQUIRE(lost.outcome.usage() == tokens(3, 30));

    fallback rescued(scripted(answer().usage(tokens(2, 20)).ends(model_outcome::failed("b"))),
                     scripted(answer().text("x").usage(tokens(4, 40))));
    const auto got = co_await ask(rescued);
    REQUIRE(got.deltas.back() == "usage 0 0 4 40");
    REQUIRE(got.outcome.usage() == tokens(2, 20));

    fallback usage_only(scripted(answer().usage(tokens(5, 50))), scripted(answer().text("never")));
    const auto empty = co_await ask(usage_only);
    REQUIRE(empty.deltas == std::vector<std::string>{"usage 0 0 5 50"});
    REQUIRE(empty.outcome.status() == stop_reason::completed);
}

CO_TEST_CASE("a session counts what the failed provider has used, beside the request") {
    session chat(fallback(fails(model_outcome::failed("a").with_usage(tokens(1, 10))),
                          scripted(answer().text("x").usage(tokens(4, 40)))),
                 none);
    const auto run = co_await collect(chat.run("go"));
    REQUIRE(run.result.ok());
    const auto usage = of_kind(run, kind::token_usage);
    REQUIRE(usage.size() == 1);
    REQUIRE(usage[0].event_if<token_usage>()->request == tokens(4, 40));
    REQUIRE(usage[0].event_if<token_usage>()->session == tokens(5, 50));
}

CO_TEST_CASE("an interrupt ends the request and asks nobody else") {
    scripted second(answer().text("never"));
    fallback both(scripted(answer().hang()), std::ref(second));
    const context here = co_await this_coroutine();
    cancel_source cancel;
    const context under(here.loop(), cancel);
    answered got;
    {
        scope work(under);
        const auto read = [](auto& from, answered& into) -> task<void> { into = co_await ask(from); };
        work.spawn(read(both, got));
        co_await sleep_for(1s);
        cancel.request(cancel_reason::user);
        co_await work.join();
    }
    REQUIRE(got.outcome.status() == stop_reason::aborted);
    REQUIRE(second.requests() == 0);
}

CO_TEST_CASE("a failure that comes with the interrupt is an interrupt") {
    struct failing_late {
        stream<delta, model_outcome> generate(model_request) {
            co_await stop_requested();
            co_return model_outcome::failed("the pipe is gone").with_usage(tokens(1, 1));
        }
    };
    scripted second(answer().text("never"));
    fallback both(failing_late{}, std::ref(second));
    const context here = co_await this_coroutine();
    cancel_source cancel;
    const context under(here.loop(), cancel);
    answered got;
    {
        scope work(under);
        const auto read = [](auto& from, answered& into) -> task<void> { into = co_await ask(from); };
        work.spawn(read(both, got));
        co_await sleep_for(1s);
        cancel.request(cancel_reason::user);
        co_await work.join();
    }
    REQUIRE(got.outcome.status() == stop_reason::aborted);
    REQUIRE(got.outcome.usage() == tokens(1, 1));
    REQUIRE(second.requests() == 0);
}

CO_TEST_CASE("a provider that throws has failed") {
    fallback early(throwing{}, throwing_at_once{}, scripted(answer().text("fine")));
    const auto got = co_await ask(early);
    REQUIRE(got.text == "fine");

    fallback late(throwing{.says_something = true}, scripted(answer().text("never")));
    const auto half = co_await ask(late);
    REQUIRE(half.text == "half");
    REQUIRE(half.outcome.message() == "the provider threw: no luck");

    fallback nobody(throwing_at_once{}, throwing{});
    const auto none_left = co_await ask(nobody);
    REQUIRE(
        none_left.outcome.message() ==
        "none of 2 providers answered: (1) failed: the provider threw: not even a stream; (2) failed: the "
        "provider threw: no luck");
}

CO_TEST_CASE("a listener that throws fails the request, with what it said") {
    auto both = fallback(fails(model_outcome::failed("a").with_usage(tokens(1, 2))),
                         scripted(answer().text("never")))
                    .on_switch([](const provider_switch&) { throw std::runtime_error("log is full"); });
    const auto got = co_await ask(both);
    REQUIRE(got.outcome.is_permanent());
    REQUIRE(got.outcome.message() == "the listener of the switch to another provider threw: log is full");
    REQUIRE(got.outcome.usage() == tokens(1, 2));
}

CO_TEST_CASE("fallbacks nest, and begin with the first provider each time") {
    scripted first(answer().ends(model_outcome::failed("once")), answer().text("well again"));
    fallback both(fallback(std::ref(first), fails(model_outcome::failed("b"))),
                  scripted(answer().text("third")));
    const auto one = co_await ask(both);
    REQUIRE(one.text == "third");
    const auto two = co_await ask(both);
    REQUIRE(two.text == "well again");
}
