// SPDX-License-Identifier: BSL-1.0
// error: thalweg: functions takes tools

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
environments::functions all([] { return "dry"; });
#else
environments::functions all(tool("weather", "Tells the weather", [] { return "dry"; }));
#endif
