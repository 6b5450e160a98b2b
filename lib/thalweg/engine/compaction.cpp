// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/compaction.hpp>

#include <thalweg/engine/grace.hpp>
#include <thalweg/engine/summary.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace thalweg {

namespace {

message stamped(message m, const context& here) {
    m.stamp(here.loop().wall_ms());
    return m;
}

/// Asks the program's own summarizer, containing what it throws.
task<void> summarize_with(const summarizer& ask, std::span<const message> context,
                          std::span<const message> owed, std::optional<result<std::string>>& answer) {
    try {
        answer = co_await ask(context, owed);
    } catch (const std::exception& e) {
        answer = failure(std::make_error_code(std::errc::invalid_argument),
                         std::string("the summarizer threw: ") + e.what());
    } catch (...) {
        answer = failure(std::make_error_code(std::errc::invalid_argument),
                         "the summarizer threw something that is no std::exception");
    }
}

} // namespace

std::optional<compaction_reason> compaction_due(const session_state& session) {
    if (!session.options.compaction) return std::nullopt;
    const compaction_settings& settings = *session.options.compaction;
    if (settings.max_context_length > 0 && session.context_size >= settings.max_context_length &&
        session.context_size > session.size_that_rests) {
        return compaction_reason::context;
    }
    if (settings.max_session_turns > 0 && session.turns >= settings.max_session_turns)
        return compaction_reason::turns;
    return std::nullopt;
}

task<void> compaction::run(compaction_reason why) {
    const compaction_mode mode = settings().mode;
    compaction_begin begin{why, mode, session_.context_size, session_.turns};
    co_await send(message::event(begin));
    if (mode == compaction_mode::discard) {
        status_ = stop_reason::completed;
    } else if (settings().summarize_with) {
        co_await ask_program();
    } else {
        co_await summarize();
    }

    compaction_end end;
    end.reason = why;
    end.mode = mode;
    end.status = status_;
    if (ordinal_ > 0) end.attempt = ordinal_;
    if (status_ == stop_reason::failed && !why_.empty()) end.error_message = text(why_);
    if (status_ == stop_reason::completed) {
        owed_.clear();
        const context here = co_await this_coroutine();
        std::optional<message> summary;
        if (mode == compaction_mode::summarize) summary = stamped(context_summary(summary_), here);
        session_.begin_context(std::move(summary));
    }
    co_await send(message::event(std::move(end)));
}

/// Asks the model, on the old context and with the unchanged tools (R-ENG-73).
task<void> compaction::summarize() {
    const context here = co_await this_coroutine();
    const message prompt = stamped(message::user_text(text(settings().prompt)), here);
    std::vector<message> input = owed_;
    input.push_back(prompt);
    co_await send(message(prompt).trace_only());
    bool go_on = true;
    while (go_on)
        go_on = co_await attempt(input, prompt);
}

/// One request. True: there is to be another one, with `input`.
task<bool> compaction::attempt(std::vector<message>& input, const message& prompt) {
    const context here = co_await this_coroutine();
    const audience to = settings().forward_summary ? audience::trace_and_summary : audience::trace;
    model_run request(session_, out_, to);
    ++ordinal_;
    co_await request.pull(input, text(session_.options.thinking_level), nullptr);
    const stop_reason status = request.verdict().status;
    const bool stopped = here.stop_requested() || status == stop_reason::aborted;
    const bool again = !stopped && request.may_be_retried() && has_attempts_left();
    std::optional<std::chrono::milliseconds> wait;
    if (again) wait = retry_delay(session_.options.retry, ordinal_, request.wish_to_wait());
    request.close(input, ordinal_, wait, used_);

    if (status == stop_reason::completed) {
        owed_.clear();
        co_return co_await reject(request, input, prompt);
    }
    if (stopped) {
        status_ = stop_reason::aborted;
        co_return false;
    }
    why_ = request.verdict().why;
    if (!again) co_return false;
    co_return co_await pause_before_retry(request.wish_to_wait());
}

