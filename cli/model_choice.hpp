// SPDX-License-Identifier: BSL-1.0

#pragma once

// Which model the arguments and the environment ask for, by the names of the program.

#include "run_command.hpp"

#include <thalweg/providers/any_provider.hpp>

#include <span>
#include <string>
#include <string_view>

namespace cli {

struct model_choice {
    std::string_view name;          ///< of --provider
    std::string_view default_model; ///< empty = it takes no --model and no --base-url
    std::string_view key;           ///< the environment variable that stands for it
    std::string_view address;       ///< another one
    thalweg::any_provider (*make)(const run_arguments& given);
};

/// All there are; the first one is taken where nothing speaks for another.
[[nodiscard]] std::span<const model_choice> model_choices();

/// The one of that name; null = there is none.
[[nodiscard]] const model_choice* find_choice(std::string_view name);

/// By name; without one openai-chat where there is a URL, else the first whose key or address the environment
/// has, else scripted. Precondition: a name that is given is one of model_choices().
[[nodiscard]] const model_choice& chosen_model(const run_arguments& given);

[[nodiscard]] thalweg::any_provider make_provider(const run_arguments& given);

} // namespace cli
