// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/guarded_trace.hpp>

#include <thalweg/engine/grace.hpp>

#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace thalweg {

task<result<void>> guarded_trace::write(std::span<const message> messages) {
    written_.reset();
    if (!is_deaf_) {
        writing_.spawn(pass(messages));
        if (!writing_.empty()) co_await wait_for_it();
        is_deaf_ = !written_;
    }
    if (is_deaf_) {
        written_ = failure(std::make_error_code(std::errc::timed_out),
                           "the trace did not answer within " + std::to_string(grace_.count()) +
                               " ms after a stop request and was given up for this run");
    }
    co_return std::move(*written_);
}

/// The write, containing what the sink throws.
task<void> guarded_trace::pass(std::span<const message> messages) {
    try {
        written_ = co_await sink_->write(messages);
    } catch (const std::exception& e) {
        written_ = failure(std::make_error_code(std::errc::io_error),
                           std::string("the trace threw: ") + e.what());
    } catch (...) {
        written_ = failure(std::make_error_code(std::errc::io_error),
                           "the trace threw something that is no std::exception");
    }
}

task<void> guarded_trace::wait_for_it() {
    const bool was_stopping = under_.stop_requested();
    const auto begin = under_.loop().now();
    scope clock(under_);
    clock.spawn(drop_when_deaf(writing_, left_));
    co_await writing_.join();
    clock.drop();
    if (!was_stopping) co_return;
    left_ -= std::chrono::duration_cast<std::chrono::milliseconds>(under_.loop().now() - begin);
}

} // namespace thalweg
