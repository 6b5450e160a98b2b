// SPDX-License-Identifier: BSL-1.0

#include "providers/scratch.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/nearest.hpp>
#include <thalweg/providers/model_catalogue.hpp>

#include <algorithm>

using namespace thalweg;
using namespace thalweg::testing;
using namespace thalweg::providers;

namespace {

std::string entry(std::string_view model) {
    return known_models().find(model).name;
}

std::string complaint(std::string_view json) {
    model_catalogue models;
    const auto done = models.add_json(json);
    REQUIRE_FALSE(done);
    return done.error().message();
}

} // namespace

TEST_CASE("a model that is listed is found by its own name") {
    const model_facts mini = known_models().find("gpt-5-mini");
    REQUIRE(mini.is_known());
    REQUIRE(mini.name == "gpt-5-mini");
    REQUIRE(mini.context_window == 400'000);
    REQUIRE(mini.longest_output == 128'000);
    REQUIRE(mini.sees_images == true);
    REQUIRE(mini.makes_images == false);
    REQUIRE(mini.calls_tools == true);
    REQUIRE(mini.thinking == thinking_habit::always);
    REQUIRE(mini.thinking_levels == std::vector<std::string>{"minimal", "low", "medium", "high"});
    const model_facts older = known_models().find("gpt-4o");
    REQUIRE(older.thinking == thinking_habit::never);
    REQUIRE(older.thinking_levels == std::vector<std::string>());
    const model_facts budget = known_models().find("claude-sonnet-4-5");
    REQUIRE(budget.thinking == thinking_habit::optional);
    REQUIRE_FALSE(budget.thinking_levels); // by a number of tokens
}

TEST_CASE("dates, variants, tags and what gateways put in front lead to the same entry") {
    REQUIRE(entry("gpt-5-mini-2025-08-07") == "gpt-5-mini");
    REQUIRE(entry("gpt-4-0613") == "gpt-4");
    REQUIRE(entry("claude-sonnet-4-20250514") == "claude-sonnet-4");
    REQUIRE(entry("claude-sonnet-4-5-20250929") == "claude-sonnet-4-5");
    REQUIRE(entry("claude-3-5-sonnet-latest") == "claude-3-5-sonnet");
    REQUIRE(entry("claude-3-5-sonnet@20240620") == "claude-3-5-sonnet");
    REQUIRE(entry("us.anthropic.claude-sonnet-4-5-20250929-v1:0") == "claude-sonnet-4-5");
    REQUIRE(entry("anthropic/claude-3.7-sonnet:thinking") == "claude-3-7-sonnet");
    REQUIRE(entry("openai/gpt-4.1-2025-04-14") == "gpt-4.1");
    REQUIRE(entry("models/gemini-2.5-pro-preview-06-05") == "gemini-2.5-pro");
    REQUIRE(entry("gemini-2.5-flash-image-preview") == "gemini-2.5-flash-image");
    REQUIRE(entry("gemini-2.0-flash-001") == "gemini-2.0-flash");
    REQUIRE(entry("Qwen/Qwen3-235B-A22B-Instruct-2507") == "qwen3-235b-a22b-instruct-2507");
    REQUIRE(entry("qwen3") == "qwen3");
    REQUIRE(entry("qwen3:8b") == "qwen3");
    REQUIRE(entry("llama3.1:8b-instruct-q4_K_M") == "llama3.1");
    REQUIRE(entry("meta-llama/Llama-3.3-70B-Instruct") == "llama-3.3");
    REQUIRE(entry("Meta_Llama-3.1-8B") == "meta-llama-3.1");
    REQUIRE(entry("gemma3:1b") == "gemma3:1b");
    REQUIRE(entry("gemma3:12b") == "gemma3");
    REQUIRE(entry("command-r-08-2024") == "command-r");
    REQUIRE(entry("GPT-OSS:20b") == "gpt-oss");
}

TEST_CASE("another version of a listed model is not that model") {
    REQUIRE(entry("gpt-4.7").empty());
    REQUIRE(entry("gpt-5.9-mini").empty());
    REQUIRE(entry("claude-sonnet-4-9").empty());
    REQUIRE(entry("claude-sonnet-4-9-20270101").empty());
    REQUIRE(entry("grok-4.20-fast").empty());
    REQUIRE(entry("gpt-5x").empty());
    REQUIRE(entry("o33").empty());
    REQUIRE(entry("qwen3-something-new").empty());
}

TEST_CASE("an unknown model has no facts and gets defaults") {
    for (const char* name : {"my-own-model", "", "/", "x/", ".", "a.b.", ":", "-"}) {
        const model_facts facts = known_models().find(name);
        INFO(name);
        REQUIRE_FALSE(facts.is_known());
        REQUIRE_FALSE(facts.context_window);
        REQUIRE_FALSE(facts.calls_tools);
        REQUIRE(compaction_limit(name) == -1);
        REQUIRE(can_see_images(name));
    }
    REQUIRE_FALSE(model_catalogue::empty().find("gpt-5").is_known());
    REQUIRE(model_catalogue::empty().names().empty());
}

TEST_CASE("every entry is consistent and found by its own name") {
    for (const std::string_view name : known_models().names()) {
        const model_facts facts = known_models().find(name);
        INFO(name);
        REQUIRE(facts.name == name);
        if (facts.context_window) {
            REQUIRE(*facts.context_window >= 8'000);
            REQUIRE(facts.longest_output.value_or(0) <= *facts.context_window);
            REQUIRE(compaction_limit(facts) > *facts.context_window / 2);
            REQUIRE(compaction_limit(facts) < *facts.context_window);
        }
        if (facts.thinking == thinking_habit::never) REQUIRE(facts.thinking_levels->empty());
    }
    REQUIRE(known_models().names().size() > 100);
}

TEST_CASE("the limit for a compaction leaves room for an answer") {
    REQUIRE(compaction_limit("claude-sonnet-4-5") == 136'000); // all of the longest answer
    REQUIRE(compaction_limit("gpt-5") == 272'000);
    REQUIRE(compaction_limit("o1") == 200'000 - 200'000 / 3);                    // at most a third
    REQUIRE(compaction_limit("gemini-1.5-flash") == 1'048'576 - 1'048'576 / 10); // at least a tenth
    model_facts facts;
    facts.context_window = 1000;
    REQUIRE(compaction_limit(facts) == 900);
}

TEST_CASE("images go to models that see and to those nobody knows") {
    REQUIRE(can_see_images("gpt-4o"));
    REQUIRE_FALSE(can_see_images("gpt-4"));
    REQUIRE_FALSE(can_see_images("deepseek-chat"));
    REQUIRE(can_see_images("qwen3-vl-8b-instruct"));
    REQUIRE(known_models().find("gemini-3-pro-image-preview").makes_images == true);
}

TEST_CASE("own facts replace what is known and leave the rest") {
    model_catalogue models;
    model_facts smaller;
    smaller.context_window = 8'192; // e.g. Ollama's num_ctx
    models.add("llama3.1:8b", smaller);
    const model_facts mine = models.find("llama3.1:8b");
    REQUIRE(mine.name == "llama3.1:8b");
    REQUIRE(mine.context_window == 8'192);
    REQUIRE(mine.calls_tools == true);
    REQUIRE(models.find("llama3.1:70b").context_window == 131'072);
    REQUIRE(known_models().find("llama3.1:8b").context_window == 131'072);

    model_facts blind;
    blind.sees_images = false;
    models.add("gateway/My.Model", blind);
    REQUIRE_FALSE(can_see_images(models.find("gateway/my-model")));
    REQUIRE_FALSE(models.find("my-model").is_known());
}

TEST_CASE("a file of models is read whole or not at all") {
    const scratch folder;
    const std::string path = folder.path("models.json");
    write_file(path, R"({
        "my-model": {"context_window": 32768, "longest_output": 4096, "sees_images": false, "makes_images": true,
                     "calls_tools": true, "thinking": "optional", "thinking_levels": ["low", "high"]},
        "gpt-5": {"context_window": 100000},
        "nothing": {}
    })");
    model_catalogue models;
    REQUIRE(models.add_file(path));
    const model_facts mine = models.find("my-model");
    REQUIRE(mine.context_window == 32'768);
    REQUIRE(mine.longest_output == 4'096);
    REQUIRE(mine.sees_images == false);
    REQUIRE(mine.makes_images == true);
    REQUIRE(mine.calls_tools == true);
    REQUIRE(mine.thinking == thinking_habit::optional);
    REQUIRE(mine.thinking_levels == std::vector<std::string>{"low", "high"});
    REQUIRE(models.find("gpt-5-2025-08-07").context_window == 100'000);
    REQUIRE(models.find("gpt-5").longest_output == 128'000);
    REQUIRE(models.find("nothing").is_known());

    write_file(path, R"({"other": {"context_window": 1}, "bad": {"context_window": -1}})");
    model_catalogue unchanged;
    const auto done = unchanged.add_file(path);
    REQUIRE_FALSE(done);
    REQUIRE(done.error().message() ==
            "the models in " + path +
                " cannot be read: expected a number of tokens at byte 59 (bad, context_window)");
    REQUIRE_FALSE(unchanged.find("other").is_known());

    const auto missing = unchanged.add_file(folder.path("none.json"));
    REQUIRE_FALSE(missing);
    REQUIRE(missing.error().message() ==
            "the models in " + folder.path("none.json") + " cannot be read: No such file or directory");
    REQUIRE_FALSE(unchanged.add_file(folder.path("")));
}

TEST_CASE("mistakes in own models name their place and what was expected") {
    REQUIRE(complaint("[]") == "expected an object with a member for each model at byte 0");
    REQUIRE(complaint("{") == "the input ended early: expected a string or '}' at byte 1");
    REQUIRE(complaint(R"({"m": 1})") == "expected an object at byte 6 (m)");
    REQUIRE(complaint(R"({"m": {"context_windw": 1}})") ==
            "the member \"context_windw\" at byte 7 (m) is not known; did you mean \"context_window\"?");
    REQUIRE(complaint(R"({"m": {"sees_images": 1}})") ==
            "expected true or false at byte 22 (m, sees_images)");
    REQUIRE(complaint(R"({"m": {"thinking": "a lot"}})") ==
            "expected \"never\", \"optional\" or \"always\" at byte 19 (m, thinking)");
    REQUIRE(complaint(R"({"m": {"thinking_levels": "low"}})") ==
            "expected an array of strings at byte 26 (m, thinking_levels)");
    REQUIRE(complaint(R"({"m": {"thinking_levels": [1]}})") ==
            "expected a string at byte 27 (m, thinking_levels)");
    REQUIRE(complaint(R"({"m": {"context_window": 1e99}})") ==
            "expected a number of tokens at byte 25 (m, context_window)");
    REQUIRE(complaint(R"({"": {}})") == "a model has an empty name");
}

TEST_CASE("a name that was mistyped finds those that are listed") {
    const auto names = known_models().names();
    REQUIRE(std::is_sorted(names.begin(), names.end(),
                           [](std::string_view a, std::string_view b) { return a.front() < b.front(); }));
    REQUIRE(nearest("gpt-5-mni", names).front() == "gpt-5-mini");
    REQUIRE(did_you_mean("claude-sonet-4-5", names).find("claude-sonnet-4-5") != std::string::npos);
}
