// SPDX-License-Identifier: BSL-1.0

#pragma once

// A model and tools that play scripts, for tests without a model and without waiting:
//
//     testing::scripted_model model{answer().call("a", "slow"), answer().text("done")};
//     testing::scripted_tools tools{{"slow", after(300ms, "late")}};
//     session chat(std::ref(model), std::ref(tools));
//
// Thread rule: loop thread. Both outlive the sessions that refer to them.

#include <thalweg/protocol/environment.hpp>
#include <thalweg/providers/scripted.hpp>

#include <chrono>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::testing {

using providers::answer;

/// providers::scripted that also looks at each context it is handed (context_checker.hpp) and complains.
class scripted_model : public providers::scripted {
public:
    using providers::scripted::scripted;
    scripted_model(scripted_model&&) = default;
    scripted_model& operator=(scripted_model&&) = default;
    scripted_model(const scripted_model&) = delete; // a copy keeps what it was asked: say std::ref(model)
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);
};
static_assert(is_provider<scripted_model>);

/// What a tool does when it is called, step by step.
class tool_script {
public:
    tool_script wait(
        std::chrono::milliseconds d) &&; ///< ends at a stop request; the tool reports aborted then
    tool_script wait_through(std::chrono::milliseconds d) &&; ///< does not listen
    tool_script output(text piece) &&;
    tool_script images(std::vector<text> data_urls) &&; ///< go along with the result
    tool_script hang(
        std::chrono::milliseconds after_stop = {}) &&; ///< until asked to stop, and that much longer
    tool_script throws(std::string what) &&;
    tool_script breaks(std::string what) &&; ///< the environment itself fails: environment_failure
    tool_script ends(tool_result result) &&; ///< without it: completed

    /// Plays it as an environment's execute().
    [[nodiscard]] static stream<chunk, tool_result> play(tool_script script);

private:
    enum class step_type : std::uint8_t { wait, wait_through, output, hang, throws, breaks };
    struct step {
        step(step_type t, std::chrono::milliseconds d, std::string w)
            : type(t), time(d), words(std::move(w)) {}
        step_type type;
        std::chrono::milliseconds time;
        std::string words;
    };
    tool_script add(step s) &&;

    std::vector<step> steps_;
    std::vector<text> images_;
    std::optional<tool_result> result_;
};

/// A tool that gives `piece` after `delay`.
[[nodiscard]] tool_script after(std::chrono::milliseconds delay, text piece);

/// An environment of scripted tools, by name.
class scripted_tools {
public:
    scripted_tools(std::initializer_list<std::pair<const std::string, tool_script>> tools)
        : scripts_(tools) {}

    [[nodiscard]] std::vector<tool_definition> tools() const;
    /// Each call plays the tool's script from its start. A tool without a script is completed at once without
    /// output.
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context ctx);

    /// The calls that were executed, in order of their start.
    [[nodiscard]] const std::vector<tool_call>& executed() const noexcept { return executed_; }

private:
    std::map<std::string, tool_script, std::less<>> scripts_;
    std::vector<tool_call> executed_;
};

static_assert(is_environment<scripted_tools>);

} // namespace thalweg::testing
