// SPDX-License-Identifier: BSL-1.0

#include "model_choice.hpp"

#include <thalweg/providers/anthropic.hpp>
#include <thalweg/providers/openai_chat.hpp>
#include <thalweg/providers/scripted.hpp>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

bool is_set(std::string_view name) {
    if (name.empty()) return false;
    const char* value = std::getenv(std::string(name).c_str());
    return value != nullptr && *value != '\0';
}

any_provider scripted(const run_arguments& given) {
    return given.tools == "demo" ? providers::demo_model() : providers::greeting_model();
}

template <class Provider, class Options>
any_provider made(const run_arguments& given) {
    Options options;
    options.model = given.model;
    options.base_url = given.base_url;
    return Provider(std::move(options));
}

constexpr model_choice known[] = {
    {"scripted", "", "", "", scripted},
    {"openai-chat", "gpt-5-mini", "OPENAI_API_KEY", "OPENAI_BASE_URL",
     made<providers::openai_chat, providers::openai_chat_options>},
    {"anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
     made<providers::anthropic, providers::anthropic_options>},
};

} // namespace

std::span<const model_choice> model_choices() {
    return known;
}

const model_choice* find_choice(std::string_view name) {
    const auto found = std::find_if(std::begin(known), std::end(known),
                                    [name](const model_choice& each) { return each.name == name; });
    return found == std::end(known) ? nullptr : found;
}

const model_choice& chosen_model(const run_arguments& given) {
    if (const model_choice* named = find_choice(given.provider)) return *named;
    if (!given.base_url.empty()) return *find_choice("openai-chat");
    for (const model_choice& each : known)
        if (is_set(each.key) || is_set(each.address)) return each;
    return known[0];
}

any_provider make_provider(const run_arguments& given) {
    return chosen_model(given).make(given);
}

} // namespace cli
