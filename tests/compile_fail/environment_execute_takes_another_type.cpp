// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an environment's execute must take `(tool_call, tool_context)` by value

#include <thalweg/protocol/environment.hpp>

using namespace thalweg;

struct mine {
    std::vector<tool_definition> tools() const;
#ifndef FIXED
    stream<chunk, tool_result> execute(tool_call& call);
#else
    stream<chunk, tool_result> execute(tool_call call, tool_context context);
#endif
};
static_assert(is_environment<mine>);
