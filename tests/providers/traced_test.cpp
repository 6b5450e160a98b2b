// SPDX-License-Identifier: BSL-1.0

#include "providers/asking.hpp"
#include "providers/scratch.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/traced.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <stdexcept>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::request_log;
using providers::request_record;
using providers::request_stage;
using providers::scripted;
using providers::traced;

namespace {

/// Keeps the records as lines of JSON.
struct kept {
    std::vector<std::string>* lines;
    void operator()(const request_record& r) const {
        std::string line;
        append_json(line, r);
        lines->push_back(std::move(line));
    }
};

scripted rich_model() {
    return scripted(answer()
                        .wait(300ms)
                        .thinking("hm")
                        .text("ab", "cde")
                        .with_gap(200ms)
                        .call_pieces("x", "look", {"{", "}"})
                        .with_fidelity(R"({"s":1})")
                        .whole(message::image_url("data:image/png;base64,AAAA"))
                        .usage({.cache_read = 1, .cache_write = 2, .output = 3, .total = 9}));
}

} // namespace

static_assert(is_provider<traced<scripted>>);

CO_TEST_CASE("a traced answer is handed on unchanged, with three records beside it") {
    std::vector<std::string> lines;
    traced model(rich_model(), kept{&lines}, {.name = "rich"});
    scripted alone = rich_model();
    question what = asking("secret prompt");
    what.system = "be brief";
    what.history = {message::user_text("a"), message::assistant_text("b")};
    what.tools = {{.name = "look", .description = "looks", .parameters = "{}"}};
    const auto got = co_await ask(model, what);
    const auto wanted = co_await ask(alone, what);
    REQUIRE(got.deltas == wanted.deltas);
    REQUIRE(got.outcome.why() == finish::tool_use);
    REQUIRE(
        lines ==
        std::vector<std::string>{
            R"({"time":"2030-01-01T00:00:00.000Z","stage":"begin","provider":"rich","request":1,"history":2,)"
            R"("input":1,"tools":1,"asked_bytes":34})",
            R"({"time":"2030-01-01T00:00:00.300Z","stage":"first_delta","provider":"rich","request":1,)"
            R"("took_us":300000})",
            R"({"time":"2030-01-01T00:00:00.500Z","stage":"end","provider":"rich","request":1,"took_us":500000,)"
            R"("first_after_us":300000,"text":{"deltas":2,"bytes":5},"thinking":{"deltas":1,"bytes":2},)"
            R"("calls":{"deltas":1,"bytes":2},"whole":{"deltas":1,"bytes":26},"fidelity":1,)"
            R"("usage":{"cache_read":1,"cache_write":2,"output":3,"total":9},"status":"completed"})"});
}

CO_TEST_CASE("records have no text of anybody unless it is asked for") {
    std::vector<std::string> lines;
    traced silent(scripted(answer().thinking("hidden").text("answer")), kept{&lines});
    const question what = asking("prompt");
    co_await ask(silent, what);
    for (const std::string& line : lines)
        REQUIRE(line.find("prompt") + line.find("hidden") + line.find("answer\"") == 3 * std::string::npos);
    lines.clear();
    traced talking(scripted(answer().thinking("hidden").text("ans", "wer")), kept{&lines},
                   {.with_text = true});
    co_await ask(talking, what);
    REQUIRE(lines.at(0).find(R"("asked":"prompt")") != std::string::npos);
    REQUIRE(lines.at(2).find(R"("answered":"answer")") != std::string::npos);
}

CO_TEST_CASE("a failed request says how it failed and what it has used") {
    std::vector<std::string> lines;
    auto how = model_outcome::failed("busy")
                   .permanent()
                   .with_wait(2s)
                   .with_usage(tokens(1, 5))
                   .with_raw_stop_reason("error");
    traced model(scripted(answer().ends(std::move(how)), answer().ends(model_outcome::auth("no key"))),
                 kept{&lines});
    co_await ask(model);
    co_await ask(model);
    REQUIRE(lines.size() == 4); // no first delta
    REQUIRE(lines[1] == R"({"time":"2030-01-01T00:00:00.000Z","stage":"end","request":1,"took_us":0,)"
                        R"("usage":{"cache_read":0,"cache_write":0,"output":1,"total":5},"status":"failed",)"
                        R"("stop_reason":"error","error":"busy","permanent":true,"wait_ms":2000})");
    REQUIRE(lines[3] == R"({"time":"2030-01-01T00:00:00.000Z","stage":"end","request":2,"took_us":0,)"
                        R"("status":"auth","error":"no key"})");
}