/// Takes the summary out of a committed answer, or makes a retry of one that has none (R-ENG-78). True: try
/// again.
task<bool> compaction::reject(const model_run& request, std::vector<message>& input, const message& prompt) {
    const context here = co_await this_coroutine();
    const std::vector<message>& answer = request.segments();
    const auto is_call = [](const message& m) {
        return m.kind() == kind::tool_call && m.stop() == stop_reason::completed;
    };
    const auto is_cut = [](const message& m) {
        return m.kind() == kind::text && m.stop() != stop_reason::completed;
    };
    const bool has_calls = std::any_of(answer.begin(), answer.end(), is_call);
    const bool is_broken_off = std::any_of(answer.begin(), answer.end(), is_cut);
    summary_ = extract_summary(answer);
    if (!has_calls && !is_broken_off && !summary_.empty()) {
        // A stop that came too late for this answer leaves it what it is (R-PRO-52).
        status_ = stop_reason::completed;
        co_return false;
    }

    const std::string fault = has_calls       ? "the answer calls a tool instead of summing up"
                              : is_broken_off ? "the summary is cut off"
                                              : "the answer holds no summary";
    why_ = fault;
    for (const message& call : answer) {
        if (!is_call(call)) continue;
        const text no("[tool error] no tool runs while the conversation is summed up");
        message repair = stamped(message::tool_call_output(no, call.tool_call_id())
                                     .with_provider_id(call.provider_id())
                                     .with_stop(stop_reason::failed),
                                 here);
        owed_.push_back(std::move(repair));
    }
    const std::vector<message> repairs = owed_; // all are owed before the first send() may suspend
    for (const message& each : repairs)
        co_await send(message(each).trace_only());
    if (here.stop_requested()) {
        status_ = stop_reason::aborted;
        co_return false;
    }
    if (!has_attempts_left()) co_return false;
    const bool waited = co_await pause_before_retry(std::nullopt);
    if (!waited) co_return false;
    const message note = stamped(
        message::user_text(text("That cannot be used: " + fault +
                                ". Answer with the summary as plain text between [summary] and [/summary].")),
        here);
    input = owed_;
    input.push_back(note);
    input.push_back(prompt);
    co_await send(message(note).trace_only());
    co_return true;
}

/// False: a stop request ended the wait, and the compaction.
task<bool> compaction::pause_before_retry(std::optional<std::chrono::milliseconds> wish) {
    const bool waited = co_await pause_.wait(retry_delay(session_.options.retry, ordinal_, wish));
    if (!waited) status_ = stop_reason::aborted;
    co_return waited;
}

/// The program's own summary. It is recorded as a request, so that a resume finds it where it looks for one.
task<void> compaction::ask_program() {
    const context here = co_await this_coroutine();
    std::optional<result<std::string>> answer;
    co_await unless_deaf(summarize_with(settings().summarize_with, session_.context, owed_, answer),
                         session_.grace);
    if (here.stop_requested()) {
        status_ = stop_reason::aborted;
        co_return;
    }
    if (answer && *answer) summary_ = extract_summary(answer->value());
    if (summary_.empty()) {
        why_ = answer && !*answer ? answer->error().message() : "the summarizer gave a blank text";
        co_return;
    }
    status_ = stop_reason::completed;
    request_end end;
    message body = message::assistant_text(text("[summary]" + summary_ + "[/summary]"));
    token_usage nothing{session_.usage, {}};
    co_await send(message::request_begin().trace_only());
    co_await send(std::move(body).trace_only());
    co_await send(message::event(nothing).trace_only());
    co_await send(message::event(std::move(end)).trace_only());
}

bool compaction::has_attempts_left() const {
    return ordinal_ <= settings().most.value_or(session_.options.retry.most);
}

task<void> compaction::send(message m) {
    const context here = co_await this_coroutine();
    if (!m.has_timestamp()) m.stamp(here.loop().wall_ms());
    const bool taken = co_await out_.send(std::move(m));
    static_cast<void>(taken); // false only when the stream is being dropped
}

} // namespace thalweg
