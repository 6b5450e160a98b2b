// SPDX-License-Identifier: BSL-1.0
// error: thalweg: `docs` names a member that BOOST_DESCRIBE_STRUCT does not list

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

struct args {
    std::string city;
    static constexpr doc docs[] = {
#ifndef FIXED
        {"town", "Name of the city"}
#else
        {"city", "Name of the city"}
#endif
    };
};
BOOST_DESCRIBE_STRUCT(args, (), (city))
const text it = schema<args>();
