// SPDX-License-Identifier: BSL-1.0

#pragma once

// One call of an answer, from its checks to its result; and the words an agent has for how tools end, which
// are those of the tool and not the session's (R-EVT-35).

#include <thalweg/agent/agent_options.hpp>
#include <thalweg/engine/tool_run.hpp>
#include <thalweg/protocol/json_schema.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace thalweg::detail {

/// The compiled schemas of the tools that were called, by name.
class schema_cache {
public:
    /// What is wrong with `arguments`, or the form of them that the tool gets.
    [[nodiscard]] result<std::string> check(const tool_definition& tool, std::string_view arguments);

private:
    std::map<std::string, result<std::shared_ptr<const json_schema>>, std::less<>> compiled_;
};

class call_run final : public output_voice {
public:
    call_run(message made, const agent_options& options) noexcept
        : call(made.name(), made.content(), made.tool_call_id()), made_(std::move(made)), options_(options) {}
    call_run(const call_run&) = delete;

    tool_call call;                        ///< what the tool gets
    const agent_message* answer = nullptr; ///< which made it; set when the answer is over
    decision given = decision::allow;
    std::optional<message> output; ///< once it is known
    bool goes_on = false;          ///< passed the checks
    bool terminates = false;

    [[nodiscard]] const message& made() const noexcept { return made_; }
    /// Its arguments were cut; it never runs (D-09).
    [[nodiscard]] bool is_cut() const noexcept { return made_.stop() != stop_reason::completed; }

    // What the tool run asks for.
    [[nodiscard]] bool holds_back() const override { return static_cast<bool>(options_.after_tool_call); }
    [[nodiscard]] task<void> conclude(body_ending how, std::string held, output_framer& out) override;

private:
    [[nodiscard]] task<void> change(executed_tool& result);
    [[nodiscard]] task<void> call_hook(executed_tool& result);

    message made_;
    const agent_options& options_;
};

} // namespace thalweg::detail
