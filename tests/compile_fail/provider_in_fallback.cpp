// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a provider needs the member `stream<delta, model_outcome> generate(model_request)`; this type has no generate

#include <thalweg/providers/fallback.hpp>

using namespace thalweg;

struct mine {
#ifdef FIXED
    stream<delta, model_outcome> generate(model_request request);
#endif
};
providers::fallback<mine> some() {
    return providers::fallback<mine>(mine{});
}
