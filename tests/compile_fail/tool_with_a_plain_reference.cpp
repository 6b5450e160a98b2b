// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool takes its arguments by value, const& or &&, not by plain reference

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(args, (), (city))

#ifndef FIXED
const tool it("t", "d", [](args& a) { return a.city; });
#else
const tool it("t", "d", [](const args& a) { return a.city; });
#endif
