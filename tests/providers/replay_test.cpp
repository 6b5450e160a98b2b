// SPDX-License-Identifier: BSL-1.0

// Which answer a request gets, and what it is told if there is none.

#include "providers/recordings.hpp"
#include "providers/scratch.hpp"

#include <thalweg/protocol/utf8.hpp>
#include <thalweg/providers/fallback.hpp>
#include <thalweg/providers/recording.hpp>
#include <thalweg/providers/replay.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <functional>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::recording;
using providers::replay;
using providers::scripted;
using providers::when_played;

CO_TEST_CASE("answers to one request come in their order, then the last one again or a miss") {
    const scratch folder;
    const std::string path = folder.path("twice.jsonl");
    recording model(
        scripted(answer().ends(model_outcome::failed("busy")), answer().text("well"), answer().text("other")),
        path);
    const question what = asking("a");
    const question other = asking("b");
    co_await ask(model, what);
    co_await ask(model, what);
    co_await ask(model, other);

    replay again(path);
    const auto first = co_await ask(again, what);
    REQUIRE(first.outcome.message() == "busy");
    const auto between = co_await ask(again, other);
    REQUIRE(between.text == "other");
    for (int n = 0; n < 3; ++n) {
        const auto later = co_await ask(again, what);
        REQUIRE(later.text == "well");
    }
    REQUIRE(again.unplayed() == 0);

    replay strict(path, {.repeated = when_played::miss});
    co_await ask(strict, what);
    co_await ask(strict, what);
    const auto third = co_await ask(strict, what);
    REQUIRE(miss_of(third) ==
            "the recording " + path +
                " has this request 2 times, last in line 2, and all its answers have been played");
}

CO_TEST_CASE("ids of calls, times, senders and opaque data do not count; pairing does") {
    const scratch folder;
    const std::string path = folder.path("ids.jsonl");
    const auto with = [](const char* first, const char* second, bool crossed, std::int64_t time) {
        const std::string number = std::to_string(time);
        std::string opaque = R"({"id":)";
        opaque.append(number).append("}");
        question what;
        what.history.push_back(message::user_text("go").with_timestamp(time).with_sender(number));
        what.history.push_back(message::tool_call("f", "{}", first).with_fidelity(opaque));
        what.history.push_back(message::tool_call("f", "{}", second));
        what.input.clear();
        what.input.push_back(message::tool_call_output("1", crossed ? second : first));
        what.input.push_back(message::tool_call_output("2", crossed ? first : second));
        return what;
    };
    recording model(scripted(answer().text("fine")), path);
    const question recorded = with("call-a", "call-b", false, 1'700'000'000'000);
    co_await ask(model, recorded);
    replay again(path);
    const question renamed = with("toolu_99", "toolu_98", false, 1'800'000'000'000);
    const auto got = co_await ask(again, renamed);
    REQUIRE(got.text == "fine");
    const question crossed = with("call-a", "call-b", true, 1'700'000'000'000);
    const auto missed = co_await ask(again, crossed);
    REQUIRE(miss_of(missed).find("first differs at input[0].call: recorded \"#1\", asked \"#2\"") !=
            std::string::npos);
}

