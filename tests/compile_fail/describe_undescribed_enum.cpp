// SPDX-License-Identifier: BSL-1.0
// error: thalweg: this enum is not described; write BOOST_DESCRIBE_ENUM(type, value, ...) behind it, in its namespace

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

enum class unit { celsius, fahrenheit };
#ifdef FIXED
BOOST_DESCRIBE_ENUM(unit, celsius, fahrenheit)
#endif
struct args {
    std::vector<unit> units;
};
BOOST_DESCRIBE_STRUCT(args, (), (units))
const text it = schema<args>();
