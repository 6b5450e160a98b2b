// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/detail/agent_conductor.hpp>

#include <thalweg/agent/agent_queue.hpp>
#include <thalweg/agent/agent_view.hpp>
#include <thalweg/agent/detail/model_context.hpp>
#include <thalweg/engine/grace.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace thalweg::detail {

namespace {

session_options settings_of(const agent_options& options) {
    session_options made;
    made.system = options.system;
    made.thinking_level = options.thinking_level;
    made.retry = options.retry;
    made.interrupt_grace = options.interrupt_grace;
    return made;
}

template <class Work>
std::optional<std::string> fault_in(Work&& work) {
    try {
        work();
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "something that is no std::exception";
    }
    return std::nullopt;
}

/// Who decides about the calls of a run and of its children; nobody minds anything by default (D-12).
approver asked_by(const agent_task& task, const agent_options& options) {
    if (task.around.approve) return task.around.approve;
    return options.approve ? options.approve : approver(allow_all);
}

} // namespace

agent_conductor::agent_conductor(provider_ref provider, environment_ref tools, agent_task task,
                                 std::shared_ptr<const agent_options> options, const thalweg::context& parent)
    : task_(std::move(task)),
      options_(std::move(options)),
      session_(provider, tools, settings_of(*options_)),
      around_(asked_by(task_, *options_), task_.around.depth,
              task_.around.max_depth.value_or(options_->max_depth),
              task_.around.grace.value_or(options_->interrupt_grace), nullptr),
      thinking_level_(task_.around.thinking_level.empty() ? text(options_->thinking_level)
                                                          : text(task_.around.thinking_level)),
      max_turns_(task_.around.max_turns.value_or(options_->max_turns)),
      context_(parent.loop(), cancel_),
      driver_(point_.attach()) {
    cancel_.follow(parent.cancel());
    session_.grace = around_.grace();
    session_.response_schema = task_.response_schema;
    session_.sends_facts = true;
    session_.quotes_faults = true;
    seen_.messages = std::move(task_.transcript);
    for (const agent_message& m : seen_.messages) {
        for (const content_block& block : m.content()) {
            if (block.kind() == content_block::type::tool_call) session_.ids.mark_used(block.id());
        }
    }
}

task<void> agent_conductor::conduct() {
    co_await send(message::run_begin());
    co_await turns();
    run_end last;
    if (ended_by_) {
        const bool is_abort = ended_by_->code() == agent_errc::aborted;
        last.how = is_abort ? run_ending::aborted : run_ending::failed;
        last.reason = text(ended_by_->message());
        run_abort said{last.reason};
        co_await send(message::event(std::move(said)));
    }
    co_await send(message::event(std::move(last)));
    driver_.finish();
}

/// Everything between run_begin and run_end; `ended_by_` says why it ended.
task<void> agent_conductor::turns() {
    std::vector<agent_message> input = std::move(task_.prompts);
    if (task_.polls_steering_first) {
        auto steered = poll(options_->poll_steering);
        if (steered) std::move(steered->begin(), steered->end(), std::back_inserter(input));
    }
    if (auto fault = fault_in([this] { session_.tools = session_.environment.tools(); }))
        end_by(agent_errc::model_failed, "the environment cannot list its tools: " + *fault);
    for (;;) {
        co_await send_input(std::move(input));
        co_await leave();
        if (ended_by_) co_return;
        if (context_.stop_requested()) co_return end_by(agent_errc::aborted, abort_words());
        ++turns_;
        const bool answered = co_await answer();
        if (!answered) co_return;
        co_await run_calls();
        co_await leave(); // what a listener queues in turn_end is seen by the poll behind it (R-EVT-49)
        const bool has_calls = !calls_.empty();
        if (context_.stop_requested()) {
            if (has_calls) end_by(agent_errc::aborted, abort_words());
            co_return; // R-EVT-51, R-EVT-68
        }
        if (should_stop()) co_return;
        if (max_turns_ > 0 && turns_ >= max_turns_) co_return;

        auto queued = poll(options_->poll_steering);
        if (!queued) co_return;
        const bool asks_again = has_calls && !all_terminate();
        if (queued->empty() && !asks_again) queued = poll(options_->poll_follow_ups);
        if (!queued || (queued->empty() && !asks_again)) co_return;
        input = std::move(*queued);
    }
}

