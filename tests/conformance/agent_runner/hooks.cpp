// SPDX-License-Identifier: BSL-1.0

#include "hooks.hpp"

#include <thalweg/async/sleep.hpp>

#include <boost/json/parse.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

namespace {

milliseconds wait_of(const json::object* script) {
    return milliseconds(script != nullptr ? number_or(*script, "wait_ms", 0) : 0);
}

void throw_if_told(const json::object* script) {
    if (script != nullptr && script->contains("throw"))
        throw std::runtime_error(text_or(*script, "throw", {}));
}

bool flag(const json::object& script, std::string_view key, bool otherwise) {
    const json::value* found = script.if_contains(key);
    return found != nullptr ? found->as_bool() : otherwise;
}

task<std::optional<std::string>> before(const json::object* script) {
    const milliseconds d = wait_of(script);
    if (d.count() > 0) co_await sleep_through(d);
    throw_if_told(script);
    std::optional<std::string> verdict;
    if (script != nullptr && flag(*script, "block", false)) verdict = text_or(*script, "reason", {});
    co_return verdict;
}

task<void> after(const json::object* script, executed_tool& done) {
    const milliseconds d = wait_of(script);
    if (d.count() > 0) co_await sleep_through(d);
    throw_if_told(script);
    if (script == nullptr) co_return;
    if (script->contains("content")) {
        content_block body = content_block::text(text(text_or(*script, "content", {})));
        done.content = content_list(std::move(body));
    }
    done.is_error = flag(*script, "is_error", done.is_error);
    done.terminates = flag(*script, "terminate", done.terminates);
}

bool is_standard(const agent_message& m) {
    return m.kind() != agent_message::type::custom;
}

std::vector<agent_message> convert(const json::object* rules, std::vector<agent_message> all) {
    std::vector<agent_message> kept;
    for (agent_message& each : all) {
        const json::value* rule = find(rules, each.role());
        if (rule == nullptr) {
            if (is_standard(each)) kept.push_back(std::move(each));
        } else if (rule->as_string() == "as_user") {
            const json::value members = json::parse(std::string(each.members().view()));
            kept.push_back(agent_message::user(text(text_or(members.as_object(), "text", {}))));
        }
    }
    return kept;
}

task<std::vector<agent_message>> convert_and_note(const json::object* rules, record& seen,
                                                  std::vector<agent_message> all) {
    std::vector<agent_message> kept = rules != nullptr ? convert(rules, std::move(all))
                                                       : convert_standard(std::move(all));
    seen.on_input(kept);
    co_return kept;
}

task<std::vector<agent_message>> keep_last(std::int64_t most, std::vector<agent_message> all) {
    const auto size = static_cast<std::int64_t>(all.size());
    if (size > most) all.erase(all.begin(), all.begin() + (size - most));
    co_return all;
}

void set_hooks(agent_options& to, const json::object* given, record& seen) {
    if (const json::object* scripts = find_object(given, "before_tool_call")) {
        to.before_tool_call = [scripts](hooked_call c) { return before(find_object(scripts, c.call.id())); };
    }
    if (const json::object* scripts = find_object(given, "after_tool_call")) {
        to.after_tool_call = [scripts](hooked_call c, executed_tool& done) {
            return after(find_object(scripts, c.call.id()), done);
        };
    }
    if (const json::object* rule = find_object(given, "transform_context")) {
        const std::int64_t most = number_or(*rule, "keep_last", 0);
        to.transform_context = [most](std::vector<agent_message> all) {
            return keep_last(most, std::move(all));
        };
    }
    const json::object* rules = find_object(given, "convert_to_llm");
    to.convert_to_llm = [rules, &seen](std::vector<agent_message> all) {
        return convert_and_note(rules, seen, std::move(all));
    };
    const json::value* stops = find(given, "should_stop_after_turn");
    if (stops != nullptr && stops->as_bool()) {
        to.should_stop_after_turn = [](const agent_message&, std::span<const agent_message> results) {
            return !results.empty();
        };
    }
    to.on_listener_fault = [&seen](std::string_view what) { seen.on_listener_fault(what); };
}

queue_mode mode_of(const json::object& given, std::string_view key) {
    return text_or(given, key, {}) == "all" ? queue_mode::all : queue_mode::one_at_a_time;
}

} // namespace

agent_options options_of(const json::object* given, record& seen) {
    agent_options made;
    set_hooks(made, given, seen);
    if (given == nullptr) return made;
    if (text_or(*given, "tool_execution", {}) == "sequential")
        made.tool_execution = tool_execution::sequential;
    made.steering_mode = mode_of(*given, "steering_mode");
    made.follow_up_mode = mode_of(*given, "follow_up_mode");
    if (const json::value* before = given->if_contains("initial_messages")) {
        for (const json::value& each : before->as_array())
            made.messages.push_back(message_of(each.as_object()));
    }
    if (const json::object* retry = find_object(given, "retry")) {
        made.retry.most = static_cast<int>(number_or(*retry, "most", 0));
        made.retry.base = milliseconds(number_or(*retry, "base_ms", made.retry.base.count()));
    }
    if (const json::value* limit = given->if_contains("tool_timeout_ms"))
        made.tools.timeout = milliseconds(limit->as_int64());
    made.max_turns = static_cast<int>(number_or(*given, "max_turns", made.max_turns));
    return made;
}

} // namespace conformance
