// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/run_conductor.hpp>

#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/tool_run.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace thalweg {

namespace {

/// Stands in for the output of a call that was interrupted (R-ENG-40).
message placeholder_for(const message& call) {
    return message::tool_call_output(text(interrupted_output), call.tool_call_id())
        .with_provider_id(call.provider_id())
        .with_stop(stop_reason::aborted);
}

std::string detail_of(const answer_framer::verdict& verdict) {
    return verdict.why.empty() ? "unknown" : verdict.why;
}

} // namespace

run_conductor::run_conductor(session_core& session, run_options options, const thalweg::context& parent)
    : session_(session),
      options_(options),
      max_turns_(options.max_turns.value_or(session.options_.max_turns)),
      context_(parent.loop(), cancel_),
      driver_(point_.attach()) {
    cancel_.follow(parent.cancel());
    session_.running_ = this;
}

run_conductor::~run_conductor() {
    session_.running_ = nullptr;
    if (!settled_) session_.carry_over_ = owed();
}

task<void> run_conductor::conduct(std::vector<message> input) {
    next_input_ = std::move(input);
    co_await report_trace_fault();
    if (context_.stop_requested()) { // before anything was asked: the whole input waits unchanged (R-ENG-07)
        co_await end_by_abort(run_outcome::end::interrupted, "aborted by user", std::move(next_input_));
    }
    while (!settled_) {
        if (max_turns_ > 0 && outcome_.turns_ >= max_turns_) {
            co_await end_by_limit();
            break;
        }
        ++outcome_.turns_;
        const next then = co_await turn();
        co_await report_trace_fault();
        if (then == next::end) settled_ = true;
    }
    driver_.finish();
}

// One turn: a request with its retries
// -----------------------------------------------------------------------------

task<run_conductor::next> run_conductor::turn() {
    const std::vector<message> turn_input = std::move(next_input_);
    next_input_.clear();
    attempt_input_ = turn_input;
    turn_block retried("turn_retried");
    for (int ordinal = 1;; ++ordinal) {
        co_await request(ordinal);
        const answer_framer::verdict verdict = *attempt_->verdict;
        outcome_.last_status_ = verdict.status;
        if (context_.stop_requested() || verdict.status == stop_reason::aborted) {
            co_await place_holders();
            co_await end_by_abort(run_outcome::end::interrupted, "aborted by user", owed());
            co_return next::end;
        }
        if (verdict.status == stop_reason::completed) break;
        if (verdict.status == stop_reason::auth || is_hopeless()) {
            co_await end_by_abort(run_outcome::end::model_failed, "llm request error: " + detail_of(verdict),
                                  owed());
            co_return next::end;
        }

        const auto wait = wait_before_retry(ordinal);
        const std::string exhausted = exhausted_reason();
        retried.add_attempt(attempt_->framer.segments(), outputs());
        attempt_input_ = turn_input;
        if (retried.has_lines()) attempt_input_.push_back(stamped(retried.to_message()));
        attempt_.reset();
        next_input_ = attempt_input_; // what is owed while nothing is under way
        if (!wait) {
            co_await end_by_abort(run_outcome::end::model_failed, exhausted, std::move(next_input_));
            co_return next::end;
        }
        const bool waited = co_await sleep_for(*wait);
        if (!waited) {
            co_await end_by_abort(run_outcome::end::interrupted, "aborted during reconnect backoff",
                                  std::move(next_input_));
            co_return next::end;
        }
        next_input_.clear();
    }

    next_input_ = outputs();
    attempt_.reset();
    co_return next_input_.empty() ? next::end : next::turn;
}

/// The same request can never succeed, and the session wants to know at once.
bool run_conductor::is_hopeless() const {
    return session_.options_.retry.fail_fast && attempt_->outcome && attempt_->outcome->is_permanent();
}

/// The wait before the next attempt (R-ENG-51, D-05); empty when there will be none.
std::optional<std::chrono::milliseconds> run_conductor::wait_before_retry(int ordinal) const {
    const retry_policy& policy = session_.options_.retry;
    const stop_reason status = attempt_->verdict->status;
    const bool retried = status == stop_reason::failed || status == stop_reason::timeout ||
                         status == stop_reason::malformed;
    if (!retried || is_hopeless() || ordinal > policy.most || context_.stop_requested()) return std::nullopt;
    auto wait = policy.base;
    for (int n = 1; n < ordinal && wait < policy.ceiling; ++n)
        wait *= 2;
    if (attempt_->outcome && attempt_->outcome->wait()) wait = std::max(wait, *attempt_->outcome->wait());
    return std::min(wait, policy.ceiling);
}

std::string run_conductor::exhausted_reason() const {
    const answer_framer::verdict& last = *attempt_->verdict;
    const std::string after = " failed after " + std::to_string(session_.options_.retry.most) + " retries";
    if (last.status == stop_reason::timeout) return "reconnect" + after;
    if (last.status == stop_reason::malformed) return "malformed response" + after;
    return "llm request" + after + ": " + detail_of(last);
}

