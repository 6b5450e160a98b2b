// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a schema is made from a described struct

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

struct args {
    int days;
};
BOOST_DESCRIBE_STRUCT(args, (), (days))
#ifndef FIXED
const text it = schema<int>();
#else
const text it = schema<args>();
#endif
