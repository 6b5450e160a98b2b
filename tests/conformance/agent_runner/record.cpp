// SPDX-License-Identifier: BSL-1.0

#include "record.hpp"

#include <thalweg/agent/agent_json.hpp>

#include <algorithm>

namespace conformance {

using namespace thalweg;

namespace {

bool is_on(const json::object* options, std::string_view flag) {
    const json::value* found = find(options, flag);
    return found != nullptr && found->as_bool();
}

/// What reading the event's JSON form has to say, or nothing.
std::string read_back(const agent_event& e) {
    const std::string written = to_json(e);
    const auto read = parse_agent_event(written);
    if (!read) return "its JSON form is not read: " + read.error().message() + ": " + written;
    if (read.value() != e) return "its JSON form reads as another event: " + written;
    return {};
}

} // namespace

json::value state_value(const agent_state& state) {
    std::vector<std::string> pending;
    for (const text& each : state.pending_tool_calls)
        pending.push_back(each.str());
    std::sort(pending.begin(), pending.end());
    json::object v;
    v["messages"] = state.messages.size();
    v["streaming_message"] = nullptr;
    if (state.stream_message) v["streaming_message"] = state.stream_message->role();
    v["pending_tool_calls"] = json::array(pending.begin(), pending.end());
    v["error"] = nullptr;
    if (state.error) v["error"] = state.error->str();
    return v;
}

record::record(const json::object* options)
    : options_(options),
      has_marks_(is_on(options, "trace")),
      has_partials_(is_on(options, "record_partials")) {}

void record::on_event(const agent_event& e, const agent_state* state) {
    events_.push_back(notation_.of(e, has_partials_));
    if (state != nullptr) {
        states_.push_back(state_value(*state));
        if (!state->is_streaming)
            object("R-EVT-79: the agent was not busy in a " + std::string(to_string(e.kind())));
    }
    plain_.push_back(e);
    event_checker_.feed(e);
    if (e.kind() == agent_event::type::agent_end) stream_checker_.finish();
    const std::string wrong = read_back(e);
    if (!wrong.empty()) object("event " + std::to_string(plain_.size() - 1) + ": " + wrong);
}

void record::on_input(const std::vector<agent_message>& converted) {
    inputs_.push_back(notation_.of(converted));
    converted_ = converted;
}

void record::on_request(const model_request& request) {
    ++requests_;
    if (is_comparable(converted_) && told_by(converted_) != told_by(request))
        object("request " + std::to_string(requests_) +
               " has not reached the model as convert_to_llm made it");
}

void record::on_body(std::string_view call_id) {
    const std::string id(call_id);
    executed_.insert(id);
    mark({{"type", "#execute"}, {"tool_call_id", id}});
}

void record::mark(json::object what) {
    if (!has_marks_) return;
    events_.push_back(std::move(what));
    states_.push_back(nullptr);
}

std::string record::complaints() {
    event_checker_.finish();
    std::string all = event_checker_.report() + stream_checker_.report();
    if (requests_ != static_cast<int>(inputs_.size())) {
        object("the model was asked " + std::to_string(requests_) + " times, convert_to_llm " +
               std::to_string(inputs_.size()) + " times");
    }
    const json::object* throws = find_object(options_, "listener_throws");
    const std::size_t wanted = throws != nullptr ? 1 : 0;
    if (listener_faults_.size() != wanted)
        object("faults of listeners: " + std::to_string(listener_faults_.size()));
    for (const std::string& each : listener_faults_) {
        if (throws == nullptr || each.find(text_or(*throws, "message", "?")) == std::string::npos)
            object("a listener threw: " + each);
    }
    for (const std::string& each : faults_)
        all += each + "\n";
    return all;
}

} // namespace conformance
