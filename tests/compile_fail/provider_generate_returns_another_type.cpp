// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a provider's generate must return `stream<delta, model_outcome>`

#include <thalweg/protocol/provider.hpp>

using namespace thalweg;

struct mine {
#ifndef FIXED
    stream<delta> generate(model_request request);
#else
    stream<delta, model_outcome> generate(model_request request);
#endif
};
static_assert(is_provider<mine>);
