// SPDX-License-Identifier: BSL-1.0

// What a recording must not have, and what it leaves out of the comparison.

#include "providers/recordings.hpp"
#include "providers/scratch.hpp"

#include <thalweg/providers/recording.hpp>
#include <thalweg/providers/replay.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <filesystem>
#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::recording;
using providers::recording_options;
using providers::replay;
using providers::scripted;

CO_TEST_CASE(
    "secrets are in no line of the file, wherever they came from, and the replay matches all the same") {
    const scratch folder;
    const std::string path = folder.path("secret.jsonl");
    const std::string key = "sk-proj-AbCdEf0123456789xyz";
    const std::string google = "AIzaSyA0123456789abcdefghijklmnopqrstuv";
    const std::string own = "hunter\"2\" of mine";
    const recording_options options{.secrets = {own}};
    question what = asking(("my key is " + key).c_str());
    what.system = text("gateway password: " + own);
    what.history = {
        message::tool_call("f", R"({"p":"hunter\"2\" of mine","h":"Bearer abcdef0123456789"})", "1"),
        message::tool_call_output(text("got\n" + google), "1")};
    what.tools = {{.name = "f",
                   .description = text("use " + key),
                   .parameters = text("{\"default\":\"" + key + "\"}")}};
    std::vector<text> pieces;
    for (const char c : "the key " + key + " is yours") // a letter at a time
        pieces.emplace_back(std::string(1, c));
    std::vector<text> arguments;
    arguments.emplace_back(R"({"p":"hunt)");
    arguments.emplace_back(R"(er\"2\" of)");
    arguments.emplace_back(R"( mine!"})");
    {
        recording model(
            scripted(answer()
                         .text_pieces(pieces)
                         .thinking("no sk-here", " or there")
                         .call_pieces("x", "f", arguments)
                         .with_fidelity(text("{\"k\":\"" + google + "\"}"))
                         .whole(message::assistant_text(text("again " + key)))
                         .ends(model_outcome::failed("401 for " + key).with_raw_stop_reason(text(own)))),
            path, options);
        const auto live = co_await ask(model, what);
        REQUIRE(live.text == "the key " + key + " is yours"); // the program itself sees it
        REQUIRE_FALSE(model.file().fault());
    }
    const std::string file = read_file(path);
    for (const std::string& secret :
         {key, google, own, std::string("abcdef0123456789"), std::string("of mine")})
        REQUIRE(file.find(secret) == std::string::npos);
    replay again(path, {.secrets = {own}});
    REQUIRE_FALSE(again.fault());
    const auto got = co_await ask(again, what);
    REQUIRE(got.text == "the key [secret] is yours");
    REQUIRE(got.outcome.message() == "401 for [secret]");
    REQUIRE(got.outcome.raw_stop_reason() == "[secret]");
    std::string joined;
    for (const std::string& each : got.deltas)
        joined += each + "|";
    REQUIRE(joined.find("|thinking no sk-here|thinking  or there|") != std::string::npos);
    REQUIRE(joined.find(R"(|arguments {"p":"[secret]|arguments |arguments !"}|)") != std::string::npos);
    REQUIRE(joined.find(R"(|fidelity {"k":"[secret]"}|)") != std::string::npos);
    REQUIRE(joined.find("again [secret]") != std::string::npos);

    replay without(path); // does not know the secret that was named
    const auto missed = co_await ask(without, what);
    REQUIRE(miss_of(missed).find("at system: recorded \"gateway password: [secret]\"") != std::string::npos);
}

CO_TEST_CASE(
    "a secret is found across what stands between the pieces of one text, and not across two texts") {
    struct interrupted_words {
        stream<delta, model_outcome> generate(model_request) {
            co_yield delta::text("it is hun");
            co_yield delta::usage(tokens(1, 2));
            co_yield delta::text("");
            co_yield delta::text("ter2, hun");
            co_yield delta::end();
            co_yield delta::text("ter2");
            co_yield delta::thinking("hun");
            co_yield delta::text("ter2");
            co_return model_outcome::completed();
        }
    };
    const scratch folder;
    const std::string path = folder.path("pieces.jsonl");
    recording model(interrupted_words{}, path, {.secrets = {"hunter2"}});
    co_await ask(model);
    replay again(path);
    const auto got = co_await ask(again);
    REQUIRE(got.deltas == std::vector<std::string>{"text it is [secret]", "usage 0 0 1 2", "text ",
                                                   "text , hun", "end", "text ter2", "thinking hun",
                                                   "text ter2"});
}

CO_TEST_CASE("what only looks like a key at first is kept") {
    const scratch folder;
    const std::string path = folder.path("words.jsonl");
    const char* words = "risk-assessment-of-2026-budgets, task-list-number-1234567890, sk-short1, "
                        "sk-only-words-and-no-number, Bearer of bad news, AIzaShort, flask-0123456789abcdef";
    recording model(scripted(answer().text(words)), path);
    const question what = asking(words);
    co_await ask(model, what);
    REQUIRE(read_file(path).find("[secret]") == std::string::npos);
}

CO_TEST_CASE("a message that cannot be kept without a secret is not kept at all, which is said") {
    const scratch folder;
    const std::string path = folder.path("broken.jsonl");
    recording model(scripted(answer().whole(message::assistant_text("hello"))), path,
                    {.secrets = {"\"payload\""}});
    const auto got = co_await ask(model);
    REQUIRE(got.outcome.status() == stop_reason::completed);
    REQUIRE(model.file().lost() == 1);
    REQUIRE(got.deltas.size() == 2);
    REQUIRE(got.deltas[1].find("recording_fault") != std::string::npos);
    REQUIRE_FALSE(std::filesystem::exists(path));
}

CO_TEST_CASE("texts are compared as a program rewrites them") {
    const auto without_digits = [](std::string_view written) {
        std::string kept;
        for (const char c : written)
            kept += c >= '0' && c <= '9' ? '#' : c;
        return kept;
    };
    const scratch folder;
    const std::string path = folder.path("dates.jsonl");
    scripted inner(answer().text("fine"));
    recording model(std::ref(inner), path, {.rewrite = without_digits});
    question monday = asking("go");
    monday.system = "Today is 2026-12-01.";
    co_await ask(model, monday);
    REQUIRE(inner.request(0).system == "Today is 2026-12-01."); // asked as it is
    REQUIRE(read_file(path).find("####-##-##") != std::string::npos);
    question later = asking("go");
    later.system = "Today is 2027-01-31.";
    replay again(path, {.rewrite = without_digits});
    const auto got = co_await ask(again, later);
    REQUIRE(got.text == "fine");
    recording unlucky(scripted(answer().text("fine")), path, {.rewrite = [](std::string_view) -> std::string {
                          throw std::runtime_error("no regex");
                      }});
    const auto unharmed = co_await ask(unlucky);
    REQUIRE(unharmed.text == "fine");
    REQUIRE(unlucky.file().fault()->message() ==
            "an exchange is not in the recording " + path + ": no regex");
}
