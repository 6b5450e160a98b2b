// SPDX-License-Identifier: BSL-1.0

#include "counted.hpp"
#include "support/catch.hpp"
#include "support/last_words.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

stream<int, std::string> count_to(int last) {
    for (int n = 1; n <= last; ++n) {
        if (n % 3 == 0) co_await sleep_for(1s);
        co_yield int{n};
    }
    co_return "counted to " + std::to_string(last);
}

stream<int> count_quietly(int last) {
    for (int n = 1; n <= last; ++n)
        co_yield int{n};
}

struct verdict {
    static verdict without_co_return() { return {7}; }
    int value;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type" // clang sees the mistake, g++ does not
template <class R>
stream<int, R> forget() {
    co_yield 1;
}
#pragma GCC diagnostic pop

task<void> ask_for_a_forgotten_result() {
    auto source = forget<int>();
    while (auto item = co_await source.next()) {}
    static_cast<void>(source.result());
}

stream<int> twice(stream<int> source) {
    while (auto n = co_await source.next())
        co_yield 2 * *n;
}

stream<int, int> fail_after(int items) {
    for (int n = 0; n < items; ++n)
        co_yield int{n};
    throw std::runtime_error("the generator broke");
}

stream<counted, counted> hold_counted(counted held) {
    counted local(1);
    for (int n = 0; n < 3; ++n) {
        co_yield counted(n);
        co_yield local;
        co_await yield();
    }
    co_return held;
}

task<void> read_all(stream<counted, counted> source) {
    while (auto item = co_await source.next()) {}
}

} // namespace

CO_TEST_CASE("a stream gives its items in order, then the end again and again, then its result") {
    auto source = count_to(10);
    int expected = 1;
    while (auto n = co_await source.next()) {
        REQUIRE(*n == expected++);
        REQUIRE(!source.finished());
    }
    REQUIRE(expected == 11);
    REQUIRE(source.finished());
    const auto again = co_await source.next();
    REQUIRE(!again);
    const int* in_place = co_await source.peek();
    REQUIRE(in_place == nullptr);
    REQUIRE(source.result() == "counted to 10");
    const std::string taken = std::move(source.result());
    REQUIRE(taken == "counted to 10");
}

CO_TEST_CASE("a generator that ends without co_return gives what its result type has for that") {
    auto source = forget<verdict>();
    while (auto item = co_await source.next())
        REQUIRE(*item == 1);
    REQUIRE(source.result().value == 7);
}

TEST_CASE("a result that is not there ends the program with a sentence, in every kind of build") {
    REQUIRE_THAT(last_words([] {
                     virtual_loop on;
                     on.run(ask_for_a_forgotten_result());
                 }),
                 Catch::Contains("thalweg: stream: the generator ended without co_return"));
    REQUIRE_THAT(last_words([] {
                     auto source = count_to(1);
                     static_cast<void>(source.result());
                 }),
                 Catch::Contains("thalweg: stream: result() before the end"));
}

CO_TEST_CASE("streams nest, and one without items ends at once") {
    auto source = twice(twice(count_quietly(100)));
    int expected = 4;
    while (auto n = co_await source.next()) {
        REQUIRE(*n == expected);
        expected += 4;
    }
    REQUIRE(expected == 404);
    auto empty = count_quietly(0);
    const auto nothing = co_await empty.next();
    REQUIRE(!nothing);
}

CO_TEST_CASE("peek shows the item in place, next moves it out, and both may be mixed") {
    auto source = count_quietly(4);
    const int* first = co_await source.peek();
    REQUIRE(*first == 1);
    const auto second = co_await source.next();
    REQUIRE(*second == 2);
    int* third = co_await source.peek();
    REQUIRE(*third == 3);
    const auto fourth = co_await source.next();
    REQUIRE(*fourth == 4);
    const int* end = co_await source.peek();
    REQUIRE(end == nullptr);
}

CO_TEST_CASE("an exception of the generator comes out of next once; then the stream has ended") {
    auto source = fail_after(2);
    int seen = 0;
    std::string what;
    try {
        while (auto n = co_await source.next())
            ++seen;
    } catch (const std::runtime_error& e) {
        what = e.what();
    }
    REQUIRE(seen == 2);
    REQUIRE(what == "the generator broke");
    const auto nothing = co_await source.next();
    REQUIRE(!nothing);
    REQUIRE(source.finished());
}

CO_TEST_CASE("yielding a temporary moves nothing, yielding a variable copies it once") {
    class journal {
    public:
        explicit journal(int& moves, int& copies) : moves(&moves), copies(&copies) {}
        journal(journal&& other) noexcept : moves(other.moves), copies(other.copies) { ++*moves; }
        journal(const journal& other) : moves(other.moves), copies(other.copies) { ++*copies; }
        int* moves;
        int* copies;
    };
    int moves = 0;
    int copies = 0;
    auto source = [](int& moves, int& copies) -> stream<journal> {
        co_yield journal(moves, copies);
        const journal kept(moves, copies);
        co_yield kept;
    }(moves, copies);
    const journal* item = co_await source.peek();
    REQUIRE(item != nullptr);
    REQUIRE((moves == 0 && copies == 0));
    item = co_await source.peek();
    REQUIRE(item != nullptr);
    REQUIRE((moves == 0 && copies == 1));
}

CO_TEST_CASE("a stream of what can only be moved") {
    auto source = []() -> stream<std::unique_ptr<int>> {
        for (int n = 0; n < 3; ++n)
            co_yield std::make_unique<int>(n);
    }();
    int expected = 0;
    while (auto item = co_await source.next())
        REQUIRE(**item == expected++);
    REQUIRE(expected == 3);
}

CO_TEST_CASE("a stream dropped at any of its points destroys all it holds") {
    counted::living = 0;
    for (int items = 0; items <= 7; ++items) {
        auto source = hold_counted(counted(9));
        for (int n = 0; n < items; ++n) {
            [[maybe_unused]] const auto item = co_await source.next();
        }
        source.reset();
        REQUIRE(counted::living == 0);
    }
    for (int turns = 0; turns < 4; ++turns) {
        {
            scope work(co_await this_coroutine()); // dropped while the generator waits in the ready queue
            work.spawn(read_all(hold_counted(counted(9))));
            for (int turn = 0; turn < turns; ++turn)
                co_await yield();
        }
        REQUIRE(counted::living == 0);
    }
}

CO_TEST_CASE("a stream that is moved or assigned over goes on where it was") {
    auto source = count_quietly(3);
    [[maybe_unused]] const auto first = co_await source.next();
    auto moved = std::move(source);
    REQUIRE(!source);
    REQUIRE(!source.finished());
    const auto second = co_await moved.next();
    REQUIRE(*second == 2);
    moved = count_quietly(1);
    const auto other = co_await moved.next();
    REQUIRE(*other == 1);
}

CO_TEST_CASE("a stream runs in the context of its reader, or in the one it is given") {
    auto reasons = []() -> stream<cancel_reason> {
        for (;;) {
            const context mine = co_await this_coroutine();
            co_yield mine.reason();
        }
    }();
    const context here = co_await this_coroutine();
    cancel_source own;
    own.request(cancel_reason::user);
    const context other(here.loop(), own);
    auto reason = co_await reasons.next();
    REQUIRE(*reason == cancel_reason::none);
    reason = co_await reasons.next_under(other);
    REQUIRE(*reason == cancel_reason::user);
    const auto* in_place = co_await reasons.peek_under(other);
    REQUIRE(*in_place == cancel_reason::user);
    reason = co_await reasons.next();
    REQUIRE(*reason == cancel_reason::none);
}
