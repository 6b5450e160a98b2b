// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a provider's generate must take one `model_request` by value

#include <thalweg/protocol/provider.hpp>

using namespace thalweg;

struct mine {
#ifndef FIXED
    stream<delta, model_outcome> generate(std::string prompt);
#else
    stream<delta, model_outcome> generate(model_request request);
#endif
};
static_assert(is_provider<mine>);
