// SPDX-License-Identifier: BSL-1.0

#pragma once

// For the sources of this room only.

#include <thalweg/protocol/result.hpp>

namespace thalweg::trace::detail {

/// The good result<void>.
inline auto success() {
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

} // namespace thalweg::trace::detail
