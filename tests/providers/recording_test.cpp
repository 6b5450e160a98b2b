// SPDX-License-Identifier: BSL-1.0

// What is recorded is played as it came.

#include "providers/recordings.hpp"
#include "providers/scratch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/environments/functions.hpp>
#include <thalweg/protocol/no_tools.hpp>
#include <thalweg/providers/recording.hpp>
#include <thalweg/providers/replay.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>

#include <deque>
#include <stdexcept>

#include <sys/stat.h>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::recording;
using providers::replay;
using providers::scripted;
using providers::tape;

namespace {

scripted says(model_outcome how) {
    return scripted(answer().ends(std::move(how)));
}

/// Yields exactly these, which a script could not.
struct raw_deltas {
    std::vector<std::string> pieces;
    stream<delta, model_outcome> generate(model_request) {
        for (const std::string& each : pieces)
            co_yield delta::text(text(each));
        co_return model_outcome::completed();
    }
};

bool same(const model_outcome& a, const model_outcome& b) {
    return a.status() == b.status() && a.why() == b.why() && a.raw_stop_reason() == b.raw_stop_reason() &&
           a.message() == b.message() && a.is_permanent() == b.is_permanent() &&
           a.is_context_too_long() == b.is_context_too_long() && a.wait() == b.wait() &&
           a.usage() == b.usage();
}

} // namespace

static_assert(is_provider<recording<scripted>>);

CO_TEST_CASE("a recorded answer is handed on unchanged, and played with every kind of delta") {
    const auto script = [] {
        return scripted(
            answer()
                .thinking("hm", " hm")
                .with_fidelity(R"({ "signature" : "a\u0062" })")
                .text("ab\"\n", "ü", "\xF0\x9F\x98\x80")
                .call_pieces("x", "look", {"{\"a\":", "1}"})
                .call("", "look")
                .text()
                .whole(message::image_url("data:image/png;base64,AAAA").with_timestamp(1'700'000'000'000))
                .whole(message::event(notice{.code = "c", .body = "b"}))
                .usage({.cache_read = 1, .cache_write = 2, .output = 3, .total = 9})
                .ends(model_outcome::completed(finish::length, "max_tokens")));
    };
    const scratch folder;
    const std::string path = folder.path("a/b/rich.jsonl");
    scripted alone = script();
    const question what = rich();
    const auto wanted = co_await ask(alone, what);
    {
        recording model(script(), path);
        const auto got = co_await ask(model, what);
        REQUIRE(got.deltas == wanted.deltas);
        REQUIRE(same(got.outcome, wanted.outcome));
        REQUIRE_FALSE(model.file().fault());
    }
    REQUIRE(lines_of(path).size() == 1);
    struct ::stat mode{};
    REQUIRE(::stat(path.c_str(), &mode) == 0);
    REQUIRE((mode.st_mode & 0777) == 0600);
    replay again(path);
    REQUIRE_FALSE(again.fault());
    REQUIRE(again.unplayed() == 1);
    const auto got = co_await ask(again, what);
    REQUIRE(got.deltas == wanted.deltas);
    REQUIRE(same(got.outcome, wanted.outcome));
    REQUIRE(again.exchanges() == 1);
    REQUIRE(again.unplayed() == 0);
}

CO_TEST_CASE("bytes that are no text are played as they came") {
    const scratch folder;
    const std::string path = folder.path("raw.jsonl");
    const std::vector<std::string> pieces{"caf\xC3", "\xA9", std::string("\0\x01", 2), "\xED\xA0\xBD"};
    recording model(raw_deltas{pieces}, path);
    const auto wanted = co_await ask(model);
    replay again(path);
    REQUIRE_FALSE(again.fault());
    const auto got = co_await ask(again);
    REQUIRE(got.deltas == wanted.deltas);
    REQUIRE(got.text == pieces[0] + pieces[1] + pieces[2] + pieces[3]);
}

