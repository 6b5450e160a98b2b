// SPDX-License-Identifier: BSL-1.0

#include "model_choice.hpp"

#include <thalweg/providers/anthropic.hpp>
#include <thalweg/providers/openai_chat.hpp>
#include <thalweg/providers/scripted.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

bool is_set(std::string_view name) {
    if (name.empty()) return false;
    const char* value = std::getenv(std::string(name).c_str());
    return value != nullptr && *value != '\0';
}

template <class Provider, class Options>
any_provider made(const run_arguments& given) {
    Options options;
    options.model = given.model;
    options.base_url = given.base_url;
    return Provider(std::move(options));
}

} // namespace

const model_choice* find_choice(std::string_view name) {
    const auto found = std::find_if(model_choices.begin(), model_choices.end(),
                                    [name](const model_choice& each) { return each.name == name; });
    return found == model_choices.end() ? nullptr : &*found;
}

const model_choice& chosen_model(const run_arguments& given) {
    if (const model_choice* named = find_choice(given.provider)) return *named;
    if (!given.base_url.empty()) return *find_choice("openai-chat");
    for (const model_choice& each : model_choices)
        if (is_set(each.key) || is_set(each.address)) return each;
    return model_choices.front();
}

any_provider make_provider(const run_arguments& given) {
    const std::string_view name = chosen_model(given).name;
    if (name == "openai-chat") return made<providers::openai_chat, providers::openai_chat_options>(given);
    if (name == "anthropic") return made<providers::anthropic, providers::anthropic_options>(given);
    return given.tools == "demo" ? providers::demo_model() : providers::greeting_model();
}

} // namespace cli
