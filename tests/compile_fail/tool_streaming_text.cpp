// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a streaming tool returns `stream<chunk, tool_result>` or `stream<chunk>`

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
stream<std::string> words();
#else
stream<chunk> words();
#endif

const tool it("t", "d", words);
