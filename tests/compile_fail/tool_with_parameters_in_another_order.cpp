// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool's callable takes, each optional and in this order: its arguments, a tool_context and, if it is blocking, a std::stop_token

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(args, (), (city))

#ifndef FIXED
const tool it("t", "d", [](tool_context, args a) { return a.city; });
#else
const tool it("t", "d", [](args a, tool_context) { return a.city; });
#endif
