// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an environment's execute must return `stream<chunk, tool_result>`

#include <thalweg/protocol/environment.hpp>

using namespace thalweg;

struct mine {
    std::vector<tool_definition> tools() const;
#ifndef FIXED
    stream<chunk> execute(tool_call call, tool_context context);
#else
    stream<chunk, tool_result> execute(tool_call call, tool_context context);
#endif
};
static_assert(is_environment<mine>);
