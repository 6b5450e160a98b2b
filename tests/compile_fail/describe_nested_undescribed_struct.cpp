// SPDX-License-Identifier: BSL-1.0
// error: thalweg: this struct is not described; write BOOST_DESCRIBE_STRUCT(type, (), (member, ...)) behind it, in its namespace

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

struct point {
    double lat;
};
#ifdef FIXED
BOOST_DESCRIBE_STRUCT(point, (), (lat))
#endif
struct args {
    point at;
};
BOOST_DESCRIBE_STRUCT(args, (), (at))

result<args> read(json::view value) {
    return decode<args>(value);
}
