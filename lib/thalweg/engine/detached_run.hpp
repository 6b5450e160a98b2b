// SPDX-License-Identifier: BSL-1.0

#pragma once

// A run that nobody watches (D-21): it goes on, and the end of its stream is kept until somebody attaches.
// What does not fit goes from the front; a trace has it all.
//
// Thread rule: loop thread. Destroying it drops the run.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/channel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/engine/session_options.hpp>

#include <cstddef>
#include <deque>
#include <optional>

namespace thalweg {

class detached_run {
public:
    /// Takes the run over and goes on reading it at once, on `on`.
    detached_run(stream<message, run_outcome> run, loop& on, tail_limits limits);
    detached_run(const detached_run&) = delete;

    [[nodiscard]] bool has_ended() const noexcept { return outcome_.has_value(); }

    /// The next message that is kept, or that comes; empty at the end. One reader at a time.
    [[nodiscard]] task<std::optional<message>> next();
    [[nodiscard]] const run_outcome& outcome() const noexcept { return *outcome_; } ///< once next() was empty

private:
    [[nodiscard]] task<void> pump();
    void keep(message m);

    stream<message, run_outcome> run_;
    tail_limits limits_;
    std::deque<message> tail_;
    std::size_t bytes_ = 0;
    std::size_t dropped_ = 0; // since somebody was told
    std::optional<run_outcome> outcome_;
    channel<bool> bell_{1}; // rung when there is something new
    cancel_source cancel_;
    context context_;
    scope reading_;
};

} // namespace thalweg
