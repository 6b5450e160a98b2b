// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/result.hpp>

#include <cstdio>
#include <cstdlib>

namespace thalweg::detail {

void die_of(const error* why) noexcept {
    if (why == nullptr) {
        std::fputs("thalweg: result::error() of a result that has a value\n", stderr);
    } else if (!why->message().empty()) {
        std::fprintf(stderr, "thalweg: result::value() of a failed result: %s\n", why->message().c_str());
    } else {
        std::fprintf(stderr, "thalweg: result::value() of a failed result: %s %d\n",
                     why->code().category().name(), why->code().value());
    }
    std::abort();
}

} // namespace thalweg::detail
