// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/detail/known_models.hpp>

namespace thalweg::providers::detail {

namespace {

constexpr bool blind = false;
constexpr bool sees = true;
constexpr bool words = false; // answers with text alone
constexpr bool draws = true;
constexpr bool plain = false; // calls no tools
constexpr bool tools = true;
constexpr auto never = known_thinking::never;
constexpr auto may = known_thinking::optional;
constexpr auto always = known_thinking::always;

constexpr std::string_view low_to_high = "low medium high";
constexpr std::string_view minimal_to_high = "minimal low medium high";
constexpr std::string_view none_to_high = "none low medium high";
constexpr std::string_view none_to_xhigh = "none low medium high xhigh";

// One line a model, as its maker states it; the smaller figure where several are stated. A name that ends
// with a colon is that of exactly this model and its tags, because others begin with it that differ.
constexpr known_model rows[] = {
    // Anthropic
    {"claude-3-haiku", 200'000, 4'096, sees, words, tools, never, ""},
    {"claude-3-sonnet", 200'000, 4'096, sees, words, tools, never, ""},
    {"claude-3-opus", 200'000, 4'096, sees, words, tools, never, ""},
    {"claude-3-5-haiku", 200'000, 8'192, sees, words, tools, never, ""},
    {"claude-3-5-sonnet", 200'000, 8'192, sees, words, tools, never, ""},
    {"claude-3-7-sonnet", 200'000, 64'000, sees, words, tools, may, ""},
    {"claude-sonnet-4", 200'000, 64'000, sees, words, tools, may, ""},
    {"claude-opus-4", 200'000, 32'000, sees, words, tools, may, ""},
    {"claude-opus-4-1", 200'000, 32'000, sees, words, tools, may, ""},
    {"claude-sonnet-4-5", 200'000, 64'000, sees, words, tools, may, ""},
    {"claude-haiku-4-5", 200'000, 64'000, sees, words, tools, may, ""},
    {"claude-opus-4-5", 200'000, 64'000, sees, words, tools, may, low_to_high},
    {"claude-opus-4-6", 1'000'000, 128'000, sees, words, tools, may, "low medium high max"},
    {"claude-sonnet-4-6", 1'000'000, 0, sees, words, tools, may, ""},
    {"claude-opus-4-7", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-opus-4-8", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-opus-5", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-opus-5-5", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-sonnet-5", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-sonnet-5-5", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-haiku-5-5", 1'000'000, 128'000, sees, words, tools, may, ""},
    {"claude-fable-5", 1'000'000, 128'000, sees, words, tools, always, ""},
    {"claude-fable-5-1", 1'000'000, 128'000, sees, words, tools, always, ""},

    // OpenAI
    {"gpt-3-5-turbo", 16'385, 4'096, blind, words, tools, never, ""},
    {"gpt-35-turbo", 16'385, 4'096, blind, words, tools, never, ""}, // Azure
    {"gpt-4", 8'192, 8'192, blind, words, tools, never, ""},
    {"gpt-4-32k", 32'768, 32'768, blind, words, tools, never, ""},
    {"gpt-4-1106", 128'000, 4'096, blind, words, tools, never, ""},
    {"gpt-4-0125", 128'000, 4'096, blind, words, tools, never, ""},
    {"gpt-4-vision", 128'000, 4'096, sees, words, plain, never, ""},
    {"gpt-4-turbo", 128'000, 4'096, sees, words, tools, never, ""},
    {"gpt-4o", 128'000, 16'384, sees, words, tools, never, ""},
    {"chatgpt-4o", 128'000, 16'384, sees, words, plain, never, ""},
    {"gpt-4o-mini", 128'000, 16'384, sees, words, tools, never, ""},
    {"gpt-4.1", 1'047'576, 32'768, sees, words, tools, never, ""},
    {"gpt-4.1-mini", 1'047'576, 32'768, sees, words, tools, never, ""},
    {"gpt-4.1-nano", 1'047'576, 32'768, sees, words, tools, never, ""},
    {"o1", 200'000, 100'000, sees, words, tools, always, low_to_high},
    {"o1-mini", 128'000, 65'536, blind, words, plain, always, ""},
    {"o1-preview", 128'000, 32'768, blind, words, plain, always, ""},
    {"o3", 200'000, 100'000, sees, words, tools, always, low_to_high},
    {"o3-mini", 200'000, 100'000, blind, words, tools, always, low_to_high},
    {"o4-mini", 200'000, 100'000, sees, words, tools, always, low_to_high},
    {"gpt-5", 400'000, 128'000, sees, words, tools, always, minimal_to_high},
    {"gpt-5-mini", 400'000, 128'000, sees, words, tools, always, minimal_to_high},
    {"gpt-5-nano", 400'000, 128'000, sees, words, tools, always, minimal_to_high},
    {"gpt-5-codex", 400'000, 128'000, sees, words, tools, always, low_to_high},
    {"gpt-5-chat", 128'000, 16'384, sees, words, plain, never, ""},
    {"gpt-5.1", 400'000, 128'000, sees, words, tools, may, none_to_high},
    {"gpt-5.1-chat", 128'000, 16'384, sees, words, tools, may, ""},
    {"gpt-5.2", 400'000, 128'000, sees, words, tools, may, none_to_xhigh},
    {"gpt-5.2-chat", 128'000, 16'384, sees, words, tools, may, ""},
    {"gpt-5.4", 1'050'000, 128'000, sees, words, tools, may, none_to_xhigh},
    {"gpt-5.4-mini", 400'000, 128'000, sees, words, tools, may, none_to_xhigh},
    {"gpt-5.4-nano", 400'000, 128'000, sees, words, tools, may, none_to_xhigh},
    {"gpt-5.5", 1'050'000, 128'000, sees, words, tools, may, none_to_xhigh},
    {"gpt-oss-20b", 131'072, 131'072, blind, words, tools, always, low_to_high},
    {"gpt-oss-120b", 131'072, 131'072, blind, words, tools, always, low_to_high},
    {"gpt-oss", 131'072, 131'072, blind, words, tools, always, low_to_high}, // Ollama

    // Google
    {"gemini-1.5-pro", 2'097'152, 8'192, sees, words, tools, never, ""},
    {"gemini-1.5-flash", 1'048'576, 8'192, sees, words, tools, never, ""},
    {"gemini-2.0-flash", 1'048'576, 8'192, sees, words, tools, never, ""},
    {"gemini-2.0-flash-lite", 1'048'576, 8'192, sees, words, tools, never, ""},
    {"gemini-2.5-pro", 1'048'576, 65'536, sees, words, tools, always, ""},
    {"gemini-2.5-flash", 1'048'576, 65'536, sees, words, tools, may, ""},
    {"gemini-2.5-flash-lite", 1'048'576, 65'536, sees, words, tools, may, ""},
    {"gemini-2.5-flash-image", 65'536, 32'768, sees, draws, plain, never, ""},
    {"gemini-3-pro", 1'048'576, 65'536, sees, words, tools, always, "low high"},
    {"gemini-3-pro-image", 65'536, 32'768, sees, draws, plain, always, ""},
    {"gemini-3-flash", 1'048'576, 65'536, sees, words, tools, may, minimal_to_high},
    {"gemini-3.1-pro", 1'048'576, 65'536, sees, words, tools, always, low_to_high},
    {"gemini-3.8-flash", 1'048'576, 65'536, sees, words, tools, always, low_to_high},
    {"gemma-2", 8'192, 0, blind, words, plain, never, ""},
    {"gemma2", 8'192, 0, blind, words, plain, never, ""},
    {"gemma-3", 131'072, 8'192, sees, words, plain, never, ""},
    {"gemma-3-1b", 32'768, 8'192, blind, words, plain, never, ""},
    {"gemma-3-270m", 32'768, 8'192, blind, words, plain, never, ""},
    {"gemma3", 131'072, 8'192, sees, words, plain, never, ""},
    {"gemma3:1b", 32'768, 8'192, blind, words, plain, never, ""},
    {"gemma3:270m", 32'768, 8'192, blind, words, plain, never, ""},

    // Mistral
    {"mistral-large-2411", 128'000, 0, blind, words, tools, never, ""},
    {"mistral-large-2512", 256'000, 0, sees, words, tools, never, ""},
    {"mistral-medium-2505", 128'000, 0, sees, words, tools, never, ""},
    {"mistral-medium-2508", 128'000, 0, sees, words, tools, never, ""},
    {"mistral-small-2501", 32'000, 0, blind, words, tools, never, ""},
    {"mistral-small-2503", 128'000, 0, sees, words, tools, never, ""},
    {"mistral-small-2506", 128'000, 0, sees, words, tools, never, ""},
    {"mistral-nemo", 128'000, 0, blind, words, tools, never, ""},
    {"open-mistral-nemo", 128'000, 0, blind, words, tools, never, ""},
    {"pixtral-large", 128'000, 0, sees, words, tools, never, ""},
    {"pixtral-12b", 128'000, 0, sees, words, tools, never, ""},
    {"codestral-2508", 256'000, 0, blind, words, tools, never, ""},

    // DeepSeek
    {"deepseek-chat", 131'072, 8'192, blind, words, tools, never, ""},
    {"deepseek-reasoner", 131'072, 65'536, blind, words, tools, always, ""},
    {"deepseek-v3", 131'072, 0, blind, words, tools, never, ""},
    {"deepseek-v3.1", 131'072, 0, blind, words, tools, may, ""},
    {"deepseek-v3.2", 131'072, 0, blind, words, tools, may, ""},
    {"deepseek-r1", 131'072, 0, blind, words, tools, always, ""},

    // xAI
    {"grok-2", 131'072, 0, blind, words, tools, never, ""},
    {"grok-2-vision", 32'768, 0, sees, words, tools, never, ""},
    {"grok-3", 131'072, 0, blind, words, tools, never, ""},
    {"grok-3-mini", 131'072, 0, blind, words, tools, always, "low high"},
    {"grok-4", 256'000, 0, sees, words, tools, always, ""},
    {"grok-4-fast", 2'000'000, 0, sees, words, tools, may, ""},
    {"grok-4.1-fast", 2'000'000, 0, sees, words, tools, may, ""},
    {"grok-code-fast-1", 256'000, 0, blind, words, tools, always, ""},

    // Qwen
    {"qwen2.5", 32'768, 8'192, blind, words, tools, never, ""},
    {"qwen2.5-coder", 32'768, 8'192, blind, words, tools, never, ""},
    {"qwen2.5-vl", 0, 0, sees, words, tools, never, ""},
    {"qwen2.5-omni", 0, 0, sees, words, tools, never, ""},
    {"qwen3:", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-0.6b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-1.7b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-4b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-8b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-14b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-32b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-30b-a3b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-235b-a22b", 32'768, 0, blind, words, tools, may, ""},
    {"qwen3-max", 262'144, 0, blind, words, tools, may, ""},
    {"qwen3-vl", 0, 0, sees, words, tools, may, ""},
    {"qwen3-4b-instruct-2507", 262'144, 0, blind, words, tools, never, ""},
    {"qwen3-30b-a3b-instruct-2507", 262'144, 0, blind, words, tools, never, ""},
    {"qwen3-235b-a22b-instruct-2507", 262'144, 0, blind, words, tools, never, ""},
    {"qwen3-4b-thinking-2507", 262'144, 0, blind, words, tools, always, ""},
    {"qwen3-30b-a3b-thinking-2507", 262'144, 0, blind, words, tools, always, ""},
    {"qwen3-235b-a22b-thinking-2507", 262'144, 0, blind, words, tools, always, ""},
    {"qwen3-coder", 262'144, 65'536, blind, words, tools, never, ""},
    {"qwen3-next-80b-a3b-instruct", 262'144, 0, blind, words, tools, never, ""},
    {"qwen3-next-80b-a3b-thinking", 262'144, 0, blind, words, tools, always, ""},
    {"qwq", 131'072, 0, blind, words, tools, always, ""},

    // Meta
    {"llama-3", 8'192, 0, blind, words, plain, never, ""},
    {"llama3", 8'192, 0, blind, words, plain, never, ""},
    {"meta-llama-3", 8'192, 0, blind, words, plain, never, ""},
    {"llama-3.1", 131'072, 0, blind, words, tools, never, ""},
    {"llama3.1", 131'072, 0, blind, words, tools, never, ""},
    {"meta-llama-3.1", 131'072, 0, blind, words, tools, never, ""},
    {"llama-3.2", 131'072, 0, blind, words, tools, never, ""},
    {"llama-3.2-11b-vision", 131'072, 0, sees, words, tools, never, ""},
    {"llama-3.2-90b-vision", 131'072, 0, sees, words, tools, never, ""},
    {"llama3.2", 131'072, 0, blind, words, tools, never, ""},
    {"llama3.2-vision", 131'072, 0, sees, words, plain, never, ""},
    {"llama-3.3", 131'072, 0, blind, words, tools, never, ""},
    {"llama3.3", 131'072, 0, blind, words, tools, never, ""},
    {"llama-4-scout", 10'485'760, 0, sees, words, tools, never, ""},
    {"llama-4-maverick", 1'048'576, 0, sees, words, tools, never, ""},

    // Others
    {"kimi-k2-0905", 262'144, 0, blind, words, tools, never, ""},
    {"kimi-k2-thinking", 262'144, 0, blind, words, tools, always, ""},
    {"glm-4.5", 131'072, 98'304, blind, words, tools, may, ""},
    {"glm-4.6", 200'000, 131'072, blind, words, tools, may, ""},
    {"phi-4", 16'384, 0, blind, words, plain, never, ""},
    {"phi-4-mini", 131'072, 0, blind, words, tools, never, ""},
    {"phi-4-multimodal", 131'072, 0, sees, words, plain, never, ""},
    {"phi4", 16'384, 0, blind, words, plain, never, ""},
    {"command-r", 128'000, 4'096, blind, words, tools, never, ""},
    {"command-r-plus", 128'000, 4'096, blind, words, tools, never, ""},
    {"command-a-03-2025", 256'000, 8'192, blind, words, tools, never, ""},
};

} // namespace

std::span<const known_model> known_model_rows() noexcept {
    return rows;
}

} // namespace thalweg::providers::detail
