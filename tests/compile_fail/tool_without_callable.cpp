// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a tool needs something to call: a function, a lambda or a function object

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
const tool it("t", "d", 42);
#else
const tool it("t", "d", [] { return 42; });
#endif
