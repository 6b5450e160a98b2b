// SPDX-License-Identifier: BSL-1.0
// error: thalweg: an approver is a function that takes a `const tool_call&` and gives a `decision` or a `task<decision>`; allow_all and deny_all are ready-made

#include <thalweg/engine/session_options.hpp>

using namespace thalweg;

#ifndef FIXED
run_options options{.approve = true};
#else
run_options options{.approve = allow_all};
#endif
