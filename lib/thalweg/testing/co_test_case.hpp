// SPDX-License-Identifier: BSL-1.0

#pragma once

// Catch2 test cases that are coroutines on a virtual loop:
//
//     CO_TEST_CASE("a delay takes no time") { co_await thalweg::sleep_for(1h); REQUIRE(…); }
//
// Keep co_await out of assertion macros: await into a local first, then assert.

#include <thalweg/async/task.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <catch2/catch.hpp>

#define THALWEG_CO_TEST_CASE(function, ...)                                                                            \
    static ::thalweg::task<void> function();                                                                           \
    TEST_CASE(__VA_ARGS__) {                                                                                           \
        ::thalweg::testing::virtual_loop on;                                                                           \
        on.run(function());                                                                                            \
    }                                                                                                                  \
    static ::thalweg::task<void> function()

#define CO_TEST_CASE(...) THALWEG_CO_TEST_CASE(INTERNAL_CATCH_UNIQUE_NAME(thalweg_co_test_), __VA_ARGS__)
