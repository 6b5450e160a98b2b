// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an approver holds at most 24 trivially copyable bytes; capture references, or pass std::ref(callable)

#include <thalweg/engine/session_options.hpp>

#include <memory>

using namespace thalweg;

run_options options(std::shared_ptr<int> count) {
#ifndef FIXED
    return {.approve = [count](const tool_call&) { return ++*count > 3 ? decision::deny : decision::allow; }};
#else
    return {.approve = [&count = *count](const tool_call&) {
        return ++count > 3 ? decision::deny : decision::allow;
    }};
#endif
}
