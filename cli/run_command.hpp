// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg run`: one prompt, one run, shown live or written as JSON lines.

#include <optional>
#include <string>

namespace cli {

struct run_arguments {
    std::string provider; ///< a name of model_choices; empty = see chosen_model()
    std::string base_url;
    std::string model; ///< empty = the default of the provider
    std::string system;
    std::string tools = "none"; ///< demo, none
    std::string approve;        ///< all, ask, none; empty = ask on a terminal, none otherwise
    std::optional<int> max_turns;
    std::string trace; ///< folder; empty = no trace
    std::optional<std::string>
        json;           ///< file for the stream; "-" = standard output, and nothing else goes there
    std::string prompt; ///< "-" = standard input
};

/// The exit status.
[[nodiscard]] int run(const run_arguments& given);

} // namespace cli
