// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/loop.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/trace/memory_sink.hpp>
#include <thalweg/trace/threaded_sink.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

using namespace thalweg;
using namespace std::chrono_literals;

namespace {

std::vector<message> records(int first, int count) {
    std::vector<message> all;
    for (int n = first; n < first + count; ++n) {
        message m = message::user_text(text(std::to_string(n)));
        m.stamp(1'000 + n);
        all.push_back(std::move(m));
    }
    return all;
}

std::string contents(const result<std::vector<message>>& read) {
    std::string all;
    for (const message& m : read.value())
        all += m.content().str() + ' ';
    return all;
}

/// A disk that hangs until it is let go.
class deaf_sink final : public trace::sink {
public:
    struct gate {
        std::promise<void> entered;
        std::promise<void> open;
        std::promise<void> gone;
    };
    explicit deaf_sink(std::shared_ptr<gate> at) : gate_(std::move(at)) {}
    ~deaf_sink() override { gate_->gone.set_value(); }
    [[nodiscard]] task<result<void>> write(std::span<const message>) override {
        gate_->entered.set_value();
        gate_->open.get_future().wait();
        return done();
    }
    void rotate() override {}
    [[nodiscard]] std::string_view path() const noexcept override { return "a deaf disk"; }

private:
    static task<result<void>> done() { co_return BOOST_OUTCOME_V2_NAMESPACE::success(); }
    std::shared_ptr<gate> gate_;
};

task<void> write_some(trace::sink& to, int first, int count) {
    const std::vector<message> some = records(first, count);
    const auto written = co_await to.write(some);
    CHECK(written);
}

} // namespace

TEST_CASE("a threaded sink records in order, over rotations, and resolves when it is done") {
    auto inner = std::make_unique<trace::memory_sink>();
    trace::threaded_sink sink(std::move(inner));
    loop here;
    for (int n = 0; n < 50; ++n) {
        here.run(write_some(sink, n * 10, 10));
        if (n % 20 == 19) sink.rotate();
    }
    std::string expected;
    for (int n = 0; n < 500; ++n)
        expected += std::to_string(n) + ' ';
    CHECK(contents(sink.read_back()) == expected);
    CHECK(sink.path() == "memory");
}

TEST_CASE("a write counts from the call on, also when its task is never awaited") {
    trace::threaded_sink sink(std::make_unique<trace::memory_sink>());
    {
        const std::vector<message> some = records(0, 3);
        const auto forgotten = sink.write(some);
    }
    CHECK(contents(sink.read_back()) == "0 1 2 ");
}

TEST_CASE("an error of the inner sink reaches the one who wrote, and later writes go on") {
    auto inner = std::make_unique<trace::memory_sink>();
    inner->fail_writes(1, error(std::make_error_code(std::errc::no_space_on_device), "the disk is full"));
    trace::threaded_sink sink(std::move(inner));
    loop here;
    here.run([](trace::sink& to) -> task<void> {
        const std::vector<message> some = records(0, 1);
        const auto failed = co_await to.write(some);
        CHECK(!failed);
        if (!failed) CHECK(failed.error().message() == "the disk is full");
        const auto written = co_await to.write(some);
        CHECK(written);
    }(sink));
    CHECK(contents(sink.read_back()) == "0 ");
}

TEST_CASE(
    "a deaf disk holds neither the loop nor the end of the program, and keeps its sink until it lets go") {
    auto gate = std::make_shared<deaf_sink::gate>();
    auto gone = gate->gone.get_future();
    loop here;
    {
        trace::threaded_sink sink(std::make_unique<deaf_sink>(gate), 0ms);
        bool other_ran = false;
        here.run([](loop& on, trace::sink& to, deaf_sink::gate& at, bool& ran) -> task<void> {
            const context now(on, on.cancel());
            scope work(now);
            work.spawn(write_some(to, 0, 1));
            at.entered.get_future().wait(); // the thread hangs in the write now
            ran = true;
            work.drop(); // who waits for the write gives it up
            co_await work.join();
        }(here, sink, *gate, other_ran));
        CHECK(other_ran);
        CHECK(sink.path() == "a deaf disk");
    }
    CHECK(gone.wait_for(0s) == std::future_status::timeout);
    gate->open.set_value();
    gone.wait();
}
