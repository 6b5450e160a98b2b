// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a described struct needs a default constructor; decoding starts from it

#include <thalweg/protocol/describe.hpp>

using namespace thalweg;

struct args {
#ifndef FIXED
    explicit args(int d) : days(d) {}
#endif
    int days;
};
BOOST_DESCRIBE_STRUCT(args, (), (days))

result<args> read(const tool_call& call) {
    return call.decode<args>();
}