task<void> agent_conductor::send_input(std::vector<agent_message> input) {
    for (const agent_message& m : input) {
        if (!is_input(m)) {
            co_return end_by(agent_errc::hook_failed,
                             "a message of the model or a tool result was queued as input; queue messages "
                             "of the user or of the program");
        }
        co_await send(input_fact(m));
    }
}

/// Nothing if the hook failed, and then the run ends.
std::optional<std::vector<agent_message>> agent_conductor::poll(const poll_hook& hook) {
    std::vector<agent_message> taken;
    if (!hook) return taken;
    if (auto fault = fault_in([&] { taken = hook(); })) {
        end_by(agent_errc::hook_failed, *fault);
        return std::nullopt;
    }
    return taken;
}

bool agent_conductor::should_stop() {
    if (!options_->should_stop_after_turn) return false;
    const auto& all = seen_.messages;
    auto first = all.size();
    while (first > 0 && all[first - 1].kind() == agent_message::type::tool_result)
        --first;
    bool stops = false;
    const auto fault = fault_in(
        [&] { stops = options_->should_stop_after_turn(answer_, std::span(all).subspan(first)); });
    if (fault) end_by(agent_errc::hook_failed, *fault);
    return stops || fault.has_value();
}

// The answer
// -----------------------------------------------------------------------------------------------------------

/// False: the run has ended, by a fault or an abort.
task<bool> agent_conductor::answer() {
    for (int ordinal = 1;; ++ordinal) {
        const bool is_ready = co_await prepare_context();
        if (!is_ready) co_return false;
        calls_.clear();
        attempt_.emplace(session_, driver_, audience::everyone);
        model_run& request = *attempt_;
        co_await request.pull(input_, thinking_level_, this);
        const bool is_over = request.is_completed(); // then it wins over an abort (R-EVT-68)
        if (!is_over && (context_.stop_requested() || request.verdict().status == stop_reason::aborted)) {
            request.reword(stop_reason::aborted, abort_words());
            request.close(input_, ordinal, std::nullopt, used_);
            end_by(agent_errc::aborted, abort_words());
            co_return false;
        }
        std::optional<std::chrono::milliseconds> wait;
        if (!is_over && request.may_be_retried() && ordinal <= options_->retry.most)
            wait = retry_delay(options_->retry, ordinal, request.wish_to_wait());
        const std::string why = is_over ? std::string() : request.detail();
        request.close(input_, ordinal, wait, used_,
                      wait ? std::optional(options_->retry.most) : std::nullopt);
        if (is_over) co_return true;
        if (!wait) {
            end_by(agent_errc::model_failed, why);
            co_return false;
        }
        co_await give_up_calls();
        const bool repeats = co_await repeat(*wait);
        if (!repeats) co_return false;
    }
}

/// Calls that were allowed, of an answer that failed and is asked for again: none of them runs.
task<void> agent_conductor::give_up_calls() {
    for (const call_run& each : calls_) {
        if (each.given != decision::allow) continue;
        co_await send(
            message::tool_call_output("Tool call was not executed: the answer failed", each.call.id())
                .with_stop(stop_reason::aborted));
    }
}

/// Waits for the next attempt. False: the run was aborted meanwhile.
task<bool> agent_conductor::repeat(std::chrono::milliseconds wait) {
    const bool waited = co_await pause_.wait(wait);
    co_await leave(); // the failed attempt is no longer in the transcript then
    if (!waited || context_.stop_requested()) end_by(agent_errc::aborted, abort_words());
    co_return !ended_by_;
}

/// What the model is going to see (R-EVT-90). False: a hook failed, and the run ends.
task<bool> agent_conductor::prepare_context() {
    std::vector<agent_message> context = seen_.messages;
    std::optional<std::string> fault;
    try {
        co_await unless_deaf(shape_context(context), session_.grace);
    } catch (const std::exception& e) {
        fault = e.what();
    } catch (...) {
        fault = "a hook threw something that is no std::exception";
    }
    if (context_.stop_requested()) {
        end_by(agent_errc::aborted, abort_words());
        co_return false;
    }
    if (fault) {
        end_by(agent_errc::hook_failed, *fault);
        co_return false;
    }
    auto made = model_context(context);
    if (!made) {
        end_by(agent_errc::hook_failed, made.error().message());
        co_return false;
    }
    std::vector<message>& all = made.value();
    const auto old = static_cast<std::ptrdiff_t>(history_size(all));
    input_.assign(std::move_iterator(all.begin() + old), std::move_iterator(all.end()));
    all.resize(static_cast<std::size_t>(old));
    session_.context = std::move(all);
    co_return true;
}

