// SPDX-License-Identifier: BSL-1.0

#pragma once

// What common models can do: how much they read and write, whether they see images, call tools, think.
//
//     session chat(model, tools, {.compaction = compaction_settings{
//                                     .max_context_length =
//                                     providers::compaction_limit("claude-sonnet-4-5")}});
//
// The figures are data of this library's release and describe the services of those who make the models. A
// server of one's own may offer less (Ollama's `num_ctx`, vLLM's `--max-model-len`): say so with add() or in
// a file. What is not known is empty, and nothing depends on its being known.
//
// Thread rule: constant once filled; known_models() from any thread.

#include <thalweg/protocol/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers {

/// Whether a model thinks before it answers.
enum class thinking_habit : std::uint8_t {
    never,
    optional, ///< if it is asked to, or unless it is asked not to
    always,
};

/// What is known of a model.
struct model_facts {
    std::string name;                           ///< the entry that these are of; empty: nothing is known
    std::optional<std::int64_t> context_window; ///< tokens of a request and its answer
    std::optional<std::int64_t> longest_output; ///< tokens of one answer, thinking included
    std::optional<bool> sees_images;
    std::optional<bool> makes_images;
    std::optional<bool> calls_tools;
    std::optional<thinking_habit> thinking;
    std::optional<std::vector<std::string>> thinking_levels; ///< that the service takes by name

    [[nodiscard]] bool is_known() const noexcept { return !name.empty(); }
};

class model_catalogue {
public:
    /// What this library knows.
    model_catalogue();
    /// Nothing.
    [[nodiscard]] static model_catalogue empty();

    /// The facts of a model. Case does not count, '.' and '_' are the same as '-', and what gateways put in
    /// front (`openai/`, `models/`, `us.anthropic.`) may be there. Its own entry counts; without one that of
    /// the longest name that it goes on from with a date, a variant or a tag: `gpt-5-mini-2025-08-07`,
    /// `llama3.1:8b`. Another version is another model: there may be a `gpt-5.9` about which nothing is
    /// known.
    [[nodiscard]] model_facts find(std::string_view model) const;

    /// Facts of one's own. Members that are set replace those that find() would have given for `name`, the
    /// others stay. `facts.name` is not looked at.
    void add(std::string_view name, const model_facts& facts);

    /// The same for each member of a JSON object:
    ///
    ///     {"my-model": {"context_window": 32768, "longest_output": 4096, "sees_images": false,
    ///                   "makes_images": false, "calls_tools": true, "thinking": "optional",
    ///                   "thinking_levels": ["low", "high"]}}
    ///
    /// Errors: json::errc, with byte offset, member and what was expected there; nothing is added then.
    [[nodiscard]] result<void> add_json(std::string_view text);
    /// The same of a file, which the error names, too. Blocks.
    [[nodiscard]] result<void> add_file(const std::string& path);

    /// All names, sorted; valid until the next add. For did_you_mean().
    [[nodiscard]] std::vector<std::string_view> names() const;

private:
    struct nothing {};
    explicit model_catalogue(nothing) {}

    std::map<std::string, model_facts, std::less<>> models_; // by folded name
};

/// The catalogue of this library, made at the first call.
[[nodiscard]] const model_catalogue& known_models();

/// When a session should give up its context for a summary: compaction_settings::max_context_length. The
/// window less room for an answer, which is the longest one, but at least a tenth and at most a third of the
/// window. -1, which is never, if the window is not known.
[[nodiscard]] std::int64_t compaction_limit(const model_facts& facts) noexcept;
[[nodiscard]] std::int64_t compaction_limit(std::string_view model);

/// Whether images can be sent to the model as they are; yes if that is not known.
[[nodiscard]] bool can_see_images(const model_facts& facts) noexcept;
[[nodiscard]] bool can_see_images(std::string_view model);

} // namespace thalweg::providers
