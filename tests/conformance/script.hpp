// SPDX-License-Identifier: BSL-1.0

#pragma once

// The scenario's scripts in the words of the test kit.

#include "scenario.hpp"

#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/testing/scripted.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

[[nodiscard]] thalweg::providers::scripted model_of(const scenario& s);

[[nodiscard]] std::vector<thalweg::message> input_of(const json::object& operation);

/// The id as the provider gave it: scripts are looked up by it.
[[nodiscard]] std::string provider_id(std::string_view session_id);

/// Some tool's environment breaks: it has no frames then, not even one on entry.
[[nodiscard]] bool breaks(const scenario& s);

/// The constants of the recordings.
[[nodiscard]] thalweg::session_meta recorded_meta();

/// Tools whose scripts are chosen by call id; the n-th execution of an id may have a script of its own.
class script_environment {
public:
    explicit script_environment(const scenario& s);

    [[nodiscard]] std::vector<thalweg::tool_definition> tools() const { return tools_; }
    [[nodiscard]] thalweg::stream<thalweg::chunk, thalweg::tool_result> execute(thalweg::tool_call call,
                                                                               thalweg::tool_context ctx);

private:
    const json::object& scripts_;
    std::vector<thalweg::tool_definition> tools_;
    std::map<std::string, std::size_t> executed_;
};

} // namespace conformance
