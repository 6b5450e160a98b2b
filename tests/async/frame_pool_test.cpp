// SPDX-License-Identifier: BSL-1.0

#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/async/frame_pool.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using thalweg::detail::frame_pool;

namespace {

task<int> small(int n) {
    co_return n;
}

[[maybe_unused]] task<int> several(int n) {
    int sum = 0;
    for (int k = 0; k < n; ++k) {
        const int one = co_await small(1);
        sum += one;
    }
    co_return sum;
}

class short_text {
public:
    explicit short_text(int n) : bytes_{} { bytes_[0] = static_cast<char>('a' + n % 26); }

private:
    char bytes_[22];
};

task<void> send_short(merge<short_text>::producer to, int count) {
    for (int n = 0; n < count; ++n)
        co_await to.send(short_text(n));
}

} // namespace

TEST_CASE("frames of every size are usable and do not overlap") {
    std::vector<std::pair<void*, std::size_t>> all;
    for (std::size_t bytes = 1; bytes < 5000; bytes += 37) {
        void* storage = frame_pool::allocate(bytes);
        REQUIRE(reinterpret_cast<std::uintptr_t>(storage) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
        std::memset(storage, static_cast<int>(bytes % 251), bytes);
        all.emplace_back(storage, bytes);
    }
    for (const auto& [storage, bytes] : all) {
        const auto* at = static_cast<const unsigned char*>(storage);
        for (std::size_t n = 0; n < bytes; ++n) {
            if (at[n] != bytes % 251) FAIL("overlap in a frame of " << bytes << " bytes");
        }
        frame_pool::release(storage, bytes);
    }
    frame_pool::trim();
    frame_pool::trim();
}

#if THALWEG_FRAME_POOL
TEST_CASE("a released frame is used again for the next one of its size class") {
    frame_pool::trim();
    void* first = frame_pool::allocate(100);
    frame_pool::release(first, 100);
    void* second = frame_pool::allocate(120);
    REQUIRE(second == first);
    void* third = frame_pool::allocate(130);
    REQUIRE(third != second);
    frame_pool::release(second, 120);
    frame_pool::release(third, 130);
    frame_pool::trim();
}

TEST_CASE("calls in steady state allocate nothing") {
    testing::virtual_loop on;
    REQUIRE(on.run(several(10)) == 10);
    const auto once = allocations_of([&] { REQUIRE(on.run(several(10)) == 10); });
    const auto often = allocations_of([&] { REQUIRE(on.run(several(10'000)) == 10'000); });
    REQUIRE(often == once);
}

TEST_CASE("a loop gives its thread's frames back") {
    {
        testing::virtual_loop on;
        on.run(several(10));
    }
    const std::size_t expected = allocations_are_counted ? 1 : 0;
    REQUIRE(allocations_of([] { frame_pool::release(frame_pool::allocate(100), 100); }) == expected);
    frame_pool::trim();
}
#endif

CO_TEST_CASE("messages through a merge allocate nothing in steady state") {
    merge<short_text> point;
    for (const int count : {1000, 100'000}) {
        scope work(co_await this_coroutine());
        for (int p = 0; p < 8; ++p)
            work.spawn(send_short(point.attach(), count));
        for (int n = 0; n < 4000; ++n) {
            [[maybe_unused]] const auto warm = co_await point.next();
        }
        const auto before = allocation_count();
        int seen = 4000;
        for (; seen < 8 * count - 1000; ++seen) {
            [[maybe_unused]] const auto item = co_await point.next();
        }
        // Segments of 64 items come and go with how far producers are ahead; nothing is allocated for an
        // item.
        REQUIRE(allocation_count() - before <= static_cast<std::size_t>(seen) / 64);
        while (auto item = co_await point.next())
            ++seen;
        REQUIRE(seen == 8 * count);
    }
}
