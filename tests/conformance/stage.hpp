// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a scenario's sessions are made of: a model that remembers what it was asked, tools among which are
// child sessions, an approver that remembers whom it was asked about.

#include "script.hpp"

#include <thalweg/engine/session_core.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <map>
#include <memory>
#include <string>

namespace conformance {

[[nodiscard]] json::object to_value(const thalweg::message& m); ///< without `timestamp`
[[nodiscard]] json::array to_values(std::span<const thalweg::message> messages);

/// Plays the scripts of one session's model. Each context counts as a model object of its own.
class numbered_model {
public:
    explicit numbered_model(const json::array& requests) : model_(model_of(requests)) {}

    [[nodiscard]] thalweg::stream<thalweg::delta, thalweg::model_outcome> generate(
        thalweg::model_request request);

    /// Who asks; it outlives its requests.
    void serve(const thalweg::session_core& session) noexcept { session_ = &session; }
    /// The session is going to be destroyed; the first context of the next one is the next model object.
    void leave();
    [[nodiscard]] json::array& inputs() noexcept { return inputs_; }

private:
    thalweg::providers::scripted model_;
    const thalweg::session_core* session_ = nullptr;
    int first_ = 0; // number of the session's first model object
    json::array inputs_;
};

/// Answers as the scenario says and keeps what it was asked.
class scripted_approver {
public:
    explicit scripted_approver(const json::object& script) : script_(script) {}
    thalweg::task<thalweg::decision> operator()(const thalweg::tool_call& call);

    json::array calls;

private:
    const json::object& script_;
};

class child;

/// Tools whose scripts are chosen by call id; the n-th execution of an id may have a script of its own. One
/// that names a child runs a session.
class script_environment {
public:
    script_environment(const json::object& scripts, const json::array& requests,
                       const json::object& settings);
    script_environment(const script_environment&) = delete;
    ~script_environment();

    [[nodiscard]] std::vector<thalweg::tool_definition> tools() const { return tools_; }
    [[nodiscard]] thalweg::stream<thalweg::chunk, thalweg::tool_result> execute(thalweg::tool_call call,
                                                                                thalweg::tool_context ctx);
    /// Adds what each child has seen, children of children included, by session id.
    void add_children_to(json::object& all) const;

private:
    const json::object& scripts_;
    const json::object& settings_;
    std::vector<thalweg::tool_definition> tools_;
    std::map<std::string, std::size_t> executed_;
    std::map<std::string, std::unique_ptr<child>> children_;
};

/// The settings that a scenario and its children share.
[[nodiscard]] thalweg::session_options options_of(const json::object& settings);

} // namespace conformance
