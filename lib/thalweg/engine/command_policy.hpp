// SPDX-License-Identifier: BSL-1.0

#pragma once

// Rules that forbid commands before anybody is asked (R-ENG-26): a matching rule answers `forbidden` in every
// approval mode.
//
// A policy is a seat belt against mistakes, not a sandbox: a shell has endless ways to say the same thing.

#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/result.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

struct command_rule {
    std::string name;
    std::string pattern; ///< Perl-style regular expression, searched anywhere in the command
    std::string description = {};
    bool enabled = true;
};

class command_policy {
public:
    command_policy() noexcept = default; ///< forbids nothing

    /// Compiles the enabled rules. An invalid pattern is an error that names the rule and the position in the
    /// pattern.
    [[nodiscard]] static result<command_policy> make(std::vector<command_rule> rules);

    /// The name of the first rule that forbids `call`, or empty. Looked at: `cmd` of exec_command and `chars`
    /// of input_command (Ctrl-C alone is exempt). Arguments that are no JSON object match nothing. A pattern
    /// that takes too long on a text counts as matching.
    [[nodiscard]] std::string_view forbids(const tool_call& call) const;

private:
    struct compiled;
    std::shared_ptr<const compiled> rules_;
};

} // namespace thalweg