// One request
// --------------------------------------------------------------------------------------------------------

task<void> run_conductor::request(int ordinal) {
    attempt_.emplace(session_.ids_);
    co_await send(message::request_begin());
    scope tools(context_);
    {
        scope driving(context_);
        scope clock(context_);
        driving.spawn(drive(tools));
        clock.spawn(drop_when_deaf(driving));
        co_await driving.join();
        clock.drop();
    }
    if (!attempt_->verdict) { // the model or the approver was deaf and has been dropped
        attempt_->framer.close_as(stop_reason::aborted);
        attempt_->verdict = answer_framer::verdict{stop_reason::aborted, {}};
        co_await flush();
    }
    close_request(ordinal);
    co_await tools.join();
}

/// Pulls the model's answer to its end.
task<void> run_conductor::drive(scope& tools) {
    attempt& now = *attempt_;
    try {
        model_request asked(session_.history_, attempt_input_, session_.tools_,
                            text(session_.options_.system), text(session_.options_.thinking_level));
        auto answer = session_.provider_.generate(std::move(asked));
        while (delta* piece = co_await answer.peek()) {
            bool consumed = false;
            while (!consumed) {
                consumed = now.framer.step(*piece);
                std::vector<message>& pending = now.framer.pending();
                for (; now.sent < pending.size(); ++now.sent) {
                    pending[now.sent].stamp(context_.loop().wall_ms());
                    const bool taken = co_await driver_.send(std::move(pending[now.sent]));
                    if (!taken) break;
                }
                pending.clear();
                now.sent = 0;
                auto call = now.framer.finished_call();
                if (call) co_await decide(std::move(*call), tools);
            }
        }
        now.outcome = std::move(answer.result());
    } catch (const std::exception& e) {
        now.outcome = model_outcome::failed(std::string("the provider threw: ") + e.what());
    } catch (...) {
        now.outcome = model_outcome::failed("the provider threw something that is no std::exception");
    }
    const answer_framer::verdict verdict = now.framer.finish(*now.outcome);
    co_await flush();
    auto call = now.framer.finished_call();
    if (call) co_await decide(std::move(*call), tools);
    now.verdict = verdict;
}

task<void> run_conductor::flush() {
    std::vector<message>& pending = attempt_->framer.pending();
    for (; attempt_->sent < pending.size(); ++attempt_->sent) {
        co_await send(std::move(pending[attempt_->sent]));
    }
    pending.clear();
    attempt_->sent = 0;
}

/// Bounds an interrupt: who has not reacted when the grace is over is destroyed (R-ENG-35).
task<void> run_conductor::drop_when_deaf(scope& driving) {
    co_await stop_requested();
    co_await sleep_through(session_.options_.interrupt_grace);
    driving.drop();
}

/// The last messages of a request, in one step and whatever the budget (D-04), and the commit (R-PRO-50).
void run_conductor::close_request(int ordinal) {
    const answer_framer::verdict& verdict = *attempt_->verdict;
    request_end end;
    end.status = verdict.status;
    if (verdict.status == stop_reason::completed) {
        const token_counts& used = attempt_->framer.usage();
        session_.usage_ += std::exchange(session_.unreported_usage_, {});
        session_.usage_ += used;
        outcome_.usage_ += used;
        if (ordinal > 1) end.attempt = ordinal;
        driver_.post(stamped(message::event(token_usage{session_.usage_, used})));
        driver_.post(stamped(message::event(std::move(end))));
        commit();
        return;
    }
    if (attempt_->outcome && attempt_->outcome->usage()) {
        session_.unreported_usage_ += *attempt_->outcome->usage();
        outcome_.usage_ += *attempt_->outcome->usage();
    }
    if (!verdict.why.empty()) end.error_message = text(verdict.why);
    end.attempt = ordinal;
    if (const auto wait = wait_before_retry(ordinal)) end.retry_in_ms = wait->count();
    driver_.post(stamped(message::event(std::move(end))));
}

/// The request's input and answer become history. A call that was only closed has no place there (R-PRO-28).
void run_conductor::commit() {
    attempt_->committed = true;
    std::vector<message>& history = session_.history_;
    history.insert(history.end(), attempt_input_.begin(), attempt_input_.end());
    std::copy_if(
        attempt_->framer.segments().begin(), attempt_->framer.segments().end(), std::back_inserter(history),
        [](const message& m) { return m.kind() != kind::tool_call || m.stop() == stop_reason::completed; });
}

// Approval and dispatch
// ------------------------------------------------------------------------------------------------

