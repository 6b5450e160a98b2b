// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/no_tools.hpp>

namespace thalweg::environments {

namespace {

stream<chunk, tool_result> unknown(tool_call call) {
    std::string sentence = "Unknown tool: " + call.name().str(); // R-ENV-02
    co_return tool_result::failed(std::move(sentence));
}

} // namespace

stream<chunk, tool_result> no_tools::execute(tool_call call, tool_context) const {
    return unknown(std::move(call));
}

} // namespace thalweg::environments
