// SPDX-License-Identifier: BSL-1.0

#pragma once

// Runs one tool as the engine would and keeps what came:
//
//     const auto seen = co_await run_tool(tools, "forecast", R"({"city":"Rome"})");
//     REQUIRE(seen.output() == "sun");

#include <thalweg/async/task.hpp>
#include <thalweg/protocol/environment.hpp>

#include <string>
#include <vector>

namespace thalweg::testing {

class tool_seen {
public:
    std::vector<std::string> pieces;
    std::vector<std::string> progress; ///< contents only
    std::optional<stop_reason> stop;   ///< as the tool reported it
    std::string note;

    [[nodiscard]] std::string output() const {
        std::string all;
        for (const std::string& piece : pieces)
            all += piece;
        return all;
    }
    [[nodiscard]] bool failed() const { return stop == stop_reason::failed; }
};

/// `environment` outlives the call. Lets out what the tool throws.
template <class E>
task<tool_seen> run_tool(E& environment, std::string name, std::string arguments) {
    tool_seen seen;
    auto output = environment.execute(tool_call(text(name), text(arguments), text("call-1")), tool_context());
    while (auto piece = co_await output.next()) {
        if (piece->kind() == chunk::type::progress)
            seen.progress.push_back(piece->content().str());
        else
            seen.pieces.push_back(piece->content().str());
    }
    if (!output.result().output().empty()) seen.pieces.push_back(output.result().output().str());
    seen.stop = output.result().stop();
    seen.note = output.result().note();
    co_return std::move(seen);
}

} // namespace thalweg::testing
