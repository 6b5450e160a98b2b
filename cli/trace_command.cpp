// SPDX-License-Identifier: BSL-1.0

#include "trace_command.hpp"

#include "exit_status.hpp"
#include "printable.hpp"

#include <thalweg/protocol/timestamp.hpp>
#include <thalweg/trace/check.hpp>

#include <cstdio>
#include <optional>
#include <unistd.h>

namespace cli {

using namespace thalweg;

namespace {

std::optional<trace::reader> open(const std::string& file) {
    if (file == "-") return trace::reader::of_descriptor(STDIN_FILENO, "standard input");
    auto opened = trace::reader::open(file);
    if (!opened) {
        std::fprintf(stderr, "error: %s\n", opened.error().message().c_str());
        return std::nullopt;
    }
    return std::move(opened.value());
}

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

} // namespace

int trace_show(const std::string& file) {
    auto source = open(file);
    if (!source) return failure;
    bool damaged = false;
    while (auto entry = source->next()) {
        if (!entry->content) {
            damaged = true;
            std::fflush(stdout); // so that the place is right where both go to one file
            std::fprintf(stderr, "%s:%zu: %s\n", file.c_str(), entry->line,
                         entry->content.error().message().c_str());
            continue;
        }
        const message& m = entry->content.value();
        const std::string type = m.kind() == kind::session_meta ? "session_meta"
                                                                : one_line(m.type_name(), 40);
        char when[timestamp_length + 1] = {};
        format_timestamp(when, m.timestamp());
        std::printf("%5zu  %s  %-24s%s\n", entry->line, when, type.c_str(), about(m).c_str());
    }
    return damaged || std::ferror(stdout) != 0 ? failure : ok;
}

int trace_check(const std::string& file) {
    auto source = open(file);
    if (!source) return failure;
    const trace::check_report report = trace::check(*source, file == "-" ? "standard input" : file);
    for (const trace::finding& each : report.findings)
        std::printf("%s\n", trace::describe(report, each).c_str());
    std::printf("%s\n", trace::summary(report).c_str());
    if (report.records > 0 || !report.ok()) return report.ok() ? ok : failure;
    // Nothing is wrong with nothing, but whoever should have written it ended before its first record.
    std::fprintf(stderr, "error: %s: there is nothing to check\n", report.name.c_str());
    return failure;
}

} // namespace cli
