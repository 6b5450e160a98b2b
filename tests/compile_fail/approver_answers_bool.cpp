// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an approver gives a `decision` or a `task<decision>`

#include <thalweg/engine/session_options.hpp>

using namespace thalweg;

run_options options() {
#ifndef FIXED
    return {.approve = [](const tool_call&) { return true; }};
#else
    return {.approve = [](const tool_call&) { return decision::allow; }};
#endif
}
