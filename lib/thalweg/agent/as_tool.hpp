// SPDX-License-Identifier: BSL-1.0

#pragma once

// An agent, a session or a composition as a tool of another one:
//
//     agent helper(provider, combine(notes, as_tool("research", "Looks things up", researcher)));
//
// The tool takes {"prompt": string}. The run it starts passes live through the caller's stream, each message
// with one hop more: the id of the agent or session, or the tool's name for a composition. What an agent or a
// session says is the output; of a composition it is the answer alone. Approvals go to the caller's approver,
// the call naming the child in its origin; a stop request comes from the caller's call, as does its time-out
// (session_call_timeout unless the caller has limits for the tool).
// A child that fails, is busy or would lie too deep (D-14) is an output that says so. Agents and sessions
// outlive the environment. Loop thread.

#include <thalweg/agent/compose.hpp>

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

/// The environment that as_tool() gives.
class agent_tool {
public:
    agent_tool(tool_definition definition, member runs)
        : definition_(std::move(definition)), runs_(std::move(runs)) {}

    [[nodiscard]] std::vector<tool_definition> tools() const;
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context context);

private:
    tool_definition definition_;
    member runs_;
    std::shared_ptr<detail::introductions> known_ = std::make_shared<detail::introductions>();
};

/// `name` as tool_definition::name; `description` is for the model that calls.
template <class A>
[[nodiscard]] agent_tool as_tool(std::string_view name, std::string_view description, A&& runs) {
    tool_definition definition;
    definition.name = text(name);
    definition.description = text(description);
    definition.parameters = text(
        R"({"type":"object","properties":{"prompt":{"type":"string","description":"What is to be done, with all that has to be known for it"}},"required":["prompt"],"additionalProperties":false})");
    definition.timeout = session_call_timeout;
    return agent_tool(std::move(definition), detail::member_of(std::forward<A>(runs)));
}

} // namespace thalweg