task<void> run_conductor::decide(message call, scope& tools) {
    call_record& record = attempt_->calls.emplace_back(call_record{call, std::nullopt});
    if (context_.stop_requested()) co_return; // R-ENG-25
    tool_call asked(call.name(), call.content(), call.tool_call_id());
    const decision given = co_await ask(asked);
    if (context_.stop_requested()) co_return;

    co_await send(message::approval_decision(given, call.tool_call_id()));
    if (given == decision::allow) {
        dispatch(record, std::move(asked), tools);
        co_return;
    }
    const text why(given == decision::forbidden ? "Tool call denied by policy."
                                                : "Tool call denied by user.");
    record.output = stamped(message::tool_call_output(why, call.tool_call_id())
                                .with_provider_id(call.provider_id())
                                .with_stop(stop_reason::aborted));
    co_await send(*record.output);
}

/// Policy first, then the approver; one that throws denies, none denies (R-ENG-22, R-ENG-26).
task<decision> run_conductor::ask(const tool_call& call) {
    decision given = decision::deny;
    if (!options_.approve) co_return given;
    if (!session_.options_.commands.forbids(call).empty()) co_return decision::forbidden;
    try {
        given = co_await options_.approve(call);
    } catch (...) {
        given = decision::deny; // the rule for an approver that fails, whatever it threw
    }
    co_return given;
}

/// The tool is a producer before the driver goes on (R-ENG-12); nothing waits for it until the end of the
/// turn.
void run_conductor::dispatch(call_record& record, tool_call call, scope& tools) {
    const session_options& options = session_.options_;
    const auto special = options.tool_overrides.find(call.name().view());
    const bool unknown = std::none_of(session_.tools_.begin(), session_.tools_.end(),
                                      [&call](const tool_definition& t) { return t.name == call.name(); });
    tool_job job = tool_job(std::move(call), record.call.provider_id(), session_.environment_)
                       .with_limits(special != options.tool_overrides.end() ? special->second : options.tools)
                       .with_grace(options.interrupt_grace)
                       .start_on_entry(options.start_on_entry)
                       .unknown(unknown);
    tools.spawn(run_tool(std::move(job), point_.attach(), record.output));
}

// Ends
// -----------------------------------------------------------------------------------------------------------------

/// Outputs of the turn in call order (R-ENG-33).
std::vector<message> run_conductor::outputs() const {
    std::vector<message> in_order;
    for (const call_record& each : attempt_->calls) {
        if (each.output) in_order.push_back(*each.output);
    }
    return in_order;
}

/// What the next run has to submit if this one ended now (R-ENG-40, R-ENG-41).
std::vector<message> run_conductor::owed() const {
    if (!attempt_) return next_input_;
    std::vector<message> carry;
    if (attempt_->committed) {
        carry = outputs();
        for (const call_record& each : attempt_->calls) {
            if (each.output) continue;
            carry.push_back(stamped(placeholder_for(each.call)));
        }
        return carry;
    }
    turn_block block("turn_aborted");
    for (const message& m : attempt_input_) {
        if (m.kind() == kind::tool_call_output) carry.push_back(m);
        if (m.kind() == kind::text && m.role() == role::user) block.add_input(m.content());
    }
    block.add_attempt(attempt_->framer.segments(), outputs());
    carry.push_back(stamped(block.to_message()));
    return carry;
}

/// Every committed call gets one output on the stream, before the abort.
task<void> run_conductor::place_holders() {
    if (!attempt_->committed) co_return;
    for (call_record& each : attempt_->calls) {
        if (each.output) continue;
        message placeholder = placeholder_for(each.call);
        co_await send(std::move(placeholder));
    }
}

task<void> run_conductor::end_by_abort(run_outcome::end how, std::string reason, std::vector<message> carry) {
    session_.carry_over_ = std::move(carry);
    attempt_.reset();
    settled_ = true;
    outcome_.how_ = how;
    outcome_.why_ = reason;
    co_await report_trace_fault();
    run_abort last{text(reason)};
    co_await send(message::event(std::move(last)));
}

/// The limit is reached: a framed notice, and the input waits for the next run (R-ENG-38).
task<void> run_conductor::end_by_limit() {
    const text notice("[reached max turns (" + std::to_string(max_turns_) + "); stopping]");
    session_.carry_over_ = std::move(next_input_);
    settled_ = true;
    outcome_.how_ = run_outcome::end::max_turns;
    outcome_.why_ = "the limit of " + std::to_string(max_turns_) + " turn(s) was reached; run again to go on";
    co_await send(message::partial_text(frame::start));
    co_await send(message::partial_text(frame::delta, notice));
    co_await send(message::partial_text(frame::stop).with_stop(stop_reason::failed));
    co_await send(message::assistant_text(notice).with_stop(stop_reason::failed));
}

task<void> run_conductor::report_trace_fault() {
    if (!session_.fault_) co_return;
    message fault = message::event(*std::exchange(session_.fault_, std::nullopt));
    co_await send(std::move(fault));
}

message run_conductor::stamped(message m) const {
    m.stamp(context_.loop().wall_ms());
    return m;
}

task<void> run_conductor::send(message m) {
    if (!m.has_timestamp()) m.stamp(context_.loop().wall_ms());
    const bool taken = co_await driver_.send(std::move(m));
    static_cast<void>(taken); // false only when the stream is being dropped
}

} // namespace thalweg
