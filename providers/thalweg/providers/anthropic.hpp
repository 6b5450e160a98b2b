// SPDX-License-Identifier: BSL-1.0

#pragma once

// A provider for Anthropic Messages and the servers that speak it.
//
//     providers::anthropic({.model = "claude-sonnet-4-5"})
//
// One object serves many sessions on many loops at once: it is stateless, a copy of it is cheap, and
// connections are shared by everything on one loop. It never retries and never throws; what goes wrong is in
// the outcome (D-05).

#include <thalweg/net/http_message.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/wire/endpoint.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::providers {

/// How the thinking level of a session is asked for.
enum class anthropic_thinking : std::uint8_t {
    /// `thinking: {type: enabled, budget_tokens}`: minimal = 1024 tokens, low, medium and high = a quarter,
    /// half
    /// and three quarters of max_tokens, a number = that many; none, off, disabled = no thinking.
    budget,
    adaptive, ///< `thinking: {type: adaptive}`, and the level as `output_config.effort`
};

/// Which parts of a request the server keeps for the next one.
enum class prompt_cache : std::uint8_t {
    off,
    five_minutes, ///< marks the last tool, the system prompt and the last block of the last user message
    one_hour,     ///< the same, kept for longer at a higher price
};

struct anthropic_options {
    std::string model;
    /// `/messages` is added in front of a query. Empty: the environment's ANTHROPIC_BASE_URL with `/v1`, else
    /// https://api.anthropic.com/v1.
    std::string base_url = {};
    std::string api_key = {};               ///< empty: the environment's ANTHROPIC_API_KEY
    std::string auth_token = {};            ///< a bearer token in place of a key; empty: ANTHROPIC_AUTH_TOKEN
    std::string version = "2023-06-01";     ///< header `anthropic-version`
    std::vector<std::string> betas = {};    ///< header `anthropic-beta`
    std::vector<http::header> headers = {}; ///< beside the usual ones; one that is named here replaces them
    std::int64_t max_tokens = 16'384;       ///< of one answer, thinking included; the server demands a limit
    std::optional<double> temperature = {}; ///< left out while the model thinks: the server refuses both
    std::vector<std::string> stop_sequences = {};
    anthropic_thinking thinking = anthropic_thinking::budget;
    prompt_cache cache = prompt_cache::off;
    std::string tool_choice = {}; ///< auto, none, required, or a tool's name; empty: the server decides
    bool parallel_tool_calls = true;
    std::string extra = {}; ///< JSON object whose members are added to every request; one of ours is replaced
    http::timeouts timeouts = {};
};

class anthropic {
public:
    /// Copies what it needs, and reads the environment, here and never later. Wrong options (no model,
    /// `extra` that is no JSON object) make every request fail with a sentence about it.
    explicit anthropic(anthropic_options options);

    /// Errors: in the outcome, see the providers table; messages name method, URL, status and the server's
    /// words, never the key. A tool whose name the server refuses, and an image of a type that it does not
    /// take, fail before anything is sent. Cancel: a stop request ends it as aborted; dropping the stream
    /// closes the connection.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);

private:
    struct settings;
    std::shared_ptr<const settings> settings_;
};

} // namespace thalweg::providers
