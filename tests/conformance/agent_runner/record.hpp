// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a scenario has shown so far, and what must hold of every run beside the scenario's expectation: both
// checkers are content, and each event reads back equal from its JSON form.

#include "notation.hpp"
#include "told.hpp"

#include <thalweg/agent/agent_event_checker.hpp>
#include <thalweg/agent/agent_state.hpp>
#include <thalweg/protocol/stream_checker.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// What a listener sees of the state.
[[nodiscard]] json::value state_value(const thalweg::agent_state& state);

class record {
public:
    explicit record(const json::object* options);

    /// An event as a listener gets it; `state` is what the listener sees then, nullptr where there is none.
    void on_event(const thalweg::agent_event& e, const thalweg::agent_state* state);
    /// A public message of a run.
    void on_message(const thalweg::message& m) { stream_checker_.feed(m); }
    /// The body of a call begins.
    void on_body(std::string_view call_id);
    /// What the model is going to be asked.
    void on_input(const std::vector<thalweg::agent_message>& converted);
    /// It is asked; that has to be the same.
    void on_request(const thalweg::model_request& request);
    /// A mark among the events, if the scenario wants marks.
    void mark(json::object what);
    void object(std::string sentence) { faults_.push_back(std::move(sentence)); }
    void on_listener_fault(std::string_view what) { listener_faults_.emplace_back(what); }

    [[nodiscard]] const notation& words() const noexcept { return notation_; }
    [[nodiscard]] const json::array& events() const noexcept { return events_; }
    [[nodiscard]] const json::array& inputs() const noexcept { return inputs_; }
    [[nodiscard]] const json::array& states() const noexcept { return states_; }
    /// The events themselves, without marks.
    [[nodiscard]] const std::vector<thalweg::agent_event>& plain_events() const noexcept { return plain_; }

    /// All that is wrong, one sentence a line; empty if nothing is. Once, at the end.
    [[nodiscard]] std::string complaints();

private:
    const json::object* options_;
    bool has_marks_;
    bool has_partials_;
    std::set<std::string> executed_;
    notation notation_{executed_};
    json::array events_;
    json::array states_;
    json::array inputs_;
    int requests_ = 0;
    std::vector<thalweg::agent_message> converted_; // the last ones
    std::vector<thalweg::agent_event> plain_;
    thalweg::agent_event_checker event_checker_;
    thalweg::stream_checker stream_checker_;
    std::vector<std::string> faults_;
    std::vector<std::string> listener_faults_;
};

} // namespace conformance
