// SPDX-License-Identifier: BSL-1.0

#pragma once

// Catch2 test cases that are coroutines on a virtual loop:
//
//     CO_TEST_CASE("a delay takes no time") { co_await thalweg::sleep_for(1h); REQUIRE(…); }
//
// The checkers of the test kit are on by themselves: a test fails when the stream of a run that collect()
// read, or a context that a scripted_model was handed, breaks a rule, and when a coroutine outlives the loop.
//
// Keep co_await out of assertion macros: await into a local first, then assert.

#include <thalweg/async/task.hpp>
#include <thalweg/testing/complaints.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <catch2/catch.hpp>

namespace thalweg::testing::detail {

/// Runs one test, then says what the checkers found and whether a coroutine frame was left behind.
inline void run_test(task<void> (*test)()) {
    static_cast<void>(take_complaints());
    const auto frames = thalweg::detail::frame_pool::live();
    {
        virtual_loop on;
        on.run(test());
    }
    for (const std::string& sentence : take_complaints())
        FAIL_CHECK(sentence);
    if (thalweg::detail::frame_pool::live() != frames) FAIL_CHECK("a coroutine frame is still alive");
}

} // namespace thalweg::testing::detail

#define THALWEG_CO_TEST_CASE(function, ...)                                                                  \
    static ::thalweg::task<void> function();                                                                 \
    TEST_CASE(__VA_ARGS__) {                                                                                 \
        ::thalweg::testing::detail::run_test(function);                                                      \
    }                                                                                                        \
    static ::thalweg::task<void> function()

#define CO_TEST_CASE(...) THALWEG_CO_TEST_CASE(INTERNAL_CATCH_UNIQUE_NAME(thalweg_co_test_), __VA_ARGS__)
