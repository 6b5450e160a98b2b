// SPDX-License-Identifier: BSL-1.0

#pragma once

// Whether this build runs under a sanitizer, so that long tests can do a tenth of their work.

namespace thalweg::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

} // namespace thalweg::testing