CO_TEST_CASE("a miss names the nearest request and the first difference") {
    const scratch folder;
    const std::string path = folder.path("oslo.jsonl");
    recording model(scripted(answer().text("a"), answer().text("b"), answer().text("c")), path);
    question oslo = asking("What is the weather in Oslo today?");
    oslo.system = "be brief";
    question talk = asking("Tell me a story");
    question full = rich();
    co_await ask(model, talk);
    co_await ask(model, oslo);
    co_await ask(model, full);

    replay again(path);
    question rome = asking("What is the weather in Rome today?");
    rome.system = "be brief";
    const auto missed = co_await ask(again, rome);
    REQUIRE(miss_of(missed) == "the recording " + path +
                                   " has no such request. The nearest is that of line 2, which first differs "
                                   "at input[0].text: recorded "
                                   "\"What is the weather in Oslo today?\", asked \"What is the weather in "
                                   "Rome today?\". Record again "
                                   "if the new request is right");
    REQUIRE(again.unplayed() == 3);

    const std::vector<std::pair<std::function<void(question&)>, std::string>> changes{
        {[](question& q) { q.system = "be long"; }, "at system: recorded \"be brief\", asked \"be long\""},
        {[](question& q) { q.thinking_level = "low"; },
         "at thinking_level: recorded \"high\", asked \"low\""},
        {[](question& q) { q.response_schema = R"({"type":"array"})"; },
         "at response_schema.type: recorded \"object\", asked \"array\""},
        {[](question& q) { q.tools[0].description = "sees"; },
         "at tools[0].description: recorded \"looks\", asked \"sees\""},
        {[](question& q) { q.tools[0].parameters = R"({"type":"object","properties":{"a":1}})"; },
         "recorded tools[0].parameters.properties \"{}\", asked tools[0].parameters.properties.a \"1\""},
        {[](question& q) { q.tools.clear(); }, "recorded tools[0].name \"look\", asked tools \"[]\""},
        {[](question& q) { q.history[3] = message::tool_call("look", R"({"at": 2})", "call-1"); },
         "at history[3].arguments: recorded \"{\\\"at\\\": 1}\", asked \"{\\\"at\\\": 2}\""},
        {[](question& q) {
             q.history[0] = message::user_text("see").with_images({"data:image/png;base64,BBBB"});
         },
         "at history[0].images[0]: recorded \"…e/png;base64, 26 bytes, "},
        {[](question& q) { q.input.push_back(message::user_text("and more")); },
         "at input[1].kind: not recorded, asked \"text\""},
        {[](question& q) { q.input.clear(); }, "recorded input[0].kind \"text\", asked input \"[]\""},
    };
    for (const auto& [change, expected] : changes) {
        question changed = rich();
        change(changed);
        const auto got = co_await ask(again, changed);
        const std::string sentence = miss_of(got);
        INFO(sentence);
        REQUIRE(sentence.find("line 3, which first differs " + expected) != std::string::npos);
    }
}

CO_TEST_CASE("a long difference is shown around its first byte, whole characters only") {
    const scratch folder;
    const std::string path = folder.path("long.jsonl");
    std::string far;
    for (int n = 0; n < 100; ++n)
        far += "ä";
    recording model(scripted(answer().text("a")), path);
    const question recorded = asking((far + "X" + far).c_str());
    co_await ask(model, recorded);
    replay again(path);
    const question asked = asking((far + "Y" + far).c_str());
    const auto got = co_await ask(again, asked);
    const std::string sentence = miss_of(got);
    INFO(sentence);
    REQUIRE(utf8::is_valid(sentence));
    REQUIRE(sentence.find("recorded \"…ä") != std::string::npos);
    REQUIRE(sentence.find("äXä") != std::string::npos);
    REQUIRE(sentence.find("äYä") != std::string::npos);
    REQUIRE(sentence.size() < 600);
}

CO_TEST_CASE("a file is read however its JSON was formatted") {
    const scratch folder;
    const std::string path = folder.path("by hand.jsonl");
    write_file(path,
               "\n{ \"exchange\" : 1, \"request\": {\"system\":\"\", \"thinking_level\":\"\", \"tools\":[ ], "
               "\"history\":[], \"input\":[{\"kind\":\"text\",\"role\":\"user\",\"text\":\"\\u0067o\"}]}, "
               "\"answer\": [ {\"text\":\"by hand\"} ], \"outcome\": {\"status\":\"completed\"} }\r\n\n");
    replay model(path);
    REQUIRE_FALSE(model.fault());
    const auto got = co_await ask(model);
    REQUIRE(got.text == "by hand");
    REQUIRE(got.outcome.why() == finish::end);
}

CO_TEST_CASE("a replay with a recording behind it asks a model for what is missing only") {
    const scratch folder;
    const std::string path = folder.path("growing.jsonl");
    scripted real(answer().text("one"), answer().text("two"));
    const question a = asking("a");
    const question b = asking("b");
    {
        recording first(std::ref(real), path);
        co_await ask(first, a);
    }
    providers::fallback model(replay(path), recording(std::ref(real), path, {.append = true}));
    const auto known = co_await ask(model, a);
    REQUIRE(known.text == "one");
    const auto fresh = co_await ask(model, b);
    REQUIRE(fresh.text == "two");
    replay again(path);
    const auto kept = co_await ask(again, b);
    REQUIRE(kept.text == "two");
    REQUIRE(real.requests() == 2);
}