CO_TEST_CASE("a stream that is dropped and a provider that throws have an end, too") {
    struct throwing {
        stream<delta, model_outcome> generate(model_request) {
            co_yield delta::text("half");
            throw std::runtime_error("no luck");
            co_return model_outcome::completed();
        }
    };
    std::vector<std::string> lines;
    traced model(throwing{}, kept{&lines});
    std::string said;
    try {
        co_await ask(model);
    } catch (const std::runtime_error& e) {
        said = e.what();
    }
    REQUIRE(said == "no luck");
    REQUIRE(lines.size() == 3);
    REQUIRE(lines[2].ends_with(R"("text":{"deltas":1,"bytes":4},"status":"threw","error":"no luck"})"));
    lines.clear();
    {
        const question what;
        auto dropped = model.generate(what.request());
        co_await dropped.peek();
    }
    REQUIRE(lines.size() == 3);
    REQUIRE(lines[2].ends_with(R"("text":{"deltas":1,"bytes":4},"status":"dropped"})"));
    lines.clear();
    {
        const question what;
        auto unread = model.generate(what.request());
    }
    REQUIRE(lines.empty()); // it was never a request
}

CO_TEST_CASE("a sink that throws does not harm the answer, and what it missed is counted") {
    int calls = 0;
    std::vector<std::uint64_t> lost;
    traced model(scripted(answer().text("fine"), answer().text("again")), [&](const request_record& r) {
        if (++calls <= 3) throw std::runtime_error("disk full");
        lost.push_back(r.lost);
    });
    const auto first = co_await ask(model);
    REQUIRE(first.text == "fine");
    REQUIRE(first.outcome.status() == stop_reason::completed);
    REQUIRE(model.lost() == 3);
    const auto second = co_await ask(model);
    REQUIRE(second.text == "again");
    REQUIRE(lost == std::vector<std::uint64_t>{3, 0, 0});
    REQUIRE(model.lost() == 0);
}

CO_TEST_CASE("a traced provider without a sink is just the provider") {
    traced model(scripted(answer().text("fine")), providers::request_sink());
    const auto got = co_await ask(model);
    REQUIRE(got.text == "fine");
}

CO_TEST_CASE("a request log appends whole lines of JSON, in a folder that it makes") {
    const scratch folder;
    const std::string path = folder.path("logs/requests.jsonl");
    request_log log(path);
    traced one(scripted(answer().text("a")), log, {.name = "one"});
    traced two(scripted(answer().text("b")), log, {.name = "two"});
    REQUIRE_FALSE(std::filesystem::exists(path));
    co_await ask(one);
    append_file(path, "half a rec"); // somebody was killed here
    co_await ask(two);
    const auto lines = lines_of(path);
    REQUIRE(lines.size() == 7);
    for (std::size_t n = 0; n < lines.size(); ++n) {
        INFO(lines[n]);
        REQUIRE(json::check(lines[n]).has_value() == (n == 3));
    }
}

CO_TEST_CASE("a request log that cannot write counts what is missing in the next line that it can") {
    const scratch folder;
    write_file(folder.path("in the way"), "");
    const std::string path = folder.path("in the way/requests.jsonl");
    traced model(scripted(answer().text("a"), answer().text("b")), request_log(path));
    const auto first = co_await ask(model);
    REQUIRE(first.text == "a");
    std::filesystem::remove(folder.path("in the way"));
    co_await ask(model);
    const auto lines = lines_of(path);
    REQUIRE(lines.size() == 3);
    REQUIRE(lines[0].find(R"("lost":3)") != std::string::npos);
    REQUIRE(lines[1].find("lost") == std::string::npos);
}
