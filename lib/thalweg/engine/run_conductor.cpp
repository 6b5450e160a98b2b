// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/run_conductor.hpp>

#include <thalweg/engine/compaction.hpp>
#include <thalweg/engine/grace.hpp>

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

} // namespace

run_conductor::run_conductor(session_state& session, background_host& host, run_options options,
                             const thalweg::context& parent)
    : session_(session),
      host_(host),
      options_(options),
      thinking_level_(options.thinking_level.empty() ? text(session.options.thinking_level)
                                                     : text(options.thinking_level)),
      max_turns_(options.max_turns.value_or(session.options.max_turns)),
      context_(parent.loop(), cancel_),
      driver_(point_.attach()),
      guests_(point_.attach()) {
    cancel_.follow(parent.cancel());
}

run_conductor::~run_conductor() {
    if (!is_settled_) session_.carry_over = owed();
    session_.steering.clear();
}

bool run_conductor::stop_after_answer() {
    if (is_settled_) return false;
    is_last_answer_ = true;
    pause_.give_up();
    return true;
}

bool run_conductor::pass(message& m) {
    if (is_settled_) return false;
    guests_.post(std::move(m));
    return true;
}

steering_ticket run_conductor::steer(std::vector<message> input) {
    if (is_settled_ || is_last_answer_) return {};
    for (message& m : input)
        m = stamped(std::move(m));
    return session_.steering.push(std::move(input));
}

task<void> run_conductor::conduct() {
    co_await report_faults();
    if (!context_.stop_requested()) co_await deliver_notices();
    for (;;) {
        co_await end_between_turns();
        if (is_settled_) break;
        ++outcome_.turns_;
        const next then = co_await turn();
        if (is_settled_) break;                    // by an abort, which stays the last message
        if (then == next::end) is_settled_ = true; // in one step with the decision: nobody steers in between
        co_await report_faults();
        if (is_settled_) break;
    }
    driver_.finish();
    guests_.finish();
}

/// Ends the run before its next request, if it is to end there: the whole input waits unchanged (R-ENG-07,
/// R-ENG-38).
task<void> run_conductor::end_between_turns() {
    if (context_.stop_requested()) {
        co_await end_by_abort(run_outcome::end::interrupted, "aborted by user", std::move(next_input_));
    } else if (is_last_answer_ && outcome_.turns_ > 0) {
        co_await end_by_abort(run_outcome::end::stopped, "stopped after answer", std::move(next_input_));
    } else if (max_turns_ > 0 && outcome_.turns_ >= max_turns_) {
        co_await end_by_limit();
    }
}

// One turn: a request with its retries
// -----------------------------------------------------------------------------

task<run_conductor::next> run_conductor::turn() {
    const bool is_completed = co_await request_until_completed();
    if (!is_completed) co_return next::end;
    next_input_ = outputs();
    attempt_.reset();
    co_return co_await after_answer();
}

/// False: the run has ended.
task<bool> run_conductor::request_until_completed() {
    const std::vector<message> turn_input = std::exchange(next_input_, {});
    attempt_input_ = turn_input;
    turn_block retried("turn_retried");
    for (int ordinal = 1;; ++ordinal) {
        co_await request(ordinal);
        const model_run& request = attempt_->request;
        outcome_.last_status_ = request.verdict().status;
        if (context_.stop_requested() || outcome_.last_status_ == stop_reason::aborted) {
            co_await place_holders();
            co_await end_by_abort(run_outcome::end::interrupted, "aborted by user", owed());
            co_return false;
        }
        if (request.is_completed()) co_return true;
        session_.is_refused = session_.is_refused || request.is_too_long();
        co_await report_faults();
        if (outcome_.last_status_ == stop_reason::auth || request.is_hopeless()) {
            co_await end_by_abort(run_outcome::end::model_failed, "llm request error: " + request.detail(),
                                  owed());
            co_return false;
        }

        const auto wait = wait_before_retry(ordinal);
        const std::string exhausted = exhausted_reason();
        retried.add_attempt(request.segments(), outputs());
        attempt_input_ = turn_input;
        if (retried.has_lines()) attempt_input_.push_back(stamped(retried.to_message()));
        attempt_.reset();
        next_input_ = attempt_input_; // what is owed while nothing is under way
        if (!wait && !is_last_answer_) {
            co_await end_by_abort(run_outcome::end::model_failed, exhausted, std::move(next_input_));
            co_return false;
        }
        const bool waited = co_await pause_.wait(wait.value_or(std::chrono::milliseconds::zero()));
        if (context_.stop_requested()) {
            co_await end_by_abort(run_outcome::end::interrupted, "aborted during reconnect backoff",
                                  std::move(next_input_));
            co_return false;
        }
        if (!waited) {
            co_await end_by_abort(run_outcome::end::stopped, "stopped after answer", std::move(next_input_));
            co_return false;
        }
        next_input_.clear();
    }
}

