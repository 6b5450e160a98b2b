// SPDX-License-Identifier: BSL-1.0

#pragma once

// How a run ended: the result of the stream that session::run() gives.

#include <thalweg/protocol/events.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace thalweg {

class run_outcome {
public:
    enum class end : std::uint8_t {
        answered,     ///< the model gave its last answer
        max_turns,    ///< the turn limit was reached; what was not submitted waits for the next run
        interrupted,  ///< a stop request; what was not submitted waits for the next run
        model_failed, ///< the model request failed for good
        busy,         ///< another run is going; nothing was done
    };

    run_outcome() = default;
    run_outcome(end how, std::string why) : how_(how), why_(std::move(why)) {}

    [[nodiscard]] end how() const noexcept { return how_; }
    [[nodiscard]] bool ok() const noexcept { return how_ == end::answered; }
    /// A sentence for everything but `answered`; UTF-8, no secrets.
    [[nodiscard]] const std::string& why() const noexcept { return why_; }
    /// The status of the last model request: tells `auth` from `failed`.
    [[nodiscard]] stop_reason last_status() const noexcept { return last_status_; }
    [[nodiscard]] int turns() const noexcept { return turns_; }
    /// Of this run: all its requests, failed attempts included where the provider told (D-03).
    [[nodiscard]] const token_counts& usage() const noexcept { return usage_; }

private:
    friend class run_conductor;
    end how_ = end::answered;
    std::string why_;
    stop_reason last_status_ = stop_reason::none;
    int turns_ = 0;
    token_counts usage_;
};

} // namespace thalweg
