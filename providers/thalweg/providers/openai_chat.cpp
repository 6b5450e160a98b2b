// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/openai_chat.hpp>

#include <thalweg/providers/chat/decoder.hpp>
#include <thalweg/providers/chat/request.hpp>
#include <thalweg/providers/detail/openai_server.hpp>
#include <thalweg/wire/exchange.hpp>
#include <thalweg/wire/request_body.hpp>

#include <utility>

namespace thalweg::providers {

struct openai_chat::settings {
    openai_chat_options options;
    wire::endpoint at;

    explicit settings(openai_chat_options given)
        : options(detail::resolved(std::move(given))),
          at(options.base_url, "/chat/completions", options.headers, options.timeouts) {
        const std::string key = options.api_key.empty() ? wire::from_environment({"OPENAI_API_KEY"})
                                                        : options.api_key;
        if (!key.empty()) at.add_secret("Authorization", "Bearer ", key);
        if (!options.organization.empty()) at.add_header("OpenAI-Organization", options.organization);
        if (!options.project.empty()) at.add_header("OpenAI-Project", options.project);
        at.refuse(wire::extra_fault(options.extra));
        if (options.model.empty()) at.refuse("option model is empty: name the model to ask");
        if (detail::is_openai(options.base_url) && key.empty() && options.headers.empty())
            at.refuse(model_outcome::auth(
                "no API key: set OPENAI_API_KEY (in code also: openai_chat_options::api_key)"));
    }
};

openai_chat::openai_chat(openai_chat_options options)
    : settings_(std::make_shared<const settings>(std::move(options))) {}

stream<delta, model_outcome> openai_chat::generate(model_request request) {
    const settings& with = *settings_;
    auto at = wire::checked({settings_, &with.at}, request, detail::openai_rules(with.options.base_url));
    std::string body;
    if (!at->refusal()) body = detail::chat_request_body(with.options, request);
    return wire::exchange(std::move(at), std::move(body), std::make_unique<chat_decoder>(with.options.model));
}

} // namespace thalweg::providers
