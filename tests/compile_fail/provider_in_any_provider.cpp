// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a provider needs the member `stream<delta, model_outcome> generate(model_request)`; this type has no generate

#include <thalweg/providers/any_provider.hpp>

using namespace thalweg;

struct mine {
#ifdef FIXED
    stream<delta, model_outcome> generate(model_request request);
#endif
};
any_provider some() {
    return mine{};
}