/// The wait before the next attempt; empty when there will be none.
std::optional<std::chrono::milliseconds> run_conductor::wait_before_retry(int ordinal) const {
    const retry_policy& policy = session_.options.retry;
    const model_run& request = attempt_->request;
    const bool again = request.may_be_retried() && ordinal <= policy.most && !context_.stop_requested() &&
                       !is_last_answer_;
    if (!again) return std::nullopt;
    return retry_delay(policy, ordinal, request.wish_to_wait());
}

std::string run_conductor::exhausted_reason() const {
    const std::string after = " failed after " + std::to_string(session_.options.retry.most) + " retries";
    if (outcome_.last_status_ == stop_reason::timeout) return "reconnect" + after;
    if (outcome_.last_status_ == stop_reason::malformed) return "malformed response" + after;
    return "llm request" + after + ": " + attempt_->request.detail();
}

task<void> run_conductor::request(int ordinal) {
    attempt_.emplace(session_, driver_);
    scope tools(context_);
    tools_ = &tools;
    co_await attempt_->request.pull(attempt_input_, thinking_level_, this);
    attempt_->is_committed = attempt_->request.is_completed();
    attempt_->request.close(attempt_input_, ordinal, wait_before_retry(ordinal), outcome_.usage_,
                            session_.options.retry.most);
    co_await tools.join();
    tools_ = nullptr;
    if (session_.sends_facts && attempt_->is_committed) co_await settle_calls();
}

// Between two turns
// --------------------------------------------------------------------------------------------------------

/// The request is completed, all its tools have ended, and `next_input_` has their outputs.
task<run_conductor::next> run_conductor::after_answer() {
    const bool is_mid_run = !next_input_.empty();
    if (is_last_answer_ && is_mid_run) co_return next::turn; // which is not begun
    bool goes_on = is_mid_run;
    if (const auto due = compaction_due(session_)) {
        // A context can be thrown away only when nothing of it is owed (R-ENG-7A).
        const bool throws_away = session_.options.compaction->mode == compaction_mode::discard;
        if (!throws_away || (!is_mid_run && !has_injections())) {
            const next then = co_await compact(*due, is_mid_run);
            if (then == next::end) co_return next::end;
            goes_on = goes_on || !next_input_.empty();
        }
    }
    if (is_last_answer_) co_return is_mid_run ? next::turn : next::end;
    const bool has_injected = co_await inject();
    if (goes_on || has_injected) co_return next::turn;
    co_return next::end;
}

/// next::end: the run has ended with it.
task<run_conductor::next> run_conductor::compact(compaction_reason why, bool is_mid_run) {
    compaction work(session_, driver_, pause_, next_input_, outcome_.usage_);
    co_await work.run(why);
    const bool is_given_up = is_last_answer_ && work.status() == stop_reason::aborted;
    // R-ENG-76: the first record of the new file, not streamed, if there is any other, an abort included.
    const bool goes_on = is_mid_run || has_injections() || context_.stop_requested();
    if (goes_on && work.status() == stop_reason::completed && session_.pending_summary) {
        next_input_.push_back(*std::exchange(session_.pending_summary, std::nullopt));
        co_await send(message(next_input_.back()).trace_only());
    }
    if (context_.stop_requested() || (work.status() == stop_reason::aborted && !is_given_up)) {
        co_await end_by_abort(run_outcome::end::interrupted, "aborted during compaction",
                              std::move(next_input_));
        co_return next::end;
    }
    if (work.status() != stop_reason::completed) {
        if (is_given_up && is_mid_run) co_return next::turn; // which is not begun
        if (is_mid_run) {
            co_await end_by_abort(run_outcome::end::compaction_failed, "compaction failed",
                                  std::move(next_input_));
            co_return next::end;
        }
        // The answer was given. Repairs go along with the next input, of this run or of the next one.
        if (!has_injections()) session_.carry_over = std::exchange(next_input_, {});
        co_return next::turn;
    }
    co_return next::turn;
}

bool run_conductor::has_injections() const {
    return !is_last_answer_ && (!session_.steering.empty() || !session_.notices.empty());
}

/// Notices first, then what was steered (R-ENG-62, R-ENG-64). True if there was anything.
task<bool> run_conductor::inject() {
    const bool has_any = has_injections();
    co_await deliver_notices();
    std::vector<std::vector<message>> steered = session_.steering.take();
    for (std::vector<message>& input : steered) {
        co_await steer_in(std::move(input));
        if (is_settled_ || context_.stop_requested()) break;
    }
    co_return has_any;
}

