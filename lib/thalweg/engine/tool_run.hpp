// SPDX-License-Identifier: BSL-1.0

#pragma once

// Runs one tool call to exactly one complete output (R-ENV-01…0E): looks the tool up, judges the arguments,
// pulls the environment's stream, enforces time-out and interrupt, contains exceptions, frames and finishes
// the output.
//
// Bounded: a tool that does not answer a stop request or its time-out is destroyed where it is suspended when
// the grace is over (R-ENG-35). Thread rule: loop thread.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/seams.hpp>
#include <thalweg/engine/session_options.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace thalweg {

class output_framer;

/// How a tool's body ended, before there are words for it.
struct body_ending {
    std::optional<tool_result> result = {}; ///< none if it threw or had to be destroyed
    std::optional<std::string> thrown = {};
    std::optional<std::string> broken = {};                  ///< the environment itself failed
    std::optional<std::chrono::milliseconds> timed_out = {}; ///< after this time
    bool interrupted = false;
};

/// Finds other words than a session's for how a tool ended.
class output_voice {
public:
    /// What the tool streams is not final: it is shown as progress and handed to conclude() in one piece.
    [[nodiscard]] virtual bool holds_back() const = 0;
    /// Finishes `output`. `held` is empty unless holds_back().
    [[nodiscard]] virtual task<void> conclude(body_ending how, std::string held, output_framer& output) = 0;

protected:
    ~output_voice() = default;
};

/// What a tool run needs to know.
class tool_job {
public:
    tool_job(tool_call call, text provider_id, environment_ref environment) noexcept
        : call_(std::move(call)), provider_id_(std::move(provider_id)), environment_(environment) {}

    tool_job with_limits(tool_limits limits) && {
        limits_ = limits;
        return std::move(*this);
    }
    tool_job with_context(tool_context around) && {
        around_ = around;
        return std::move(*this);
    }
    tool_job start_on_entry(bool yes) && {
        start_on_entry_ = yes;
        return std::move(*this);
    }
    /// Facts go out beside the output: when the body begins, and its progress (R-EVT-101).
    tool_job with_facts(bool yes) && {
        facts_ = yes;
        return std::move(*this);
    }
    tool_job with_voice(output_voice& voice) && { ///< outlives the run
        voice_ = &voice;
        return std::move(*this);
    }
    tool_job unknown(bool yes) && { ///< the environment has no such tool
        unknown_ = yes;
        return std::move(*this);
    }

private:
    friend class tool_run;
    tool_call call_;
    text provider_id_;
    environment_ref environment_;
    tool_limits limits_;
    tool_context around_;
    bool start_on_entry_ = false;
    bool unknown_ = false;
    bool facts_ = false;
    output_voice* voice_ = nullptr;
};

/// Runs `job`, sending every message of it to `out`; `output` gets the complete output just before it is
/// sent. `output` outlives the task. The stop request of the awaiting coroutine is the user's.
[[nodiscard]] task<void> run_tool(tool_job job, merge<message>::producer out, std::optional<message>& output);

} // namespace thalweg
