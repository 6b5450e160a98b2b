// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/anthropic.hpp>

#include <thalweg/providers/anthropic/decoder.hpp>
#include <thalweg/providers/anthropic/request.hpp>
#include <thalweg/wire/exchange.hpp>
#include <thalweg/wire/request_body.hpp>

#include <utility>

namespace thalweg::providers {

namespace {

constexpr std::string_view official = "https://api.anthropic.com";

std::string base_of(const anthropic_options& options) {
    if (!options.base_url.empty()) return options.base_url;
    std::string base = wire::from_environment({"ANTHROPIC_BASE_URL"});
    if (base.empty()) base = official;
    while (base.ends_with('/'))
        base.pop_back();
    return base.ends_with("/v1") ? base : base + "/v1";
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& each : words)
        all += (all.empty() ? "" : ",") + each;
    return all;
}

} // namespace

struct anthropic::settings {
    anthropic_options options;
    wire::endpoint at;

    explicit settings(anthropic_options given)
        : options(std::move(given)), at(base_of(options), "/messages", options.headers, options.timeouts) {
        std::string key = options.api_key;
        std::string token = options.auth_token;
        if (key.empty() && token.empty()) {
            key = wire::from_environment({"ANTHROPIC_API_KEY"});
            if (key.empty()) token = wire::from_environment({"ANTHROPIC_AUTH_TOKEN"});
        }
        if (!key.empty()) at.add_secret("x-api-key", "", key);
        if (!token.empty()) at.add_secret("Authorization", "Bearer ", token);
        at.add_header("anthropic-version", options.version);
        if (!options.betas.empty()) at.add_header("anthropic-beta", joined(options.betas));
        at.refuse(wire::extra_fault(options.extra));
        if (options.model.empty()) at.refuse("option model is empty: name the model to ask");
        if (options.max_tokens <= 0)
            at.refuse("option max_tokens is not positive: the server demands a limit");
        const bool has_secret = !key.empty() || !token.empty() || !options.headers.empty();
        if (at.url().starts_with(official) && !has_secret)
            at.refuse(model_outcome::auth(
                "no API key: set ANTHROPIC_API_KEY (in code also: anthropic_options::api_key)"));
    }
};

anthropic::anthropic(anthropic_options options)
    : settings_(std::make_shared<const settings>(std::move(options))) {}

stream<delta, model_outcome> anthropic::generate(model_request request) {
    const settings& with = *settings_;
    auto at = wire::checked({settings_, &with.at}, request, detail::anthropic_rules());
    std::string body;
    if (!at->refusal()) body = detail::anthropic_request_body(with.options, request);
    return wire::exchange(std::move(at), std::move(body),
                          std::make_unique<anthropic_decoder>(with.options.model));
}

} // namespace thalweg::providers
