// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a raw_tool takes its arguments as thalweg::text, std::string, std::string_view or json::view

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(args, (), (city))

#ifndef FIXED
const tool it = raw_tool("t", "d", "{}", [](args a) { return a.city; });
#else
const tool it("t", "d", [](args a) { return a.city; });
#endif
