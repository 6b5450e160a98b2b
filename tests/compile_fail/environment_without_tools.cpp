// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an environment needs the member `std::vector<tool_definition> tools()`; this type has no tools

#include <thalweg/protocol/environment.hpp>

using namespace thalweg;

struct mine {
#ifdef FIXED
    std::vector<tool_definition> tools() const;
#endif
    stream<chunk, tool_result> execute(tool_call call, tool_context context);
};
static_assert(is_environment<mine>);