task<void> run_conductor::deliver_notices() {
    std::vector<message> notices = std::exchange(session_.notices, {});
    next_input_.insert(next_input_.end(), notices.begin(), notices.end());
    for (message& m : notices)
        co_await send(std::move(m));
}

task<void> run_conductor::adapt(std::vector<message>& input, std::string& fault) {
    fault = co_await adapt_images(input, session_.options.adapt_image);
}

task<void> run_conductor::steer_in(std::vector<message> input) {
    if (session_.options.adapt_image) {
        std::string fault;
        co_await unless_deaf(adapt(input, fault), session_.grace);
        if (context_.stop_requested()) co_return; // the run ends before its next request
        if (!fault.empty()) {
            co_await end_by_abort(run_outcome::end::input_failed, "image adapter failed: " + fault,
                                  std::move(next_input_));
            co_return;
        }
    }
    std::vector<message> steered = steering_messages(std::move(input));
    for (message& m : steered) {
        m.stamp(context_.loop().wall_ms());
        next_input_.push_back(m);
        co_await send(m);
        if (session_.sends_facts) co_await send(std::move(m).as_input());
    }
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
    if (attempt_->is_committed) {
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
    block.add_attempt(attempt_->request.segments(), outputs());
    carry.push_back(stamped(block.to_message()));
    return carry;
}

/// Every committed call gets one output on the stream, before the abort.
task<void> run_conductor::place_holders() {
    if (!attempt_->is_committed) co_return;
    for (call_record& each : attempt_->calls) {
        if (each.output) continue;
        message placeholder = placeholder_for(each.call);
        co_await send(std::move(placeholder));
    }
}

task<void> run_conductor::end_by_abort(run_outcome::end how, std::string reason, std::vector<message> carry) {
    session_.carry_over = std::move(carry);
    next_input_.clear();
    attempt_.reset();
    is_settled_ = has_aborted_ = true;
    outcome_.how_ = how;
    outcome_.why_ = reason;
    co_await report_faults();
    run_abort last{text(reason)};
    co_await send(message::event(std::move(last)));
}

/// The limit is reached: a framed notice, and the input waits for the next run (R-ENG-38).
task<void> run_conductor::end_by_limit() {
    const text notice("[reached max turns (" + std::to_string(max_turns_) + "); stopping]");
    session_.carry_over = std::exchange(next_input_, {});
    is_settled_ = true;
    outcome_.how_ = run_outcome::end::max_turns;
    outcome_.why_ = "the limit of " + std::to_string(max_turns_) + " turn(s) was reached; run again to go on";
    co_await send(message::partial_text(frame::start));
    co_await send(message::partial_text(frame::delta, notice));
    co_await send(message::partial_text(frame::stop).with_stop(stop_reason::failed));
    co_await send(message::assistant_text(notice).with_stop(stop_reason::failed));
}

/// What the user should know and nothing else would tell (D-24).
task<void> run_conductor::report_faults() {
    if (session_.pending_summary) co_return; // it is to be the first record of its file: next time
    if (session_.fault) {
        message fault = message::event(*std::exchange(session_.fault, std::nullopt));
        co_await send(std::move(fault));
    }
    if (const std::size_t repairs = std::exchange(session_.repairs, 0); repairs > 0) {
        notice repaired;
        repaired.code = text("history_repaired");
        repaired.body = text("calls and outputs of the history that was handed over did not pair: " +
                             std::to_string(repairs) + " messages were made up or left out");
        co_await send(message::event(std::move(repaired)));
    }
    if (std::exchange(session_.is_refused, false)) {
        notice refused;
        refused.code = text("context_refused");
        refused.body = text("the provider takes no context of this size; compact the session, set a smaller "
                            "max_context_length, or go on from an earlier answer with a fork of it");
        co_await send(message::event(std::move(refused)));
    }
    if (std::exchange(session_.is_stalled, false)) {
        notice stalled;
        stalled.code = text("compaction_without_progress");
        stalled.body = text(
            "the context is as big after its compaction as before; it is not repeated until the "
            "context has grown by a tenth of the limit");
        co_await send(message::event(std::move(stalled)));
    }
}

message run_conductor::stamped(message m) const {
    if (!m.has_timestamp()) m.stamp(context_.loop().wall_ms());
    return m;
}

task<void> run_conductor::send(message m) {
    if (!m.has_timestamp()) m.stamp(context_.loop().wall_ms());
    const bool taken = co_await driver_.send(std::move(m));
    static_cast<void>(taken); // false only when the stream is being dropped
}

} // namespace thalweg
