// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/strand_check.hpp>

#include <utility>

namespace thalweg::detail {

namespace {

using rule = check_log::rule;

// Events that may stand wherever no rule of their own forbids it.
bool is_fact(kind k) noexcept {
    switch (k) {
    case kind::tool_list_ready:
    case kind::mcp_connect_begin:
    case kind::mcp_connect_end:
    case kind::goal_finished:
    case kind::trace_fault:
    case kind::notice:
    case kind::other_event: return true;
    default: return false;
    }
}

bool is_user_input(const message& m) noexcept {
    const bool is_plain = m.kind() == kind::text || m.kind() == kind::image_url ||
                          m.kind() == kind::inline_data;
    return is_plain && m.role() == role::user;
}

bool is_output(kind k) noexcept {
    return k == kind::tool_call_output || k == kind::partial_tool_call_output;
}

} // namespace

void strand_check::on_nested(const message& m, check_log& log) {
    if (in_tail_) {
        log.add(rule::tail, "D-04", {describe(m), " between token_usage and request_end"});
        in_tail_ = false;
    }
    if (phase_ == phase::ended) log.add(rule::end, "R-ENG-37", {describe(m), " behind abort"});
}

void strand_check::on_message(const message& m, check_log& log) {
    check_head(m, log);
    if (is_before_boundary(m)) return;
    if (std::exchange(in_tail_, false) && m.kind() != kind::request_end) {
        log.add(rule::tail, "D-04", {describe(m), " between token_usage and request_end"});
    }
    const bool is_next_prompt = !origin_.empty() && is_user_input(m);
    if (is_next_prompt && (phase_ == phase::ended || phase_ == phase::limit)) start_run();
    if (phase_ == phase::ended)
        log.add(rule::end, "R-ENG-37", {describe(m), " behind abort"});
    else if (phase_ == phase::limit && !is_fact(m.kind())) {
        log.add(rule::end, "R-ENG-38", {describe(m), " behind the notice at the turn limit"});
    }
    dispatch(m, log);
}

void strand_check::check_head(const message& m, check_log& log) {
    const bool is_first = !std::exchange(has_started_, true);
    const bool is_meta = m.kind() == kind::session_meta;
    if (origin_.empty()) {
        if (is_meta) log.add(rule::head, "R-PRO-41", {"session_meta on the session's own stream"});
    } else if (is_first && !is_meta && may_be_known_) {
        is_joined_ = true;
    } else if (is_first != is_meta) {
        log.add(rule::head, "R-PRO-41",
                {is_meta ? "a second session_meta" : describe(m),
                 is_meta ? "" : " before the child's session_meta"});
    }
}

bool strand_check::is_before_boundary(const message& m) {
    const bool is_boundary = m.kind() == kind::request_begin || m.kind() == kind::compaction_begin ||
                             is_user_input(m);
    is_joined_ = is_joined_ && !is_boundary;
    return is_joined_;
}

void strand_check::start_run() {
    phase_ = phase::idle;
    last_failed_ = false;
    debt_.clear();
    calls_.clear();
    model_ = {};
    awaiting_decision_ = awaiting_refusal_ = text();
}

void strand_check::dispatch(const message& m, check_log& log) {
    switch (m.kind()) {
    case kind::request_begin: return on_request_begin(m, log);
    case kind::request_end: return on_request_end(m, log);
    case kind::approval_decision: return on_decision(m, log);
    case kind::token_usage: return on_usage(m, log);
    case kind::abort: return on_abort(m, log);
    case kind::compaction_begin: return on_compaction_begin(m, log);
    case kind::compaction_end: return on_compaction_end(m, log);
    case kind::subagent: return log.add(rule::trace_only, "R-ENG-82", {"subagent is for the trace only"});
    case kind::session_meta: return;
    default: break;
    }
    if (is_fact(m.kind())) return;
    if (is_output(m.kind())) return on_output(m, log);
    if (is_user_input(m)) return on_input(m, log);
    if (m.is_partial()) return on_model_frame(m, log);
    on_model_complete(m, log);
}

// Whatever the driver does next settles what it owed: a decision, a refusal's output.
void strand_check::on_driver(const message* m, check_log& log) {
    if (!awaiting_decision_.empty()) {
        calls_[awaiting_decision_].state = call_state::skipped;
        debt_ = "no decision for tool_call " + awaiting_decision_.str();
        awaiting_decision_ = text();
    }
    if (!awaiting_refusal_.empty()) {
        log.add(rule::denial, "R-ENG-24",
                {describe(m), " where the output of the refused call ", awaiting_refusal_, " is due"});
        awaiting_refusal_ = text();
    }
}

void strand_check::on_model_frame(const message& m, check_log& log) {
    on_driver(&m, log);
    if (phase_ == phase::compaction) {
        if (m.kind() != kind::partial_text) {
            log.add(rule::compaction, "R-ENG-71", {describe(m), " during a compaction"});
        }
        // A segment that failed belongs to a failed attempt; the next one may come as a complete text.
        summary_framed_ = m.frame() != frame::stop || m.stop() == stop_reason::completed;
    } else if (phase_ != phase::request) {
        if (m.kind() != kind::partial_text)
            log.add(rule::request, "R-ENG-10", {describe(m), " outside of a request"});
        else if (m.frame() == frame::start)
            check_outputs(m, log);
        else if (m.frame() == frame::stop && m.stop() != stop_reason::failed) {
            log.add(rule::request, "R-ENG-38", {describe(m), " outside of a request, and not failed"});
        }
    }
    model_.on_frame(m, log, phase_ != phase::compaction);
}

void strand_check::on_model_complete(const message& m, check_log& log) {
    on_driver(&m, log);
    const bool was_framed = model_.is_pending();
    model_.on_complete(m, log);
    if (phase_ == phase::compaction) {
        if (m.kind() != kind::text || summary_framed_) {
            log.add(rule::compaction, "R-ENG-71", {describe(m), " during a compaction"});
        }
    } else if (phase_ == phase::request) {
        if (m.kind() == kind::tool_call) on_call(m, log);
    } else if (m.kind() == kind::text && was_framed && m.stop() == stop_reason::failed) {
        if (phase_ == phase::idle) phase_ = phase::limit;
    } else if (m.kind() != kind::other_model) {
        log.add(rule::request, "R-ENG-10", {describe(m), " outside of a request"});
    }
}

void strand_check::on_call(const message& m, check_log& log) {
    const text& id = m.tool_call_id();
    if (!used_ids_.insert(id).second)
        log.add(rule::pairing, "R-PRO-13", {describe(m), " uses an id for the second time"});
    call& made = calls_[id] = call();
    if (m.stop() == stop_reason::completed || m.stop() == stop_reason::none)
        awaiting_decision_ = id;
    else
        made.state = call_state::closure_only;
}

void strand_check::on_decision(const message& m, check_log& log) {
    const text& id = m.tool_call_id();
    const bool is_due = awaiting_decision_ == id && !id.empty();
    if (is_due) awaiting_decision_ = text();
    on_driver(&m, log);
    model_.on_other(&m, log);
    const auto found = calls_.find(id);
    if (found == calls_.end()) {
        log.add(rule::approval, "R-ENG-23", {describe(m), " without its tool_call before it"});
        return;
    }
    call& decided = found->second;
    if (decided.state == call_state::closure_only) {
        log.add(rule::approval, "R-PRO-28", {describe(m), " for a call that is closure only"});
        return;
    }
    if (decided.has_output || decided.output.is_pending()) {
        log.add(rule::approval, "R-ENG-23", {describe(m), " behind output of its call"});
    } else if (decided.state == call_state::skipped) {
        log.add(rule::approval, "R-ENG-21", {describe(m), " behind later messages of the model"});
        debt_.clear();
    } else if (!is_due) {
        log.add(rule::approval, "R-ENG-20", {describe(m), " for the second time"});
        return;
    }
    const bool allowed = m.decision() == decision::allow;
    decided.state = allowed ? call_state::allowed : call_state::refused;
    if (!allowed && !decided.has_output) awaiting_refusal_ = id;
}

void strand_check::on_output(const message& m, check_log& log) {
    const text& id = m.tool_call_id();
    const auto found = calls_.find(id);
    if (found == calls_.end()) {
        log.add(rule::pairing, "R-ENG-34", {describe(m), " for no call of this turn"});
        return;
    }
    call& of = found->second;
    if (of.has_output)
        log.add(rule::pairing, "R-ENG-40", {describe(m), " behind the call's complete output"});
    switch (of.state) {
    case call_state::closure_only:
        log.add(rule::pairing, "R-PRO-28", {describe(m), " for a call that is closure only"});
        break;
    case call_state::asked:
    case call_state::skipped: on_placeholder(m, log); break;
    case call_state::refused:
        if (awaiting_refusal_ == id) awaiting_refusal_ = text();
        if (m.is_partial())
            log.add(rule::denial, "R-ENG-24", {describe(m), " for a call that was refused"});
        else if (m.stop() != stop_reason::aborted) {
            log.add(rule::denial, "R-ENG-24", {describe(m), " of a refused call is not aborted"});
        }
        break;
    case call_state::allowed: break;
    }
    if (m.is_partial())
        of.output.on_frame(m, log);
    else
        of.output.on_complete(m, log);
    if (!m.is_partial()) of.has_output = true;
}

// Output of a call without decision: only as the placeholder of an interrupted run (D-20).
void strand_check::on_placeholder(const message& m, check_log& log) {
    const bool is_placeholder = !m.is_partial() && m.stop() == stop_reason::aborted;
    if (is_placeholder && phase_ == phase::idle) {
        debt_ = "the placeholder output of tool_call " + m.tool_call_id().str();
        return;
    }
    log.add(rule::approval, "R-ENG-23", {describe(m), " before the decision about its call"});
}

void strand_check::on_input(const message& m, check_log& log) {
    if (phase_ == phase::request) {
        log.add(rule::turn_boundary, "R-ENG-61", {"user input (", describe(m), ") inside a request"});
    } else if (phase_ == phase::compaction) {
        log.add(rule::compaction, "R-ENG-71", {"user input (", describe(m), ") during a compaction"});
    } else {
        check_outputs(m, log);
        model_.on_other(&m, log);
    }
}

void strand_check::on_request_begin(const message& m, check_log& log) {
    on_driver(&m, log);
    model_.on_other(&m, log);
    if (phase_ == phase::request) log.add(rule::request, "R-ENG-10", {"request_begin inside a request"});
    if (phase_ == phase::compaction)
        log.add(rule::compaction, "R-ENG-71", {"request_begin during a compaction"});
    check_outputs(m, log);
    check_no_debt(&m, log);
    calls_.clear();
    usages_ = 0;
    phase_ = phase::request;
}

void strand_check::on_request_end(const message& m, check_log& log) {
    on_driver(&m, log);
    model_.on_other(&m, log);
    if (phase_ != phase::request) {
        const bool compacting = phase_ == phase::compaction;
        log.add(compacting ? rule::compaction : rule::request, compacting ? "R-ENG-71" : "R-ENG-10",
                {"request_end without request_begin"});
        return;
    }
    const auto* end = m.event_if<request_end>();
    const bool completed = end != nullptr && end->status == stop_reason::completed;
    if (completed && usages_ == 0)
        log.add(rule::usage, "R-ENG-16", {"a completed request without token_usage"});
    if (!completed && usages_ != 0)
        log.add(rule::usage, "R-ENG-16", {"token_usage in a request that is not completed"});
    for (auto& [id, made] : calls_)
        made.is_committed = completed;
    last_failed_ = !completed;
    phase_ = phase::idle;
}

void strand_check::on_usage(const message& m, check_log& log) {
    on_driver(&m, log);
    model_.on_other(&m, log);
    summary_framed_ = false;
    if (phase_ == phase::request) {
        if (++usages_ > 1) log.add(rule::usage, "R-ENG-16", {"a second token_usage in one request"});
        in_tail_ = true;
    } else if (phase_ != phase::compaction) {
        log.add(rule::usage, "R-ENG-16", {"token_usage outside of a request"});
    }
}

void strand_check::on_compaction_begin(const message& m, check_log& log) {
    on_driver(&m, log);
    model_.on_other(&m, log);
    if (phase_ == phase::compaction)
        log.add(rule::compaction, "R-ENG-71", {"compaction_begin during a compaction"});
    if (phase_ == phase::request)
        log.add(rule::compaction, "R-ENG-71", {"compaction_begin inside a request"});
    check_outputs(m, log);
    summary_framed_ = false;
    phase_ = phase::compaction;
}

void strand_check::on_compaction_end(const message& m, check_log& log) {
    model_.on_other(&m, log);
    if (phase_ != phase::compaction) {
        log.add(rule::compaction, "R-ENG-71", {"compaction_end without compaction_begin"});
    } else {
        phase_ = phase::idle;
    }
}

void strand_check::on_abort(const message& m, check_log& log) {
    on_driver(&m, log);
    model_.on_other(&m, log);
    if (phase_ == phase::request) log.add(rule::request, "R-ENG-35", {"abort inside a request"});
    if (phase_ == phase::compaction) log.add(rule::compaction, "R-ENG-37", {"abort during a compaction"});
    for (auto& [id, made] : calls_) {
        made.output.on_other(&m, log);
        if (made.is_committed && !made.has_output && made.state != call_state::closure_only) {
            log.add(rule::pairing, "R-ENG-40", {"abort, but the committed tool_call ", id, " has no output"});
        }
    }
    calls_.clear();
    debt_.clear();
    last_failed_ = false;
    phase_ = phase::ended;
}

void strand_check::check_outputs(const message& m, check_log& log) {
    for (auto& [id, made] : calls_) {
        const bool is_dispatched = made.state == call_state::allowed || made.state == call_state::refused;
        const bool is_due = is_dispatched || (made.is_committed && made.state != call_state::closure_only);
        if (is_due && !made.has_output) {
            log.add(rule::turn_boundary, "R-ENG-14",
                    {describe(m), " before the output of tool_call ", id, " is complete"});
            made.has_output = true; // said once
        }
    }
}

void strand_check::check_no_debt(const message* m, check_log& log) {
    if (debt_.empty()) return;
    log.add(rule::approval, "D-20",
            {describe(m), " although the run has ", debt_, ", which only an interrupt explains"});
    debt_.clear();
}

void strand_check::on_finish(check_log& log) {
    on_driver(nullptr, log);
    model_.on_other(nullptr, log);
    if (phase_ == phase::request) log.add(rule::request, "R-ENG-10", {"the run ends inside a request"});
    if (phase_ == phase::compaction)
        log.add(rule::compaction, "R-ENG-71", {"the run ends during a compaction"});
    if (in_tail_) log.add(rule::tail, "R-ENG-15", {"the run ends between token_usage and request_end"});
    for (auto& [id, made] : calls_) {
        made.output.on_other(nullptr, log);
        if (!made.has_output && made.state != call_state::closure_only) {
            log.add(rule::pairing, "R-ENG-24", {"the run ends, but tool_call ", id, " has no output"});
        }
    }
    check_no_debt(nullptr, log);
    if (last_failed_)
        log.add(rule::end, "R-ENG-37", {"the last request is not completed, and no abort ends the run"});
    in_tail_ = false;
    start_run();
}

} // namespace thalweg::detail
