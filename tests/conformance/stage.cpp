// SPDX-License-Identifier: BSL-1.0

#include "stage.hpp"

#include <thalweg/async/sleep.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <utility>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;
using thalweg::testing::tool_script;

json::object to_value(const message& m) {
    json::object value = json::parse(to_json(m)).as_object();
    value.erase("timestamp");
    return value;
}

json::array to_values(std::span<const message> messages) {
    json::array values;
    for (const message& m : messages)
        values.push_back(to_value(m));
    return values;
}

// The model and the approver
// ------------------------------------------------------------------------------------------------------

stream<delta, model_outcome> numbered_model::generate(model_request request) {
    json::object input;
    input["llm"] = first_ + session_->state().context_number;
    input["new_messages"] = to_values(request.input());
    inputs_.push_back(std::move(input));
    return model_.generate(std::move(request));
}

void numbered_model::leave() {
    first_ += std::exchange(session_, nullptr)->state().context_number + 1;
}

task<decision> scripted_approver::operator()(const tool_call& call) {
    json::object asked;
    asked["tool_call_id"] = call.id().str();
    if (!call.origin().empty()) {
        json::array hops;
        for (const text& hop : call.origin())
            hops.emplace_back(hop.str());
        asked["origin"] = std::move(hops);
    }
    calls.push_back(std::move(asked));
    const json::value* entry = script_.if_contains(provider_id(call.id()));
    if (entry == nullptr) co_return decision::allow;
    const json::object& answer = entry->as_object();
    const json::value* wait = answer.if_contains("wait_ms");
    if (wait != nullptr) co_await sleep_through(milliseconds(wait->as_int64()));
    if (answer.contains("throw")) throw std::runtime_error("the scripted approver throws");
    const auto& word = answer.at("decision").as_string();
    co_return word == "allow" ? decision::allow : word == "forbidden" ? decision::forbidden : decision::deny;
}

// Tools and children
// -------------------------------------------------------------------------------------------------------------

namespace {

session_meta child_meta(std::string_view id) {
    session_meta meta = recorded_meta();
    meta.session_id = text(id);
    meta.system_prompt = text("scripted child");
    meta.source = text("subagent");
    return meta;
}

session_options child_options(const json::object& settings, std::string_view id, trace::sink& sink) {
    session_options options;
    const json::value* environment = settings.if_contains("environment");
    options.start_on_entry = environment != nullptr && environment->as_string() == "start_on_entry";
    options.meta = child_meta(id);
    options.trace = &sink;
    return options;
}

} // namespace

/// A nested session and all it needs.
class child {
public:
    child(const json::object& script, const json::object& settings)
        : id_(script.at("session_id").as_string()),
          model_(script.at("llm").as_array()),
          tools_(script.at("tools").as_object(), script.at("llm").as_array(), settings),
          session_(provider_ref(model_), environment_ref(tools_), child_options(settings, id_, sink_)) {
        model_.serve(session_);
    }

    stream<chunk, tool_result> run(tool_context parent, text prompt) {
        return session_.run_under(std::move(parent), std::move(prompt));
    }
    void add_to(json::object& all) {
        json::array files;
        for (const std::vector<message>& file : sink_.files())
            files.push_back(to_values(file));
        json::object seen;
        seen["trace"] = std::move(files);
        seen["llm_inputs"] = model_.inputs();
        all[id_] = std::move(seen);
        tools_.add_children_to(all);
    }

private:
    std::string id_;
    numbered_model model_;
    script_environment tools_;
    trace::memory_sink sink_;
    session_core session_;
};

script_environment::script_environment(const json::object& scripts, const json::array& requests,
                                       const json::object& settings)
    : scripts_(scripts), settings_(settings) {
    std::set<std::string> unknown;
    if (const json::value* names = settings.if_contains("unknown_tools")) {
        for (const json::value& each : names->as_array())
            unknown.emplace(each.as_string());
    }
    std::set<std::string> listed;
    for (const json::value& request : requests) {
        for (const json::value& step : request.at("steps").as_array()) {
            const json::value* call = step.as_object().if_contains("tool_call");
            if (call == nullptr) continue;
            const std::string name(call->at("name").as_string());
            if (unknown.contains(name) || !listed.insert(name).second) continue;
            tools_.push_back({text(name), text("scripted " + name), text()});
        }
    }
}

