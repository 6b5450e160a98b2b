// SPDX-License-Identifier: BSL-1.0
// error: thalweg: only a blocking() tool takes a std::stop_token; a coroutine asks `co_await this_coroutine()`

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
const tool it("t", "d", [](std::stop_token) {});
#else
const tool it("t", "d", blocking([](std::stop_token) {}));
#endif
