// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool's first parameter is a described struct, which gives the schema; with text or json::view use raw_tool and write the schema

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
const tool it("t", "d", [](std::string arguments) { return arguments; });
#else
const tool it = raw_tool("t", "d", "{}", [](std::string arguments) { return arguments; });
#endif
