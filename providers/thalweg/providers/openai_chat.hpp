// SPDX-License-Identifier: BSL-1.0

#pragma once

// A provider for OpenAI Chat Completions and the many servers that speak its dialects: DeepSeek, Groq,
// Mistral, OpenRouter, vLLM, llama.cpp, Ollama's /v1 and others.
//
//     providers::openai_chat({.model = "gpt-5-mini"})
//     providers::openai_chat({.model = "qwen3", .base_url = "http://127.0.0.1:8080/v1"})
//
// What it reads it reads in every dialect. What it sends is the common ground of all servers; where they
// differ there is a switch in `chat_dialect`.
//
// One object serves many sessions on many loops at once: it is stateless, a copy of it is cheap, and
// connections are shared by everything on one loop. It never retries and never throws; what goes wrong is in
// the outcome (D-05).

#include <thalweg/net/http_message.hpp>
#include <thalweg/protocol/provider.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace thalweg::providers {

/// When the thinking of earlier answers goes back as `reasoning_content` (or the member that it came in).
enum class resend_thinking : std::uint8_t {
    never,
    tool_turns, ///< with the tool calls that the running turn is about: what thinking models with tools need
    always,
};

/// How the thinking level of a session is asked for.
enum class thinking_switch : std::uint8_t {
    none,                 ///< not at all
    reasoning_effort,     ///< `reasoning_effort: LEVEL`
    reasoning_object,     ///< OpenRouter: `reasoning: {effort: LEVEL}`
    thinking_object,      ///< DeepSeek, Z.ai: `thinking: {type: enabled | disabled}`
    enable_thinking,      ///< DashScope: `enable_thinking: true | false`
    chat_template_kwargs, ///< vLLM, SGLang: `chat_template_kwargs: {enable_thinking: true | false}`
};

/// Which member limits the length of an answer.
enum class length_member : std::uint8_t {
    automatic, ///< max_completion_tokens at api.openai.com, max_tokens elsewhere
    max_tokens,
    max_completion_tokens,
};

/// What servers differ in.
struct chat_dialect {
    bool include_usage = true;   ///< `stream_options`; off for servers that refuse it
    bool developer_role = false; ///< the system prompt as `developer` instead of `system`
    bool strict_tools = false;   ///< `strict: true` on every tool; most servers refuse the member, so it is
                                 ///< left out
    length_member length = length_member::automatic;
    thinking_switch thinking = thinking_switch::reasoning_effort;
    resend_thinking resend = resend_thinking::tool_turns;
    /// Longer call ids, of other providers, are replaced by shorter ones; 0 = 64 at api.openai.com, else no
    /// limit.
    std::size_t longest_call_id = 0;
};

struct openai_chat_options {
    std::string model;
    /// `/chat/completions` is added in front of a query. Empty: the environment's OPENAI_BASE_URL, else
    /// https://api.openai.com/v1.
    std::string base_url = {};
    std::string api_key = {}; ///< empty: the environment's OPENAI_API_KEY; empty too: no Authorization header
    std::string organization = {};
    std::string project = {};
    std::vector<http::header> headers = {}; ///< beside the usual ones; one that is named here replaces them
    std::optional<std::int64_t> max_tokens = {}; ///< of one answer, thinking included
    std::optional<double> temperature = {};
    std::optional<bool> parallel_tool_calls = {}; ///< sent together with tools only
    std::string tool_choice = {}; ///< auto, none, required, or a tool's name; empty: the server decides
    std::string extra = {}; ///< JSON object whose members are added to every request; one of ours is replaced
    chat_dialect dialect = {};
    http::timeouts timeouts = {};
};

class openai_chat {
public:
    /// Copies what it needs, and reads the environment, here and never later. Wrong options (no model,
    /// `extra` that is no JSON object) make every request fail with a sentence about it.
    explicit openai_chat(openai_chat_options options);

    /// Anything else stops the build with a sentence.
    template <class Other>
        requires(!std::convertible_to<Other, openai_chat_options> &&
                 !std::derived_from<std::remove_cvref_t<Other>, openai_chat>)
    explicit openai_chat(Other&&) {
        static_assert(std::convertible_to<Other, openai_chat_options>,
                      "thalweg: openai_chat takes openai_chat_options: "
                      "`openai_chat({.model = \"name\", .base_url = \"http://...\"})`");
    }

    /// Errors: in the outcome, see the providers table; messages name method, URL, status and the server's
    /// words, never the key. Cancel: a stop request ends it as aborted; dropping the stream closes the
    /// connection.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);

private:
    struct settings;
    std::shared_ptr<const settings> settings_;
};

} // namespace thalweg::providers
