// SPDX-License-Identifier: BSL-1.0
// error: thalweg: this struct is not described; write BOOST_DESCRIBE_STRUCT(type, (), (member, ...)) behind it, in its namespace

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

struct weather {
    std::string sky;
};

#ifndef FIXED
// undescribed
#else
BOOST_DESCRIBE_STRUCT(weather, (), (sky))
#endif

const tool it("t", "d", []() -> task<weather> { co_return weather{}; });
