// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an approver holds at most 24 trivially copyable bytes; capture references, or pass std::ref(callable)

#include <thalweg/engine/session_options.hpp>

#include <functional>

using namespace thalweg;

struct doorman {
    decision operator()(const tool_call&) const { return decision::allow; }
    char notes[100];
};

run_options options(doorman& who) {
#ifndef FIXED
    return {.approve = who};
#else
    return {.approve = std::ref(who)};
#endif
}
