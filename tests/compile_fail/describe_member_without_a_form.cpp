// SPDX-License-Identifier: BSL-1.0
// error: thalweg: this type has no form in JSON; use bool, integers, float, double, std::string, thalweg::text, std::optional, std::vector, std::map<std::string, T>, described enums and structs

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

struct args {
#ifndef FIXED
    const char* city;
#else
    std::string city;
#endif
};
BOOST_DESCRIBE_STRUCT(args, (), (city))
const text it = schema<args>();
