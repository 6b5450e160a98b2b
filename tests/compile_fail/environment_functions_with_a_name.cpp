// SPDX-License-Identifier: BSL-1.0
// error: thalweg: functions takes tools

#include <thalweg/environments/functions.hpp>

using namespace thalweg;

#ifndef FIXED
environments::functions all(tool("weather", "Tells the weather", [] { return "dry"; }), "tide");
#else
environments::functions all(tool("weather", "Tells the weather", [] { return "dry"; }),
                            tool("tide", "Tells the tide", [] { return "low"; }));
#endif
