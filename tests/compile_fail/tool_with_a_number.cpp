// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool's first parameter is a described struct; put this type into one, so that the model sees a name

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(args, (), (city))

#ifndef FIXED
const tool it("t", "d", [](int days) { return days; });
#else
const tool it("t", "d", [](args a) { return a.city; });
#endif
