// SPDX-License-Identifier: BSL-1.0
// error: thalweg: blocking() is for plain functions; a coroutine does not block, give it to tool() as it is

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

task<std::string> words();

#ifndef FIXED
const tool it("t", "d", blocking(words));
#else
const tool it("t", "d", words);
#endif
