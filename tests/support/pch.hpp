// SPDX-License-Identifier: BSL-1.0

// Precompiled for every test program. It only saves time: each test still includes what it uses.

#include "support/catch.hpp"

#include <chrono>
#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
