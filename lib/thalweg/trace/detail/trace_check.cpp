// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/trace_check.hpp>

#include <utility>

namespace thalweg::trace::detail {

namespace {

std::string named(const message& m) {
    std::string made(m.kind() == kind::session_meta ? "session_meta" : m.type_name().view());
    if (m.is_partial()) made.append(" ").append(to_string(m.frame()));
    if (!m.tool_call_id().empty()) made.append(" ").append(m.tool_call_id().view());
    return made;
}

bool is_user_input(const message& m) noexcept {
    const bool is_plain = m.kind() == kind::text || m.kind() == kind::image_url ||
                          m.kind() == kind::inline_data;
    return is_plain && m.role() == role::user;
}

// Events about the session that stand anywhere between.
bool is_fact(kind k) noexcept {
    switch (k) {
    case kind::session_meta:
    case kind::subagent:
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

} // namespace

void trace_check::add(severity how, std::string_view rule, words parts) {
    ++(how == severity::fault ? report_->fault_count : report_->note_count);
    if (report_->findings.size() >= check_report::max_kept) return;
    std::string sentence;
    for (const std::string_view part : parts)
        sentence += part;
    report_->findings.push_back({line_, how, std::string(rule), std::move(sentence)});
}

void trace_check::on_record(const message& m, std::size_t line) {
    line_ = line;
    if (!belongs(m)) return;
    const bool is_meta = m.kind() == kind::session_meta;
    const bool is_first = !std::exchange(has_started_, true);
    if (is_first && !is_meta)
        fault("R-PRO-41", {"the trace begins with ", named(m), ", not with session_meta"});
    if (!is_first && is_meta) fault("R-PRO-41", {"a second session_meta"});
    check_place(m);
    dispatch(m);
}

bool trace_check::belongs(const message& m) {
    if (m.is_partial())
        fault("R-TRC-10", {named(m), ": frames are for the stream only"});
    else if (!m.origin().empty())
        fault("R-TRC-10",
              {named(m), " of the child session ", m.origin().front(), ", which has a trace of its own"});
    else
        return true;
    return false;
}

void trace_check::check_place(const message& m) {
    // User input and compactions are where another process may begin; what that means is said there.
    const bool may_begin = is_user_input(m) || m.kind() == kind::compaction_begin ||
                           m.kind() == kind::compaction_end;
    if (std::exchange(in_tail_, false) && m.kind() != kind::request_end && !may_begin) {
        fault("D-04", {named(m), " between token_usage and request_end"});
    }
    if (std::exchange(is_closed_, false)) {
        fault("R-ENG-75", {named(m), " behind the completed compaction, which closes the file"});
    }
    const bool may_follow_an_end = is_user_input(m) || is_fact(m.kind()) ||
                                   m.kind() == kind::compaction_begin;
    if (may_follow_an_end) return;
    if (phase_ == phase::ended) fault("R-ENG-37", {named(m), " behind abort, which is the last of its run"});
    if (phase_ == phase::limit) fault("R-ENG-38", {named(m), " behind the notice at the turn limit"});
}

void trace_check::dispatch(const message& m) {
    switch (m.kind()) {
    case kind::request_begin: return on_request_begin();
    case kind::request_end: return on_request_end(m);
    case kind::approval_decision: return on_decision(m);
    case kind::token_usage: return on_usage(m);
    case kind::abort: return on_abort();
    case kind::compaction_begin: return on_compaction_begin(m);
    case kind::compaction_end: return on_compaction_end(m);
    case kind::tool_call_output: return on_output(m);
    default: break;
    }
    if (is_fact(m.kind())) return;
    if (is_user_input(m)) return on_input(m);
    on_model(m);
}

// Whatever the driver records next settles what it owed: a decision, a refused call's output.
void trace_check::on_driver(const message& m) {
    if (!awaiting_decision_.empty()) {
        calls_[awaiting_decision_].state = call_state::skipped;
        debt_ = "no decision about the call " + awaiting_decision_.str();
        awaiting_decision_ = text();
    }
    if (!awaiting_refusal_.empty()) {
        fault("R-ENG-24", {named(m), " where the output of the refused call ", awaiting_refusal_, " is due"});
        awaiting_refusal_ = text();
    }
}

// A prompt, a summary, steering, or a note of a compaction. In the middle of something it can only be the
// first record of a process that resumed the session.
void trace_check::on_input(const message& m) {
    if (in_compaction_) {
        if (phase_ == phase::request) fault("R-ENG-71", {named(m), " of the user inside a request"});
        return;
    }
    if (phase_ == phase::request) {
        end_of_process("inside a request");
    } else if (phase_ == phase::idle) {
        check_outputs(severity::note, "user input");
        if (last_failed_)
            end_of_process("behind a request that is not completed, before the run's end");
        else if (!debt_.empty())
            end_of_process("before the run's abort");
    }
    phase_ = phase::idle;
}

void trace_check::end_of_process(std::string_view what) {
    note("R-TRC-32", {"the process that wrote this ended ", what});
    calls_.clear();
    debt_.clear();
    last_failed_ = false;
    awaiting_decision_ = awaiting_refusal_ = text();
}

void trace_check::on_model(const message& m) {
    on_driver(m);
    if (phase_ == phase::request) {
        if (m.kind() == kind::tool_call) on_call(m);
        return;
    }
    const bool is_limit_notice = m.kind() == kind::text && m.stop() == stop_reason::failed && !in_compaction_;
    if (is_limit_notice && phase_ == phase::idle) {
        check_outputs(severity::fault, "the notice at the turn limit");
        phase_ = phase::limit;
    } else if (m.kind() != kind::other_model && phase_ == phase::idle) {
        fault("R-ENG-10", {named(m), " outside of a request"});
    }
}

void trace_check::on_call(const message& m) {
    ++report_->calls;
    const text& id = m.tool_call_id();
    if (!used_ids_.insert(id).second) fault("R-PRO-13", {named(m), " uses an id for the second time"});
    call& made = calls_[id] = call();
    if (m.stop() != stop_reason::completed && m.stop() != stop_reason::none)
        made.state = call_state::closure_only;
    else if (in_compaction_)
        made.state = call_state::rejected;
    else
        awaiting_decision_ = id;
}

void trace_check::on_decision(const message& m) {
    const text& id = m.tool_call_id();
    const bool is_due = awaiting_decision_ == id && !id.empty();
    if (is_due) awaiting_decision_ = text();
    on_driver(m);
    const auto found = calls_.find(id);
    if (found == calls_.end())
        fault("R-ENG-23", {named(m), " without its tool_call before it"});
    else
        decide(m, found->second, is_due);
}

void trace_check::decide(const message& m, call& about, bool is_due) {
    if (about.state == call_state::closure_only) {
        return fault("R-PRO-28", {named(m), " about a call that is closure only"});
    }
    if (about.state == call_state::rejected) {
        return fault("R-ENG-78", {named(m), " about a call that answers a compaction"});
    }
    if (about.has_output) {
        fault("R-ENG-23", {named(m), " behind the output of its call"});
    } else if (about.state == call_state::skipped) {
        fault("R-ENG-21", {named(m), " behind later messages of the model"});
        debt_.clear();
    } else if (!is_due) {
        return fault("R-ENG-20", {named(m), " for the second time"});
    }
    const bool is_allowed = m.decision() == decision::allow;
    about.state = is_allowed ? call_state::allowed : call_state::refused;
    if (!is_allowed && !about.has_output) awaiting_refusal_ = m.tool_call_id();
}

void trace_check::on_output(const message& m) {
    const text& id = m.tool_call_id();
    const auto found = calls_.find(id);
    if (found == calls_.end()) {
        if (phase_ != phase::ended) fault("R-ENG-34", {named(m), " for no call of this turn"});
        return;
    }
    call& of = found->second;
    if (std::exchange(of.has_output, true)) return fault("R-ENG-40", {"a second ", named(m)});
    const bool is_aborted = m.stop() == stop_reason::aborted;
    switch (of.state) {
    case call_state::closure_only: return fault("R-PRO-28", {named(m), " for a call that is closure only"});
    case call_state::asked:
    case call_state::skipped: // only the placeholder of an interrupted run (D-20)
        if (is_aborted && of.is_committed && phase_ == phase::idle)
            debt_ = "the placeholder output of the call " + id.str();
        else
            fault("R-ENG-23", {named(m), " before the decision about its call"});
        return;
    case call_state::refused:
        if (awaiting_refusal_ == id) awaiting_refusal_ = text();
        if (!is_aborted) fault("R-ENG-24", {named(m), " of a refused call is not aborted"});
        return;
    case call_state::allowed:
    case call_state::rejected: return;
    }
}

void trace_check::on_request_begin() {
    on_driver(message::request_begin());
    if (phase_ == phase::request) fault("R-ENG-10", {"request_begin inside a request"});
    check_outputs(severity::fault, "request_begin");
    if (!debt_.empty())
        fault("D-20", {"request_begin, although the run has ", debt_, ", which only an interrupt explains"});
    ++report_->requests;
    calls_.clear();
    debt_.clear();
    usages_ = 0;
    phase_ = phase::request;
}

void trace_check::on_request_end(const message& m) {
    on_driver(m);
    if (phase_ != phase::request) return fault("R-ENG-10", {"request_end without request_begin"});
    const auto* end = m.event_if<request_end>();
    const bool is_completed = end != nullptr && end->status == stop_reason::completed;
    if (is_completed && usages_ == 0) fault("R-ENG-16", {"a completed request without token_usage"});
    if (!is_completed && usages_ != 0) fault("R-ENG-16", {"token_usage in a request that is not completed"});
    for (auto& [id, made] : calls_)
        made.is_committed = is_completed;
    last_failed_ = !is_completed && !in_compaction_;
    phase_ = phase::idle;
}

void trace_check::on_usage(const message& m) {
    on_driver(m);
    if (phase_ != phase::request) return fault("R-ENG-16", {"token_usage outside of a request"});
    if (++usages_ > 1) fault("R-ENG-16", {"a second token_usage in one request"});
    in_tail_ = true;
    const auto* usage = m.event_if<token_usage>();
    if (usage == nullptr) return;
    if (usage->session.total < session_total_ + usage->request.total) {
        fault("R-ENG-17", {"token_usage: the session's total of ", std::to_string(usage->session.total),
                           " is less than the ", std::to_string(session_total_), " before and the ",
                           std::to_string(usage->request.total), " of this request"});
    }
    session_total_ = usage->session.total;
}

void trace_check::on_compaction_begin(const message& m) {
    const auto* begin = m.event_if<compaction_begin>();
    const bool is_asked_for = begin != nullptr && begin->reason == compaction_reason::manual;
    const bool is_open = phase_ == phase::request || !debt_.empty() || !awaiting_decision_.empty() ||
                         !awaiting_refusal_.empty();
    if (is_asked_for && is_open) { // no run goes on beside it: its process has ended, or it was dropped
        check_outputs(severity::note, "compaction_begin");
        end_of_process(phase_ == phase::request ? "inside a request" : "before the run's abort");
        phase_ = phase::idle;
    }
    on_driver(m);
    if (in_compaction_) fault("R-ENG-71", {"compaction_begin inside a compaction"});
    if (phase_ == phase::request) fault("R-ENG-71", {"compaction_begin inside a request"});
    if (phase_ == phase::idle)
        check_outputs(is_asked_for ? severity::note : severity::fault, "compaction_begin");
    calls_.clear();
    in_compaction_ = true;
    phase_ = phase::idle;
}

// A resumed process closes the compaction of one that died as failed, wherever that was (R-TRC-37).
void trace_check::on_compaction_end(const message& m) {
    on_driver(m);
    if (!in_compaction_) return fault("R-ENG-71", {"compaction_end without compaction_begin"});
    const auto* end = m.event_if<compaction_end>();
    const bool is_failed = end != nullptr && end->status == stop_reason::failed;
    if (phase_ == phase::request) {
        if (is_failed)
            end_of_process("inside a compaction");
        else
            fault("R-ENG-71", {"compaction_end inside a request"});
        phase_ = phase::idle;
    }
    check_outputs(is_failed ? severity::note : severity::fault, "compaction_end");
    in_compaction_ = false;
    is_closed_ = end != nullptr && end->status == stop_reason::completed;
}

void trace_check::on_abort() {
    on_driver(message::event(run_abort()));
    if (phase_ == phase::request) fault("R-ENG-35", {"abort inside a request"});
    if (in_compaction_) fault("R-ENG-37", {"abort inside a compaction"});
    for (const auto& [id, made] : calls_) {
        if (made.is_committed && !made.has_output && made.state != call_state::closure_only) {
            fault("R-ENG-40", {"abort, but the committed call ", id, " has no output"});
        }
    }
    calls_.clear();
    debt_.clear();
    last_failed_ = false;
    in_compaction_ = false;
    phase_ = phase::ended;
}

void trace_check::check_outputs(severity how, std::string_view what) {
    for (auto& [id, made] : calls_) {
        const bool is_dispatched = made.state == call_state::allowed || made.state == call_state::refused;
        const bool is_due = is_dispatched || (made.is_committed && made.state != call_state::closure_only);
        if (!is_due || std::exchange(made.has_output, true)) continue;
        const std::string_view why = how == severity::note ? "; the process ended before" : "";
        add(how, "R-ENG-14", {what, ", but the call ", id, " has no output", why});
    }
}

void trace_check::on_end() {
    if (!has_started_) return note("R-PRO-41", {"there is no record"});
    if (phase_ == phase::request) return note("R-TRC-32", {"the trace ends inside a request"});
    if (in_compaction_) return note("R-TRC-37", {"the trace ends inside a compaction"});
    check_outputs(severity::note, "the trace ends");
    if (last_failed_)
        note("R-TRC-32", {"the trace ends behind a request that is not completed, without abort"});
    if (!debt_.empty()) note("D-20", {"the trace ends without abort, although the run has ", debt_});
}

} // namespace thalweg::trace::detail
