// SPDX-License-Identifier: BSL-1.0

// The conductor's part behind an answer: its calls (R-EVT-28…43).

#include <thalweg/agent/detail/agent_conductor.hpp>

#include <thalweg/engine/grace.hpp>
#include <thalweg/engine/tool_run.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace thalweg::detail {

/// All calls of the answer, complete or cut, in its order; those that were told of are in calls_ already.
task<void> agent_conductor::run_calls() {
    std::deque<call_run> told = std::move(calls_);
    calls_.clear();
    for (const message& m : attempt_->segments()) {
        if (m.kind() != kind::tool_call) continue;
        call_run& made = calls_.emplace_back(m, *options_);
        made.answer = &answer_;
        const auto known = std::find_if(told.begin(), told.end(), [&m](const call_run& each) {
            return each.call.id() == m.tool_call_id();
        });
        if (known != told.end()) made.given = known->given;
    }
    if (calls_.empty()) co_return;
    co_await leave(); // the listeners of message_end come before the checks
    if (runs_in_turn())
        co_await run_in_turn();
    else
        co_await run_together();
    co_await send(message::batch_settled());
}

bool agent_conductor::runs_in_turn() const {
    if (options_->tool_execution == tool_execution::sequential) return true;
    return std::any_of(calls_.begin(), calls_.end(), [this](const call_run& each) {
        const tool_definition* tool = find_tool(each.call.name());
        return tool != nullptr && tool->sequential;
    });
}

task<void> agent_conductor::run_in_turn() {
    for (call_run& each : calls_) {
        co_await check(each);
        if (each.goes_on) {
            co_await leave();
            scope tools(context_);
            tools_ = &tools;
            dispatch(each);
            co_await tools.join();
            tools_ = nullptr;
        }
        co_await send(message::call_settled(each.call.id()));
    }
}

/// The checks one after the other, then all bodies at once, then the results in call order (R-EVT-30).
task<void> agent_conductor::run_together() {
    for (call_run& each : calls_)
        co_await check(each);
    co_await leave();
    scope tools(context_);
    tools_ = &tools;
    for (call_run& each : calls_) {
        if (!each.goes_on) continue;
        if (context_.stop_requested())
            co_await refuse(each, "Operation aborted", stop_reason::aborted); // R-EVT-66
        else
            dispatch(each);
    }
    co_await tools.join();
    tools_ = nullptr;
    for (const call_run& each : calls_)
        co_await send(message::call_settled(each.call.id()));
}

/// The first check that fails makes the result (R-EVT-28).
task<void> agent_conductor::check(call_run& call) {
    if (call.given != decision::allow) co_return; // has its output since it was asked about
    const tool_definition* tool = find_tool(call.call.name());
    text label;
    if (tool != nullptr) label = tool->label;
    co_await send(message::call_begin(call.call.id(), call.call.name(), call.call.arguments(), label));
    if (call.is_cut()) co_return; // has no output; the view knows how it ended
    if (context_.stop_requested()) {
        co_await refuse(call, "Operation aborted", stop_reason::aborted);
        co_return;
    }
    std::optional<std::string> fault = fault_of(call);
    if (!fault && options_->before_tool_call) {
        co_await leave();
        co_await unless_deaf(block_by_hook(call, fault), session_.grace);
        if (context_.stop_requested()) {
            co_await refuse(call, "Operation aborted", stop_reason::aborted);
            co_return;
        }
    }
    if (fault)
        co_await refuse(call, std::move(*fault), stop_reason::failed);
    else
        call.goes_on = true;
}

std::optional<std::string> agent_conductor::fault_of(call_run& call) {
    const std::string name = utf8::make_valid(call.call.name());
    const tool_definition* tool = find_tool(call.call.name());
    if (tool == nullptr) return "Tool " + name + " not found";
    auto checked = schemas_.check(*tool, call.call.arguments());
    if (!checked) {
        return "Validation failed for tool \"" + name + "\":\n  - " + checked.error().message() +
               "\n\nReceived arguments:\n" + utf8::make_valid(call.call.arguments());
    }
    call.call = tool_call(call.call.name(), text(checked.value()), call.call.id());
    return std::nullopt;
}

task<void> agent_conductor::block_by_hook(call_run& call, std::optional<std::string>& reason) {
    const hooked_call about{call.call, answer_};
    try {
        reason = co_await options_->before_tool_call(about);
        if (reason && reason->empty()) reason = "Tool execution was blocked";
    } catch (const std::exception& e) {
        reason = e.what();
    } catch (...) {
        reason = "before_tool_call threw something that is no std::exception";
    }
}

task<void> agent_conductor::refuse(call_run& call, std::string why, stop_reason status) {
    call.goes_on = false;
    call.output = message::tool_call_output(text(why), call.call.id()).with_stop(status);
    call.output->stamp(context_.loop().wall_ms());
    co_await send(*call.output);
}

void agent_conductor::dispatch(call_run& call) {
    const tool_definition* tool = find_tool(call.call.name());
    const auto special = options_->tool_overrides.find(call.call.name().view());
    const bool is_special = special != options_->tool_overrides.end();
    tool_limits limits = is_special ? special->second : options_->tools;
    if (!is_special) limits.timeout = tool->timeout.value_or(limits.timeout);
    tool_job job = tool_job(call.call, call.made().provider_id(), session_.environment)
                       .with_limits(limits)
                       .with_context(around_)
                       .with_facts(true)
                       .with_voice(call);
    tools_->spawn(run_tool(std::move(job), point_.attach(), call.output));
}

const tool_definition* agent_conductor::find_tool(const text& name) const {
    const auto found = std::find_if(session_.tools.begin(), session_.tools.end(),
                                    [&name](const tool_definition& t) { return t.name == name; });
    return found == session_.tools.end() ? nullptr : &*found;
}

/// Every result of the batch asks for the end (R-EVT-41).
bool agent_conductor::all_terminate() const {
    return std::all_of(calls_.begin(), calls_.end(), [](const call_run& each) { return each.terminates; });
}

} // namespace thalweg::detail
