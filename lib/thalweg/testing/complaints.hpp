// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where the always-on checkers of the test kit say what they found: the stream checker in collect(), the
// context checker in scripted_model. CO_TEST_CASE fails a test that has complaints; other test frameworks ask
// take_complaints().
//
// Per thread. Nothing is printed here.

#include <string>
#include <utility>
#include <vector>

namespace thalweg::testing {

namespace detail {
inline thread_local std::vector<std::string> complaints;
}

inline void complain(std::string sentence) {
    detail::complaints.push_back(std::move(sentence));
}

/// All complaints of this thread since the last call.
[[nodiscard]] inline std::vector<std::string> take_complaints() {
    return std::exchange(detail::complaints, {});
}

} // namespace thalweg::testing
