// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool must not be a generic lambda or have several call operators; the types of its parameters make the schema, so write them out

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(args, (), (city))

#ifndef FIXED
const tool it("t", "d", [](auto a) { return a.city; });
#else
const tool it("t", "d", [](args a) { return a.city; });
#endif
