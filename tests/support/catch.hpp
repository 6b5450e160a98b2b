// SPDX-License-Identifier: BSL-1.0

#pragma once

// The only way into Catch2, so that a move to its next major version touches one file. Never write co_await
// inside an assertion macro: the macros end in a loop condition, where g++ 12 evaluates the await although it
// should not.

#include <catch2/catch.hpp>