script_environment::~script_environment() = default;

stream<chunk, tool_result> script_environment::execute(tool_call call, tool_context ctx) {
    const std::string id = provider_id(call.id());
    const std::size_t ordinal = executed_[id]++;
    const json::value* steps = scripts_.if_contains(id);
    if (steps == nullptr) return tool_script::play(tool_script());
    const json::array* script = &steps->as_array();
    if (!script->empty() && script->front().is_array()) {
        script = &script->at(std::min(ordinal, script->size() - 1)).as_array();
    }
    const json::value* nested = script->empty() ? nullptr : script->front().as_object().if_contains("child");
    if (nested == nullptr) return tool_script::play(tool_steps(*script));
    const json::object& description = nested->as_object();
    auto& session = children_[std::string(description.at("session_id").as_string())];
    if (session == nullptr) session = std::make_unique<child>(description, settings_);
    const json::value arguments = json::parse(std::string(call.arguments().view()));
    return session->run(std::move(ctx), text(std::string_view(arguments.at("prompt").as_string())));
}

void script_environment::add_children_to(json::object& all) const {
    for (const auto& [id, session] : children_)
        session->add_to(all);
}

// Settings
// -----------------------------------------------------------------------------------------------------------------------

namespace {

compaction_settings compaction_of(const json::object& given) {
    compaction_settings settings;
    if (const json::value* v = given.if_contains("max_context_length"))
        settings.max_context_length = v->as_int64();
    if (const json::value* v = given.if_contains("max_session_turns")) {
        settings.max_session_turns = static_cast<int>(v->as_int64());
    }
    if (const json::value* v = given.if_contains("prompt")) settings.prompt = std::string(v->as_string());
    if (const json::value* v = given.if_contains("forward_summary")) settings.forward_summary = v->as_bool();
    if (const json::value* v = given.if_contains("mode"); v != nullptr && v->as_string() == "discard") {
        settings.mode = compaction_mode::discard;
    }
    return settings;
}

std::map<std::string, tool_limits, std::less<>> limits_of(const json::object& given) {
    std::map<std::string, tool_limits, std::less<>> all;
    for (const auto& tool : given) {
        tool_limits special;
        const json::object& limits = tool.value().as_object();
        if (const json::value* v = limits.if_contains("timeout_ms"))
            special.timeout = milliseconds(v->as_int64());
        if (const json::value* v = limits.if_contains("max_output_length"))
            special.max_output = v->as_int64();
        all[std::string(tool.key())] = special;
    }
    return all;
}

command_policy policy_of(const json::value& given) {
    std::vector<command_rule> rules;
    for (const json::value& each : given.at("rules").as_array()) {
        rules.push_back(
            {std::string(each.at("name").as_string()), std::string(each.at("pattern").as_string())});
    }
    return command_policy::make(std::move(rules)).value();
}

} // namespace

session_options options_of(const json::object& settings) {
    const auto number = [&settings](const char* key, std::int64_t otherwise) {
        const json::value* given = settings.if_contains(key);
        return given != nullptr ? given->as_int64() : otherwise;
    };
    session_options options;
    options.max_turns = static_cast<int>(number("max_turns", -1));
    options.max_depth = static_cast<int>(number("max_depth", 8));
    options.retry.most = static_cast<int>(number("max_reconnects", 5));
    options.retry.base = milliseconds(number("backoff_ms", 2000));
    options.retry.ceiling = milliseconds(number("backoff_max_ms", 30000));
    if (const json::value* fast = settings.if_contains("fail_fast"))
        options.retry.fail_fast = fast->as_bool();
    const json::value* environment = settings.if_contains("environment");
    options.start_on_entry = environment != nullptr && environment->as_string() == "start_on_entry";
    if (const json::value* limits = settings.if_contains("tools"))
        options.tool_overrides = limits_of(limits->as_object());
    if (const json::value* policy = settings.if_contains("command_policy"))
        options.commands = policy_of(*policy);
    if (const json::value* given = settings.if_contains("compaction")) {
        options.compaction = compaction_of(given->as_object());
        if (settings.contains("compaction_max_reconnects")) {
            options.compaction->most = static_cast<int>(number("compaction_max_reconnects", 0));
        }
    }
    return options;
}

} // namespace conformance