CO_TEST_CASE(
    "lines that a crash has cut are left out with a note, and what is appended begins on a line of its own") {
    const scratch folder;
    const std::string path = folder.path("torn.jsonl");
    const question a = asking("a");
    const question b = asking("b");
    recording model(scripted(answer().text("ä1"), answer().text("2")), path);
    co_await ask(model, a);
    const std::string whole = read_file(path);
    co_await ask(model, b);
    const std::string both = read_file(path);
    for (std::size_t cut = whole.size() + 1; cut + 1 < both.size(); ++cut) {
        write_file(path, std::string_view(both).substr(0, cut));
        const replay again(path);
        REQUIRE_FALSE(again.fault());
        REQUIRE(again.exchanges() == 1);
        REQUIRE(again.notes().size() == 1);
        REQUIRE(again.notes()[0] ==
                "line 2 of the recording " + path + " is cut short, as by a crash; it is left out");
    }
    write_file(path, whole.substr(0, whole.find("ä") + 1)); // within a character
    const replay cut(path);
    REQUIRE_FALSE(cut.fault());
    REQUIRE(cut.notes().size() == 1);

    recording more(scripted(answer().text("3")), path, {.append = true});
    co_await ask(more, b);
    replay again(path);
    REQUIRE_FALSE(again.fault());
    REQUIRE(again.notes().size() == 1);
    const auto got = co_await ask(again, b);
    REQUIRE(got.text == "3");
}

CO_TEST_CASE("a file that is no recording fails every request with its line and what was expected there") {
    const scratch folder;
    const std::string path = folder.path("bad.jsonl");
    const std::string head = R"({"exchange":1,"request":{},"answer":)";
    const std::vector<std::pair<std::string, std::string>> files{
        {"{}", "line 1 of the recording " + path + " is no exchange: expected the member \"exchange\""},
        {"hello", "line 1 of the recording " + path + " is no exchange: expected a value at byte 0"},
        {R"({"exchange":2,"request":{},"answer":[],"outcome":{"status":"completed"}})",
         "expected 1, the only version of a recording that this library knows, at byte 12 (exchange)"},
        {head + R"([],"outcome":{"status":"fine"}})", "(outcome.status)"},
        {head + R"([{"text":1}],"outcome":{"status":"completed"}})", "(answer[0].text)"},
        {head + R"([{"text":{"hex":"0g"}}],"outcome":{"status":"completed"}})", "(answer[0].text)"},
        {head + R"([{"song":"la"}],"outcome":{"status":"completed"}})", "expected one of begin, text, "},
        {head + R"([{"usage":{"total":1}}],"outcome":{"status":"completed"}})", "(answer[0].usage)"},
        {head + R"([{"whole":{"type":"?"}}],"outcome":{"status":"completed"}})", "(answer[0].whole)"},
        {head + R"([{"begin":"song"}],"outcome":{"status":"completed"}})", "(answer[0].begin)"},
        {head + R"({},"outcome":{"status":"completed"}})", "(answer)"},
        {head + R"([]})", "expected the member \"outcome\""},
    };
    const std::string good = head + R"([],"outcome":{"status":"completed"}})" + "\n";
    for (const auto& [content, expected] : files) {
        write_file(path, content + "\n" + good);
        replay model(path);
        INFO(content);
        REQUIRE(model.fault());
        INFO(model.fault()->message());
        REQUIRE(model.fault()->message().find(expected) != std::string::npos);
        const auto got = co_await ask(model);
        REQUIRE(miss_of(got) == model.fault()->message());
    }
    write_file(path, good + "\n{}\n");
    const replay third(path);
    REQUIRE(third.fault()->message().find("line 3 of") == 0);
}

CO_TEST_CASE("a missing file, a folder and an empty file say what they are") {
    const scratch folder;
    replay missing(folder.path("none.jsonl"));
    REQUIRE(missing.fault());
    REQUIRE(missing.fault()->code() == std::errc::no_such_file_or_directory);
    const auto got = co_await ask(missing);
    REQUIRE(miss_of(got) ==
            "the recording " + folder.path("none.jsonl") +
                " cannot be read: No such file or directory; make it with providers::recording");
    replay directory(folder.path(""));
    REQUIRE(directory.fault());
    write_file(folder.path("empty.jsonl"), "");
    replay empty(folder.path("empty.jsonl"));
    REQUIRE_FALSE(empty.fault());
    const auto nothing = co_await ask(empty);
    REQUIRE(miss_of(nothing).ends_with("has no such request; it has none at all"));
}