CO_TEST_CASE("every outcome is played with all its members") {
    const scratch folder;
    std::vector<model_outcome> all{model_outcome::failed("busy \"now\"")
                                       .with_wait(1500ms)
                                       .with_usage(tokens(1, 2))
                                       .with_raw_stop_reason("error"),
                                   model_outcome::failed("gone").permanent(),
                                   model_outcome::failed("long").context_too_long(),
                                   model_outcome::timeout("slow"),
                                   model_outcome::malformed("no JSON"),
                                   model_outcome::auth("no key"),
                                   model_outcome::aborted(),
                                   model_outcome::completed(finish::end, "stop"),
                                   model_outcome::completed(finish::tool_use),
                                   model_outcome::completed(finish::filtered),
                                   model_outcome::completed(finish::pause),
                                   model_outcome::completed(finish::other, "odd").with_usage(tokens(3, 4))};
    for (const model_outcome& each : all) {
        const std::string path = folder.path("outcome.jsonl");
        recording model(says(each), path);
        co_await ask(model);
        replay again(path);
        const auto got = co_await ask(again);
        INFO(read_file(path));
        REQUIRE(same(got.outcome, each));
    }
}

CO_TEST_CASE("the pace of an answer is kept and replayed on the loop's clock if both are told to") {
    const scratch folder;
    const std::string path = folder.path("pace.jsonl");
    const context here = co_await this_coroutine();
    recording model(scripted(answer().wait(2s).text("a", "b").with_gap(500ms).wait(1s)), path,
                    {.keep_pace = true});
    co_await ask(model);
    REQUIRE(read_file(path).find(R"({"text":"b","at":2500})") != std::string::npos);
    REQUIRE(read_file(path).find(R"("at":3500}})") != std::string::npos);

    const auto begun = here.loop().now();
    replay slow(path, {.keep_pace = true});
    const auto got = co_await ask(slow);
    REQUIRE(got.text == "ab");
    REQUIRE(here.loop().now() - begun == 3500ms);
    replay quick(path);
    co_await ask(quick);
    REQUIRE(here.loop().now() - begun == 3500ms);

    cancel_source cancel;
    const context under(here.loop(), cancel);
    scope work(here);
    answered cut;
    const auto read = [](auto& from, answered& into) -> task<void> { into = co_await ask(from); };
    replay interrupted(path, {.keep_pace = true});
    work.spawn(read(interrupted, cut), under);
    co_await sleep_for(2200ms);
    cancel.request(cancel_reason::user);
    co_await work.join();
    REQUIRE(cut.text == "a");
    REQUIRE(cut.outcome.status() == stop_reason::aborted);
}

CO_TEST_CASE("interrupted, dropped and thrown answers are recorded as far as they got") {
    struct throwing {
        stream<delta, model_outcome> generate(model_request) {
            co_yield delta::text("half");
            throw std::runtime_error("no luck");
            co_return model_outcome::completed();
        }
    };
    const scratch folder;
    const std::string path = folder.path("cut.jsonl");
    const context here = co_await this_coroutine();
    const tape file(path);
    const question interrupted = asking("interrupted");
    const question dropped = asking("dropped");
    const question thrown = asking("thrown");
    recording model(scripted(answer().text("a").hang(), answer().text("b", "c")), file);
    {
        cancel_source cancel;
        const context under(here.loop(), cancel);
        scope work(here);
        const auto read = [](auto& from, const question& what) -> task<void> { co_await ask(from, what); };
        work.spawn(read(model, interrupted), under);
        co_await sleep_for(1s);
        cancel.request(cancel_reason::user);
        co_await work.join();
        auto unread = model.generate(dropped.request());
        auto answer = model.generate(dropped.request());
        co_await answer.peek();
        co_await answer.peek();
    }
    recording bad(throwing{}, file);
    std::string said;
    try {
        co_await ask(bad, thrown);
    } catch (const std::runtime_error& e) {
        said = e.what();
    }
    REQUIRE(said == "no luck");
    replay again(path);
    REQUIRE(again.exchanges() == 3);
    const auto one = co_await ask(again, interrupted);
    REQUIRE(one.text == "a");
    REQUIRE(one.outcome.status() == stop_reason::aborted);
    const auto two = co_await ask(again, dropped);
    REQUIRE(two.deltas == std::vector<std::string>{"begin text", "text b"});
    REQUIRE(two.outcome.status() == stop_reason::aborted);
    const auto three = co_await ask(again, thrown);
    REQUIRE(three.text == "half");
    REQUIRE(three.outcome.message() == "the provider threw: no luck");
}

