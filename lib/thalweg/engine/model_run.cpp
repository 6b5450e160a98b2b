// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/model_run.hpp>

#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/grace.hpp>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

namespace thalweg {

task<void> model_run::pull(std::span<const message> input, text thinking_level, call_handler* calls) {
    const context here = co_await this_coroutine();
    loop_ = &here.loop();
    message begin = message::request_begin();
    begin.stamp(loop_->wall_ms());
    if (address(begin)) {
        const bool taken = co_await out_.send(std::move(begin));
        static_cast<void>(taken); // false only when the stream is being dropped; the same below
    }
    co_await unless_deaf(drive(input, std::move(thinking_level), calls), session_.grace);
    if (!verdict_) { // the model, or who was told of a call, was deaf and has been dropped
        framer_.close_as(stop_reason::aborted);
        verdict_ = answer_framer::verdict{stop_reason::aborted, {}};
    }
    co_await flush();
    // Who was dropped behind the verdict has not told of the last call, which may be part of the context now.
    // This does not wait: a stop was requested, so nobody is asked any more (R-ENG-25).
    auto call = framer_.finished_call();
    if (call && calls != nullptr && here.stop_requested()) co_await calls->on_call(std::move(*call));
}

/// The model's next delta. What has ended is complete as soon as the model makes the reader wait.
class model_run::settling_peek {
public:
    settling_peek(stream<delta, model_outcome>& answer, model_run& run) noexcept
        : inner_(answer.peek()), run_(run) {}
    settling_peek(const settling_peek&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return inner_.await_ready(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> reader) {
        const bool waits = inner_.await_suspend(reader);
        if (waits) run_.settle();
        return waits;
    }
    delta* await_resume() { return inner_.await_resume(); }

private:
    stream<delta, model_outcome>::awaiter<false> inner_;
    model_run& run_;
};

/// Past the budget, since nobody can wait here: two messages a block, and the block itself has waited its
/// turn.
void model_run::settle() {
    framer_.settle();
    std::vector<message>& pending = framer_.pending();
    for (message& m : pending) {
        if (!address(m)) continue;
        m.stamp(loop_->wall_ms());
        out_.post(std::move(m));
    }
    pending.clear();
}

/// Pulls the model's answer to its end.
task<void> model_run::drive(std::span<const message> input, text thinking_level, call_handler* calls) {
    try {
        model_request asked(session_.context, input, session_.tools, text(session_.options.system),
                            std::move(thinking_level));
        asked = std::move(asked).with_response_schema(session_.response_schema);
        auto answer = session_.provider.generate(std::move(asked));
        while (delta* piece = co_await settling_peek(answer, *this)) {
            if (session_.sends_facts && to_ == audience::everyone && !std::exchange(has_begun_, true))
                framer_.pending().push_back(message::response_begin());
            bool consumed = false;
            while (!consumed) {
                consumed = framer_.step(*piece);
                std::vector<message>& pending = framer_.pending();
                // Not flush(): a coroutine for each delta would cost more than the delta.
                for (; sent_ < pending.size(); ++sent_) {
                    if (!address(pending[sent_])) continue;
                    pending[sent_].stamp(loop_->wall_ms());
                    const bool taken = co_await out_.send(std::move(pending[sent_]));
                    if (!taken) break;
                }
                pending.clear();
                sent_ = 0;
                auto call = framer_.finished_call();
                if (call && calls != nullptr) co_await calls->on_call(std::move(*call));
            }
        }
        outcome_ = std::move(answer.result());
    } catch (const std::exception& e) {
        outcome_ = thrown(e.what());
    } catch (...) {
        outcome_ = thrown("something that is no std::exception");
    }
    verdict_ = framer_.finish(*outcome_);
    co_await flush();
    auto call = framer_.finished_call();
    if (call && calls != nullptr) co_await calls->on_call(std::move(*call));
}

model_outcome model_run::thrown(const char* what) {
    has_thrown_ = true;
    return model_outcome::failed((session_.quotes_faults ? "" : "the provider threw: ") + std::string(what));
}

task<void> model_run::flush() {
    std::vector<message>& pending = framer_.pending();
    // Counted behind each send: who is dropped while it waits here leaves the rest to be sent later.
    for (; sent_ < pending.size(); ++sent_) {
        if (!address(pending[sent_])) continue;
        pending[sent_].stamp(loop_->wall_ms());
        const bool taken = co_await out_.send(std::move(pending[sent_]));
        if (!taken) break;
    }
    pending.clear();
    sent_ = 0;
}

/// Says on the message whom it is for; false if for nobody.
bool model_run::address(message& m) {
    if (to_ == audience::everyone) return true;
    if (to_ == audience::trace_and_summary) {
        if (m.kind() == kind::partial_text) return text_was_framed_ = true;
        if (m.kind() == kind::text && !text_was_framed_) return true;
    }
    if (m.is_partial()) return false;
    m = std::move(m).trace_only();
    return true;
}

bool model_run::may_be_retried() const {
    const stop_reason status = verdict_->status;
    const bool may_pass = status == stop_reason::failed || status == stop_reason::timeout ||
                          status == stop_reason::malformed;
    return may_pass && !is_hopeless();
}

bool model_run::is_hopeless() const {
    return session_.options.retry.fail_fast && outcome_ && outcome_->is_permanent();
}

std::optional<std::chrono::milliseconds> model_run::wish_to_wait() const {
    return outcome_ ? outcome_->wait() : std::nullopt;
}

void model_run::close(std::span<const message> input, int ordinal,
                      std::optional<std::chrono::milliseconds> retry_in, token_counts& used,
                      std::optional<int> most) {
    request_end end;
    end.status = verdict_->status;
    end.max_attempts = most;
    end.is_outside = has_thrown_;
    if (is_completed()) {
        const token_counts& counted = framer_.usage();
        session_.usage += std::exchange(session_.unreported_usage, {});
        session_.usage += counted;
        used += counted;
        if (outcome_ && outcome_->usage()) { // of attempts inside the provider
            session_.usage += *outcome_->usage();
            used += *outcome_->usage();
        }
        session_.note_total(counted.total);
        if (to_ == audience::everyone) ++session_.turns;
        if (ordinal > 1) end.attempt = ordinal;
        end.why = outcome_ ? outcome_->why() : finish::end;
        message usage = message::event(token_usage{session_.usage, counted});
        usage.stamp(loop_->wall_ms());
        out_.post(std::move(usage));
        commit(input);
    } else {
        if (outcome_ && outcome_->usage()) {
            session_.unreported_usage += *outcome_->usage();
            used += *outcome_->usage();
        }
        if (!verdict_->why.empty()) end.error_message = text(verdict_->why);
        end.attempt = ordinal;
        if (retry_in) end.retry_in_ms = retry_in->count();
    }
    message last = message::event(std::move(end));
    last.stamp(loop_->wall_ms());
    if (to_ != audience::everyone) last = std::move(last).trace_only();
    out_.post(std::move(last));
}

/// A call that was only closed has no place in the context (R-PRO-28).
void model_run::commit(std::span<const message> input) {
    std::vector<message>& context = session_.context;
    context.insert(context.end(), input.begin(), input.end());
    std::copy_if(segments().begin(), segments().end(), std::back_inserter(context), [](const message& m) {
        return m.kind() != kind::tool_call || m.stop() == stop_reason::completed;
    });
}

} // namespace thalweg
