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

#include <optional>
#include <utility>

namespace thalweg {

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
};

/// Runs `job`, sending every message of it to `out`; `output` gets the complete output just before it is
/// sent. `output` outlives the task. The stop request of the awaiting coroutine is the user's.
[[nodiscard]] task<void> run_tool(tool_job job, merge<message>::producer out, std::optional<message>& output);

} // namespace thalweg
