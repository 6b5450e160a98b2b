// SPDX-License-Identifier: BSL-1.0

#pragma once

// The part of a session that does not depend on the types of its provider and environment: what lasts from run to run.
// Users meet it through session.hpp.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/engine/id_registry.hpp>
#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/engine/seams.hpp>
#include <thalweg/engine/session_options.hpp>

#include <span>
#include <string>
#include <vector>

namespace thalweg {

class run_conductor;

class session_core {
public:
    session_core(provider_ref provider, environment_ref environment, session_options options)
        : provider_(provider), environment_(environment), options_(std::move(options)) {}
    session_core(const session_core&) = delete;
    session_core& operator=(const session_core&) = delete;

    [[nodiscard]] stream<message, run_outcome> run(std::vector<message> input, run_options options);
    bool interrupt(cancel_reason why);

    [[nodiscard]] bool is_running() const noexcept { return running_ != nullptr; }
    [[nodiscard]] std::span<const message> history() const noexcept { return history_; }
    [[nodiscard]] std::span<const message> carry_over() const noexcept { return carry_over_; }
    [[nodiscard]] const token_counts& usage() const noexcept { return usage_; }

private:
    friend class run_conductor;

    [[nodiscard]] task<void> record(std::span<const message> messages);
    [[nodiscard]] std::vector<message> opening_records(const std::vector<message>& input, loop& on);
    [[nodiscard]] std::vector<message> take_input(std::vector<message> input);

    provider_ref provider_;
    environment_ref environment_;
    session_options options_;

    std::vector<message> history_;    // committed, in the order for the model; only grows (R-ENG-02)
    std::vector<message> carry_over_; // in front of the next run's input (R-ENG-42)
    std::vector<tool_definition> tools_;
    id_registry ids_;
    token_counts usage_;
    token_counts unreported_usage_; // of failed attempts; joins the next token_usage (D-03)
    run_conductor* running_ = nullptr;
    bool opened_ = false; // the first run has begun
    std::optional<trace_fault> fault_; // not yet said on the stream
    std::int64_t records_lost_ = 0;
};

} // namespace thalweg
