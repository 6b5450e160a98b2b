// SPDX-License-Identifier: BSL-1.0

// The conductor's part about the calls of an answer: asked about one at a time, started at once.

#include <thalweg/engine/run_conductor.hpp>

#include <thalweg/engine/tool_run.hpp>

#include <algorithm>
#include <utility>

namespace thalweg {

task<void> run_conductor::on_call(message call) {
    call_record& record = attempt_->calls.emplace_back(call_record{call, std::nullopt});
    if (context_.stop_requested()) co_return; // R-ENG-25
    tool_call asked(call.name(), call.content(), call.tool_call_id());
    const decision given = co_await ask(asked);
    if (context_.stop_requested()) co_return;

    if (given == decision::allow) {
        co_await send(message::approval_decision(given, call.tool_call_id()));
        if (session_.sends_facts) co_await announce(asked);
        dispatch(record, std::move(asked));
        co_return;
    }
    const text why(given == decision::forbidden ? "Tool call denied by policy."
                                                : "Tool call denied by user.");
    record.output = stamped(message::tool_call_output(why, call.tool_call_id())
                                .with_provider_id(call.provider_id())
                                .with_stop(stop_reason::aborted));
    // In one step, which no budget can part: whoever drops the driver leaves both or none (R-ENG-24).
    driver_.post(stamped(message::approval_decision(given, call.tool_call_id())));
    driver_.post(message(*record.output));
}

/// Policy first, then the approver; one that throws denies, none denies (R-ENG-22, R-ENG-26).
task<decision> run_conductor::ask(const tool_call& call) {
    decision given = decision::deny;
    if (!options_.approve) co_return given;
    if (!session_.options.commands.forbids(call).empty()) co_return decision::forbidden;
    try {
        given = co_await options_.approve(call);
    } catch (...) {
        given = decision::deny; // the rule for an approver that fails, whatever it threw
    }
    co_return given;
}

/// The fact that a call is about to be dispatched (R-EVT-101).
task<void> run_conductor::announce(const tool_call& call) {
    const tool_definition* tool = find_tool(call.name());
    text label;
    if (tool != nullptr) label = tool->label;
    co_await send(message::call_begin(call.id(), call.name(), call.arguments(), label));
}

/// The facts that the results of a committed answer are in the context, in call order.
task<void> run_conductor::settle_calls() {
    if (attempt_->calls.empty()) co_return;
    for (const call_record& each : attempt_->calls)
        co_await send(message::call_settled(each.call.tool_call_id()));
    co_await send(message::batch_settled());
}

const tool_definition* run_conductor::find_tool(const text& name) const {
    const auto found = std::find_if(session_.tools.begin(), session_.tools.end(),
                                    [&name](const tool_definition& t) { return t.name == name; });
    return found == session_.tools.end() ? nullptr : &*found;
}

/// The tool is a producer before the driver goes on (R-ENG-12); nothing waits for it until the end of the
/// turn.
void run_conductor::dispatch(call_record& record, tool_call call) {
    const session_options& options = session_.options;
    const tool_definition* known = find_tool(call.name());
    const auto special = options.tool_overrides.find(call.name().view());
    tool_limits limits = special != options.tool_overrides.end() ? special->second : options.tools;
    if (special == options.tool_overrides.end() && known != nullptr)
        limits.timeout = known->timeout.value_or(limits.timeout);
    const tool_context around(options_.approve, options_.depth,
                              options_.max_depth.value_or(options.max_depth), session_.grace, &host_);
    tool_job job = tool_job(std::move(call), record.call.provider_id(), session_.environment)
                       .with_limits(limits)
                       .with_context(around)
                       .start_on_entry(options.start_on_entry)
                       .with_facts(session_.sends_facts)
                       .unknown(known == nullptr);
    tools_->spawn(run_tool(std::move(job), point_.attach(), record.output));
}

} // namespace thalweg
