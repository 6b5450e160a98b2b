// SPDX-License-Identifier: BSL-1.0

#pragma once

// How a run of an agent ended, and what it added to the transcript. A value.

#include <thalweg/agent/agent_errc.hpp>
#include <thalweg/agent/agent_message.hpp>
#include <thalweg/protocol/result.hpp>

#include <string>
#include <utility>
#include <vector>

namespace thalweg {

class agent_outcome {
public:
    agent_outcome() = default; ///< well, with nothing added
    agent_outcome(agent_errc code, std::string why) : error_(code, std::move(why)) {}

    /// The model gave its last answer, or a limit or a hook ended the run between two turns.
    [[nodiscard]] bool ok() const noexcept { return !error_.code(); }
    /// Code agent_errc and a sentence; nothing while ok().
    [[nodiscard]] const thalweg::error& error() const noexcept { return error_; }
    /// What the run added, prompts included, each once, in order (R-EVT-13).
    [[nodiscard]] const std::vector<agent_message>& messages() const noexcept { return messages_; }
    /// The text of the last message of the model; empty if there is none.
    [[nodiscard]] std::string answer() const;

    agent_outcome with_messages(std::vector<agent_message> added) && {
        messages_ = std::move(added);
        return std::move(*this);
    }

private:
    thalweg::error error_;
    std::vector<agent_message> messages_;
};

} // namespace thalweg
