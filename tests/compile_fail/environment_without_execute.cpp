// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an environment needs the member `stream<chunk, tool_result> execute(tool_call, tool_context)`; this type has no execute

#include <thalweg/protocol/environment.hpp>

using namespace thalweg;

struct mine {
    std::vector<tool_definition> tools() const;
#ifdef FIXED
    stream<chunk, tool_result> execute(tool_call call, tool_context context);
#endif
};
static_assert(is_environment<mine>);
