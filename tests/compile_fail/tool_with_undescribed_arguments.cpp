// SPDX-License-Identifier: BSL-1.0
// error: thalweg: this struct is not described; write BOOST_DESCRIBE_STRUCT(type, (), (member, ...)) behind it, in its namespace

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct args {
    std::string city;
};

#ifndef FIXED
// undescribed
#else
BOOST_DESCRIBE_STRUCT(args, (), (city))
#endif

const tool it("t", "d", [](args a) { return a.city; });
