// SPDX-License-Identifier: BSL-1.0

#pragma once

// The trace of one run or compaction, bounded like every other party (R-ENG-35, D-32): without a stop request
// a write takes as long as it takes; after one, all writes together get the grace. What is not written then
// is given up and counts as lost, and the trace is not asked again by this run.
//
// The sink does not see the stop request: a record is not less worth because somebody presses a button.
// Thread rule: loop thread. Destroying it gives a write up that goes on.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/trace/sink.hpp>

#include <chrono>
#include <optional>
#include <span>

namespace thalweg {

class guarded_trace {
public:
    /// `to` may be null and is not written to then. It and what `under` refers to outlive this object; the
    /// stop request of `under` is the one that counts.
    guarded_trace(trace::sink* to, const context& under, std::chrono::milliseconds grace)
        : sink_(to),
          under_(under),
          quiet_(under.loop(), never_),
          writing_(quiet_),
          left_(grace),
          grace_(grace) {}
    guarded_trace(const guarded_trace&) = delete;

    /// As trace::sink::write(); what the sink throws is an error, too. errc::timed_out: it was given up.
    [[nodiscard]] task<result<void>> write(std::span<const message> messages);

private:
    [[nodiscard]] task<void> pass(std::span<const message> messages);
    [[nodiscard]] task<void> wait_for_it();

    trace::sink* sink_;
    context under_;
    cancel_source never_;
    context quiet_;
    scope writing_;
    std::chrono::milliseconds left_; // of the grace
    std::chrono::milliseconds grace_;
    bool is_deaf_ = false;
    std::optional<result<void>> written_;
};

} // namespace thalweg
