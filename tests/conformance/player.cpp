// SPDX-License-Identifier: BSL-1.0

#include "player.hpp"

#include "script.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/virtual_loop.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <boost/json/parse.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

namespace {

json::object to_value(const message& m) {
    json::object value = json::parse(to_json(m)).as_object();
    value.erase("timestamp");
    return value;
}

json::array to_values(std::span<const message> messages) {
    json::array values;
    for (const message& m : messages) values.push_back(to_value(m));
    return values;
}

/// Answers as the scenario says and keeps what it was asked.
class scripted_approver {
public:
    explicit scripted_approver(const json::object& script) : script_(script) {}

    task<decision> operator()(const tool_call& call) {
        json::object asked;
        asked["tool_call_id"] = call.id().str();
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

    json::array calls;

private:
    const json::object& script_;
};

session_options options_of(const scenario& s, trace::sink& sink) {
    const json::object& settings = s.settings();
    const auto number = [&settings](const char* key, std::int64_t otherwise) {
        const json::value* given = settings.if_contains(key);
        return given != nullptr ? given->as_int64() : otherwise;
    };
    session_options options;
    options.trace = &sink;
    options.max_turns = static_cast<int>(number("max_turns", -1));
    options.retry.most = static_cast<int>(number("max_reconnects", 5));
    options.retry.base = milliseconds(number("backoff_ms", 2000));
    options.retry.ceiling = milliseconds(number("backoff_max_ms", 30000));
    if (const json::value* fast = settings.if_contains("fail_fast")) options.retry.fail_fast = fast->as_bool();
    const json::value* environment = settings.if_contains("environment");
    options.start_on_entry = environment != nullptr && environment->as_string() == "start_on_entry" && !breaks(s);
    if (const json::value* limits = settings.if_contains("tools")) {
        for (const auto& tool : limits->as_object()) {
            tool_limits special;
            const json::object& given = tool.value().as_object();
            if (const json::value* v = given.if_contains("timeout_ms")) special.timeout = milliseconds(v->as_int64());
            if (const json::value* v = given.if_contains("max_output_length")) special.max_output = v->as_int64();
            options.tool_overrides[std::string(tool.key())] = special;
        }
    }
    if (const json::value* policy = settings.if_contains("command_policy")) {
        std::vector<command_rule> rules;
        for (const json::value& each : policy->at("rules").as_array()) {
            rules.push_back({std::string(each.at("name").as_string()), std::string(each.at("pattern").as_string())});
        }
        options.commands = command_policy::make(std::move(rules)).value();
    }
    const json::value* level = settings.if_contains("level");
    if (level != nullptr && level->as_string() == "session") options.meta = recorded_meta();
    return options;
}

task<void> fire(cancel_source& stop, milliseconds at) {
    const bool waited = co_await sleep_for(at);
    if (waited) stop.request(cancel_reason::user);
}

/// One operation of the scenario; what the caller saw.
task<json::object> operate(session_core& core, const json::object& operation, run_options options,
                           stream_checker& checker) {
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context under(here.loop(), stop);
    scope timers(here);
    if (const json::value* at = operation.if_contains("abort_at_ms")) {
        if (at->as_int64() == 0) {
            stop.request(cancel_reason::user);
        } else {
            timers.spawn(fire(stop, milliseconds(at->as_int64())));
        }
    }
    json::array stream_seen;
    json::array times;
    const auto start = here.loop().now();
    auto run = core.run(input_of(operation), options);
    while (auto m = co_await run.next_under(under)) {
        checker.feed(*m);
        stream_seen.push_back(to_value(*m));
        times.push_back(std::chrono::duration_cast<milliseconds>(here.loop().now() - start).count());
    }
    checker.finish();
    timers.drop();
    json::object seen;
    seen["stream"] = std::move(stream_seen);
    seen["at_ms"] = std::move(times);
    co_return seen;
}

task<void> operate_all(const scenario& s, session_core& core, run_options options, stream_checker& checker,
                       json::array& runs) {
    for (const json::value& each : s.data.at("runs").as_array()) {
        json::object seen = co_await operate(core, each.as_object(), options, checker);
        runs.push_back(std::move(seen));
    }
}

} // namespace

observation play(const scenario& s) {
    providers::scripted model = model_of(s);
    script_environment tools(s);
    scripted_approver approver(s.data.at("approvals").as_object());
    trace::memory_sink sink;
    session_core core((provider_ref(model)), environment_ref(tools), options_of(s, sink));
    run_options options;
    const json::value* approve = s.settings().if_contains("approve");
    if (approve == nullptr || approve->as_string() != "none") options.approve = std::ref(approver);

    stream_checker checker;
    json::array runs;
    thalweg::testing::virtual_loop on;
    on.run(operate_all(s, core, options, checker, runs));

    observation o;
    o.seen["runs"] = std::move(runs);
    json::array files;
    for (const std::vector<message>& file : sink.files()) files.push_back(to_values(file));
    o.seen["trace"] = std::move(files);
    json::array inputs;
    for (std::size_t n = 0; n < model.requests(); ++n) {
        json::object input;
        input["llm"] = 0;
        input["new_messages"] = to_values(model.request(n).input);
        inputs.push_back(std::move(input));
    }
    o.seen["llm_inputs"] = std::move(inputs);
    o.seen["approval_calls"] = std::move(approver.calls);
    o.checker = checker.report();
    return o;
}

} // namespace conformance