task<void> agent_conductor::shape_context(std::vector<agent_message>& context) {
    if (options_->transform_context) {
        std::vector<agent_message> transformed = co_await options_->transform_context(context);
        context = std::move(transformed);
    }
    if (options_->convert_to_llm) {
        std::vector<agent_message> converted = co_await options_->convert_to_llm(std::move(context));
        context = std::move(converted);
    } else {
        context = convert_standard(std::move(context));
    }
}

/// Decided about as soon as it is complete, run when the answer is over (C1, C3).
task<void> agent_conductor::on_call(message call) {
    call_run& made = calls_.emplace_back(std::move(call), *options_);
    if (context_.stop_requested()) co_return;
    made.given = co_await ask(made.call);
    if (context_.stop_requested()) co_return;
    if (made.given == decision::allow) {
        co_await send(message::approval_decision(made.given, made.call.id()));
        co_return;
    }
    const text why(made.given == decision::forbidden ? "Tool call denied by policy."
                                                     : "Tool call denied by user.");
    message output = message::tool_call_output(why, made.call.id()).with_stop(stop_reason::aborted);
    message denied = message::approval_decision(made.given, made.call.id());
    output.stamp(context_.loop().wall_ms());
    denied.stamp(context_.loop().wall_ms());
    // In one step, which no budget can part (R-ENG-24). The view shows it behind the answer.
    driver_.post(std::move(denied));
    driver_.post(std::move(output));
}

task<decision> agent_conductor::ask(const tool_call& call) {
    if (!options_->commands.forbids(call).empty()) co_return decision::forbidden;
    approver asked = around_.approve();
    if (!asked) co_return decision::allow;
    decision given = decision::deny;
    try {
        given = co_await asked(call);
    } catch (...) {
        given = decision::deny; // the rule for an approver that fails, whatever it threw
    }
    co_return given;
}

// What both sides do
// ---------------------------------------------------------------------------------------------------

bool agent_conductor::is_mark(const message& m) const noexcept {
    return m.kind() == kind::body_begin && m.tool_call_id().empty();
}

void agent_conductor::reach_mark() {
    ++marks_reached_;
    reached_.notify();
}

/// Goes on when the reader has dealt with everything that was sent.
task<void> agent_conductor::leave() {
    const std::uint64_t mark = ++marks_sent_;
    driver_.post(message::body_begin({}));
    while (marks_reached_ < mark)
        co_await reached_.wait();
}

void agent_conductor::note(const agent_event& event) {
    if (event.kind() == agent_event::type::message_update) return;
    if (const auto* end = event.get_if<agent_event::message_end>()) {
        if (end->message.kind() == agent_message::type::assistant) answer_ = end->message;
    } else if (const auto* over = event.get_if<agent_event::agent_end>()) {
        added_ = over->messages;
    }
    seen_.apply(event);
}

agent_outcome agent_conductor::outcome() {
    agent_outcome made;
    if (ended_by_)
        made = agent_outcome(static_cast<agent_errc>(ended_by_->code().value()), ended_by_->message());
    return std::move(made).with_messages(std::move(added_));
}

void agent_conductor::end_by(agent_errc code, std::string why) {
    if (!ended_by_) ended_by_ = error(code, utf8::make_valid(why));
}

std::string agent_conductor::abort_words() const {
    const bool is_worded = task_.abort_words != nullptr && !task_.abort_words->empty();
    return is_worded ? task_.abort_words->str() : "Request was aborted";
}

task<void> agent_conductor::send(message m) {
    if (!m.has_timestamp()) m.stamp(context_.loop().wall_ms());
    const bool taken = co_await driver_.send(std::move(m));
    static_cast<void>(taken); // false only when the stream is being dropped
}

} // namespace thalweg::detail
