// SPDX-License-Identifier: BSL-1.0

#pragma once

// The scenario's model and tools.

#include "record.hpp"

#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/provider.hpp>

#include <cstddef>
#include <vector>

namespace conformance {

/// Answers as `llm` says, one entry a request. Two milliseconds pass before each piece.
class script_model {
public:
    /// Both outlive it.
    script_model(const json::array& script, record& seen) noexcept : script_(script), seen_(seen) {}

    /// Throws where the script says so.
    [[nodiscard]] thalweg::stream<thalweg::delta, thalweg::model_outcome> generate(
        thalweg::model_request request);

private:
    const json::array& script_;
    record& seen_;
    std::size_t next_ = 0;
};

/// Runs the script of each call as `tools` says.
class script_tools {
public:
    /// Both outlive it; `tools` may be nullptr.
    script_tools(const json::object* tools, record& seen) noexcept : tools_(tools), seen_(seen) {}

    [[nodiscard]] std::vector<thalweg::tool_definition> tools() const;
    [[nodiscard]] thalweg::stream<thalweg::chunk, thalweg::tool_result> execute(thalweg::tool_call call,
                                                                                thalweg::tool_context ctx);

private:
    const json::object* tools_;
    record& seen_;
};

static_assert(thalweg::is_provider<script_model> && thalweg::is_environment<script_tools>);

} // namespace conformance
