// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/as_tool.hpp>

#include <thalweg/protocol/json.hpp>

#include <optional>

namespace thalweg {

namespace {

stream<chunk, tool_result> refuse(tool_result why) {
    co_return std::move(why);
}

/// The engine's check against the schema has been before this; an environment may also be used without it.
std::optional<text> prompt_of(const tool_call& call) {
    const auto arguments = json::parse(call.arguments());
    if (!arguments) return std::nullopt;
    const auto found = arguments.value().find("prompt");
    return found ? found->as_text() : std::nullopt;
}

} // namespace

std::vector<tool_definition> agent_tool::tools() const {
    return {definition_};
}

stream<chunk, tool_result> agent_tool::execute(tool_call call, tool_context context) {
    if (call.name() != definition_.name)
        return refuse(tool_result::failed("there is no tool " + call.name().str() + " here"));
    auto prompt = prompt_of(call);
    if (!prompt) return refuse(tool_result::failed("prompt: expected a string"));
    detail::member_request asked(std::move(*prompt), run_options(), known_);
    return runs_.source().run_under(std::move(context), std::move(asked), definition_.name);
}

} // namespace thalweg
