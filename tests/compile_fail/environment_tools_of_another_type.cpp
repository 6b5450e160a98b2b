// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an environment's tools() must return `std::vector<tool_definition>`

#include <thalweg/protocol/environment.hpp>

using namespace thalweg;

struct mine {
#ifndef FIXED
    std::vector<std::string> tools() const;
#else
    std::vector<tool_definition> tools() const;
#endif
    stream<chunk, tool_result> execute(tool_call call, tool_context context);
};
static_assert(is_environment<mine>);