CO_TEST_CASE("a recording begins anew with its first exchange, unless it is to be appended") {
    const scratch folder;
    const std::string path = folder.path("anew.jsonl");
    const question a = asking("a");
    const question b = asking("b");
    recording first(scripted(answer().text("1"), answer().text("2")), path);
    co_await ask(first, a);
    co_await ask(first, b);
    REQUIRE(lines_of(path).size() == 2);
    recording second(scripted(answer().text("3")), path);
    REQUIRE(lines_of(path).size() == 2);
    co_await ask(second, a);
    REQUIRE(lines_of(path).size() == 1);
    recording third(scripted(answer().text("4")), path, {.append = true});
    co_await ask(third, b);
    REQUIRE(lines_of(path).size() == 2);
}

CO_TEST_CASE("a file that cannot be written harms no answer, and a session's stream says so once") {
    const scratch folder;
    write_file(folder.path("in the way"), "");
    recording model(scripted(answer().text("one"), answer().text("two")), folder.path("in the way/x.jsonl"));
    session chat(std::ref(model), none);
    const auto first = co_await collect(chat.run("a"));
    REQUIRE(first.result.ok());
    const auto notices = of_kind(first, kind::notice);
    REQUIRE(notices.size() == 1);
    REQUIRE(notices[0].event_if<notice>()->code == "recording_fault");
    const auto second = co_await collect(chat.run("b"));
    REQUIRE(second.result.ok());
    REQUIRE(of_kind(second, kind::notice).empty());
    REQUIRE(model.file().lost() == 2);
    REQUIRE(model.file().fault()->message().find("in the way") != std::string::npos);
}

CO_TEST_CASE("sessions that run side by side write whole lines to one file") {
    const scratch folder;
    const std::string path = folder.path("crowd.jsonl");
    const context here = co_await this_coroutine();
    const tape file(path);
    constexpr int crowd = 20;
    {
        scope all(here);
        std::deque<recording<scripted>> models;
        std::deque<question> questions;
        const auto read = [](auto& from, const question& what) -> task<void> { co_await ask(from, what); };
        for (int n = 0; n < crowd; ++n) {
            models.emplace_back(scripted(answer().text("a", "b", std::to_string(n)).with_gap(10ms)), file);
            questions.push_back(asking(std::to_string(n).c_str()));
            all.spawn(read(models.back(), questions.back()));
        }
        co_await all.join();
    }
    replay again(path);
    REQUIRE_FALSE(again.fault());
    REQUIRE(again.exchanges() == crowd);
    for (int n = 0; n < crowd; ++n) {
        const question what = asking(std::to_string(n).c_str());
        const auto got = co_await ask(again, what);
        REQUIRE(got.text == "ab" + std::to_string(n));
    }
}

CO_TEST_CASE("a whole agent with tools runs from its recording as it ran before") {
    const scratch folder;
    const std::string path = folder.path("agent.jsonl");
    const auto tools = [] {
        return environments::functions(
            tool("add", "adds", [] { return "5"; }),
            tool("fail", "fails", []() -> std::string { throw std::runtime_error("no"); }));
    };
    const auto talk = [](auto& model, auto environment) -> task<std::vector<std::string>> {
        session chat(std::ref(model), std::move(environment));
        std::vector<std::string> lines;
        for (const char* prompt : {"first", "second"}) {
            run_options options{.approve = allow_all};
            const auto run = co_await collect(chat.run(prompt, options));
            for (const message& m : run) {
                if (m.is_complete())
                    lines.push_back(std::string(to_string(m.kind())) + " " + m.content().str());
            }
        }
        co_return lines;
    };
    std::vector<std::string> live;
    {
        recording model(scripted(answer().thinking("hm").call("", "add").call("", "fail"),
                                 answer().text("5, but no"), answer().ends(model_outcome::failed("busy")),
                                 answer().text("bye")),
                        path);
        live = co_await talk(model, tools());
    }
    REQUIRE(live.back() == "text bye");
    replay model(path);
    const auto again = co_await talk(model, tools());
    REQUIRE(again == live);
    REQUIRE(model.unplayed() == 0);
}
