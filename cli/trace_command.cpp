// SPDX-License-Identifier: BSL-1.0

#include "trace_command.hpp"

#include "exit_status.hpp"
#include "printable.hpp"

#include <thalweg/protocol/timestamp.hpp>
#include <thalweg/trace/check.hpp>

#include <cstdio>
#include <string>

namespace cli {

using namespace thalweg;

namespace {

std::string about(const message& m) {
    std::string what;
    if (!m.tool_call_id().empty()) what += " " + one_line(m.tool_call_id(), 40);
    if (!m.name().empty()) what += " " + one_line(m.name(), 40);
    if (m.kind() == kind::approval_decision) {
        what += " " + std::string(to_string(m.decision()));
    }
    if (const auto* end = m.event_if<request_end>()) what += " " + std::string(to_string(end->status));
    if (const auto* used = m.event_if<token_usage>())
        what += " " + std::to_string(used->request.total) + " tokens";
    if (const auto* aborted = m.event_if<run_abort>(); aborted != nullptr && aborted->reason) {
        what += " " + one_line(*aborted->reason, 160);
    }
    if (!m.content().empty()) what += "  " + one_line(m.content(), 160);
    return what;
}

/// False if a line could not be read.
bool show_file(const std::string& file) {
    auto source = open_trace(file);
    if (!source) return false;
    bool is_whole = true;
    while (auto entry = source->next()) {
        if (!entry->content) {
            is_whole = false;
            report_damage(file, *entry);
            continue;
        }
        const message& m = entry->content.value();
        const std::string type = m.kind() == kind::session_meta ? "session_meta"
                                                                : one_line(m.type_name(), 40);
        char when[timestamp_length + 1] = {};
        format_timestamp(when, m.timestamp());
        std::printf("%5zu  %s  %-24s%s\n", entry->line, when, type.c_str(), about(m).c_str());
    }
    return is_whole;
}

bool check_file(const std::string& file) {
    auto source = open_trace(file);
    if (!source) return false;
    const trace::check_report report = trace::check(*source, file == "-" ? "standard input" : file);
    for (const trace::finding& each : report.findings)
        std::printf("%s\n", trace::describe(report, each).c_str());
    std::printf("%s\n", trace::summary(report).c_str());
    if (report.records > 0 || !report.ok()) return report.ok();
    // Nothing is wrong with nothing, but whoever should have written it ended before its first record.
    std::fprintf(stderr, "error: %s: there is nothing to check\n", report.name.c_str());
    return false;
}

} // namespace

int trace_show(const trace_target& target) {
    const auto files = files_of(target);
    bool is_good = !files.empty();
    for (const std::string& file : files) {
        if (files.size() > 1) std::printf("%s\n", file.c_str());
        is_good = show_file(file) && is_good;
    }
    return is_good && std::ferror(stdout) == 0 ? ok : failure;
}

int trace_check(const trace_target& target) {
    const auto files = files_of(target);
    bool is_good = !files.empty();
    for (const std::string& file : files)
        is_good = check_file(file) && is_good;
    return is_good ? ok : failure;
}

} // namespace cli
