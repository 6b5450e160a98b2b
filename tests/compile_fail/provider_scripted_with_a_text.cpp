// SPDX-License-Identifier: BSL-1.0
// error: thalweg: a scripted model takes answers

#include <thalweg/providers/scripted.hpp>

using namespace thalweg;

#ifndef FIXED
providers::scripted model("Hello.", "Bye.");
#else
providers::scripted model(providers::answer().text("Hello."), providers::answer().text("Bye."));
#endif
