// SPDX-License-Identifier: BSL-1.0

#include "simulation/watch.hpp"

#include <thalweg/trace/check.hpp>

#include <utility>

namespace thalweg::simulation {

namespace {

bool are_same(const message& a, const message& b) {
    if (a.kind() != b.kind() || a.timestamp() != b.timestamp()) return false;
    if (a.content() != b.content() || a.tool_call_id() != b.tool_call_id() || a.stop() != b.stop())
        return false;
    if (const auto* end = a.event_if<request_end>()) return end->status == b.event_if<request_end>()->status;
    if (const auto* used = a.event_if<token_usage>())
        return used->session == b.event_if<token_usage>()->session;
    return a.decision() == b.decision();
}

bool may_be_unshown(const message& m) {
    switch (m.kind()) {
    case kind::session_meta:
    case kind::tool_list_ready: // the head of a file
    case kind::subagent: return true;
    case kind::text:
    case kind::image_url: return m.role() == role::user; // a prompt, a summary
    default: return false;
    }
}

} // namespace

void watch::on_message(const message& m, bool check_discipline) {
    had_any_ = true;
    last_ = m.kind();
    if (check_discipline) {
        checker_.feed(m);
        if (checker_.violation_count() > reported_) {
            reported_ = checker_.violation_count();
            complain_("stream: " + checker_.violations().back().text);
        }
        if (!m.origin().empty()) return; // a child's
    }
    follow(m);
    if (!m.is_partial() && m.kind() != kind::session_meta) match(m);
}

void watch::follow(const message& m) {
    using p = simulation::phase;
    switch (m.kind()) {
    case kind::request_begin: phase_ = p::asked; return;
    case kind::request_end: {
        const auto* end = m.event_if<request_end>();
        phase_ = end->retry_in_ms ? p::retry_wait : running_.empty() ? p::boundary : p::tools;
        return;
    }
    case kind::compaction_begin: phase_ = p::compacting; return;
    case kind::compaction_end: phase_ = p::boundary; return;
    case kind::approval_decision:
        if (m.decision() == decision::allow) running_.insert(m.tool_call_id().str());
        return;
    case kind::tool_call_output:
        running_.erase(m.tool_call_id().str());
        if (running_.empty() && phase_ == p::tools) phase_ = p::boundary;
        return;
    default:
        if (phase_ == p::asked && m.is_partial()) phase_ = p::answering;
        return;
    }
}

/// The place of `m` in the trace, behind that of what was shown before.
void watch::match(const message& m) {
    const auto& files = records_->files();
    std::size_t file = file_;
    std::size_t record = record_;
    const bool was_compacting = in_compaction_;
    for (; file < files.size(); ++file, record = 0) {
        for (; record < files[file].size(); ++record) {
            const message& found = files[file][record];
            if (are_same(found, m)) {
                file_ = file;
                record_ = record + 1;
                if (m.kind() == kind::compaction_begin) in_compaction_ = true;
                if (m.kind() == kind::compaction_end) in_compaction_ = false;
                return;
            }
            pass_record(found);
        }
        in_compaction_ = false;
    }
    in_compaction_ = was_compacting;
    if (!records_->has_lost())
        complain_("stream against trace: a message of type " + std::string(to_string(m.kind())) +
                  " was shown before it was recorded, or out of order: " + to_json(m));
}

void watch::pass_record(const message& record) {
    if (record.kind() == kind::compaction_begin) in_compaction_ = true;
    const bool is_in_order = in_compaction_ || may_be_unshown(record) || is_loose_ || records_->has_lost();
    if (record.kind() == kind::compaction_end) in_compaction_ = false;
    if (!is_in_order) complain_("stream against trace: recorded, but not shown: " + to_json(record));
}

void watch::pass_rest() {
    const auto& files = records_->files();
    for (; file_ < files.size(); ++file_, record_ = 0) {
        for (; record_ < files[file_].size(); ++record_)
            pass_record(files[file_][record_]);
        if (file_ + 1 == files.size()) return; // it may grow
        in_compaction_ = false;
    }
}

void watch::on_end(const run_outcome* outcome, bool check_discipline) {
    if (check_discipline) {
        checker_.finish();
        if (checker_.violation_count() > reported_) {
            reported_ = checker_.violation_count();
            complain_("stream: " + checker_.violations().back().text);
        }
    }
    pass_rest();
    if (outcome != nullptr) {
        using end = run_outcome::end;
        const bool aborts = outcome->how() != end::answered && outcome->how() != end::max_turns;
        if (outcome->how() != end::busy && aborts != (had_any_ && last_ == kind::abort))
            complain_(aborts ? "a run that did not go through does not end with abort: " + outcome->why()
                             : "abort at the end of a run that went through");
    }
    had_any_ = false;
    running_.clear();
    phase_ = simulation::phase::idle;
    is_deciding_ = false;
}

void watch::skip_records() {
    if (records_->files().empty()) return;
    is_loose_ = true;
    file_ = records_->files().size() - 1;
    for (const message& m : records_->files().back())
        pass_record(m);
    record_ = records_->files().back().size();
    is_loose_ = false;
}

void watch::on_drop() {
    checker_ = stream_checker();
    reported_ = 0;
    is_loose_ = true;
    pass_rest();
    is_loose_ = false;
    had_any_ = false;
    running_.clear();
    phase_ = simulation::phase::idle;
    is_deciding_ = false;
}

std::string check_files(const std::vector<std::vector<message>>& files) {
    std::string all;
    std::string lines;
    for (std::size_t i = 0; i < files.size(); ++i) {
        lines.clear();
        for (const message& m : files[i]) {
            append_json(lines, m);
            lines += '\n';
        }
        auto from = trace::reader::of_text(std::exchange(lines, {}));
        const trace::check_report report = trace::check(from, "file " + std::to_string(i + 1),
                                                        trace::check_as::trace);
        for (const trace::finding& each : report.findings) {
            if (each.how == trace::severity::fault) all += "trace: " + trace::describe(report, each) + '\n';
        }
    }
    if (!all.empty()) all.pop_back();
    return all;
}

} // namespace thalweg::simulation
