// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/check.hpp>

#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/trace/detail/trace_check.hpp>

#include <algorithm>
#include <utility>

namespace thalweg::trace {

namespace {

// "R-ENG-23 at message 12 in the stream of a: what" -> the rule, and "what, in the stream of a".
finding from_violation(const stream_checker::violation& v, std::size_t line) {
    const std::string_view whole = v.text;
    const std::string place = " at message " + std::to_string(v.message_index);
    const auto at = whole.find(place);
    const auto colon = whole.find(": ", at);
    finding made{
        .line = line, .how = severity::fault, .rule = std::string(to_string(v.rule)), .text = v.text};
    if (at == std::string_view::npos || colon == std::string_view::npos) return made;
    const std::string_view stream = whole.substr(at + place.size(), colon - at - place.size());
    made.rule = whole.substr(0, at);
    made.text = whole.substr(colon + 2);
    if (!stream.empty()) made.text.append(",").append(stream);
    return made;
}

// Runs both checkers until it is known which of them is asked.
class checking {
public:
    checking(std::string name, check_as how) : how_(how) { report_.name = std::move(name); }

    void feed(const message& m, std::size_t line) {
        ++report_.records;
        if (how_ == check_as::detect) detect(m);
        if (how_ != check_as::stream) trace_.on_record(m, line);
        if (how_ == check_as::trace) return;
        stream_.feed(m);
        lines_.push_back(line);
        if (m.kind() == kind::request_begin) ++requests_;
        if (m.kind() == kind::tool_call) ++calls_;
    }

    void damage(const entry& e) {
        const auto& why = e.content.error();
        finding made{.line = e.line, .how = severity::fault, .rule = "R-TRC-11", .text = why.message()};
        if (why.code() == errc::torn_tail) {
            made.how = severity::note;
            made.rule = "R-TRC-20";
            made.text = "the last record is cut short: " + made.text;
        } else if (why.code() == errc::malformed || why.code() == errc::too_long) {
            made.text = "no record, skipped: " + made.text;
        }
        keep(std::move(made));
    }

    check_report finish() {
        if (report_.records == 0 && report_.fault_count > 0) return foreign();
        if (how_ == check_as::detect) how_ = looks_like_stream_ ? check_as::stream : check_as::trace;
        if (how_ == check_as::trace)
            take_trace();
        else
            take_stream();
        std::vector<finding> damages = std::exchange(report_.findings, {});
        const auto by_line = [](const finding& a, const finding& b) { return a.line < b.line; };
        std::merge(damages.begin(), damages.end(), found_.findings.begin(), found_.findings.end(),
                   std::back_inserter(report_.findings), by_line);
        if (report_.findings.size() > check_report::max_kept) report_.findings.resize(check_report::max_kept);
        return std::move(report_);
    }

private:
    // A file of another kind: its lines one by one would say nothing.
    check_report foreign() {
        const std::size_t count = report_.fault_count +
                                  report_.note_count; // the last one passes for a torn one
        const std::string lines = count == 1 ? "its only line"
                                             : "any of its " + std::to_string(count) + " lines";
        report_.findings.assign(
            1, {.line = 0,
                .how = severity::fault,
                .rule = "R-TRC-11",
                .text = "this is neither a trace nor a stream: there is no record in " + lines});
        report_.fault_count = 1;
        report_.note_count = 0;
        return std::move(report_);
    }

    // A trace begins with session_meta, or else with a prompt; a stream has neither.
    void detect(const message& m) {
        const bool is_first = report_.records == 1;
        const bool is_own = m.origin().empty();
        if (is_first && is_own && m.kind() == kind::session_meta)
            how_ = check_as::trace;
        else if (m.is_partial() || !is_own)
            how_ = check_as::stream;
        else if (is_first)
            looks_like_stream_ = !m.is_complete() || m.role() != role::user;
    }

    void keep(finding made) {
        ++(made.how == severity::fault ? report_.fault_count : report_.note_count);
        if (report_.findings.size() < check_report::max_kept) report_.findings.push_back(std::move(made));
    }

    void take_trace() {
        trace_.on_end();
        report_.requests = found_.requests;
        report_.calls = found_.calls;
        report_.fault_count += found_.fault_count;
        report_.note_count += found_.note_count;
    }

    void take_stream() {
        report_.is_stream = true;
        report_.requests = requests_;
        report_.calls = calls_;
        stream_.finish();
        found_.findings.clear();
        for (const auto& v : stream_.violations()) {
            const std::size_t last = lines_.empty() ? 0 : lines_.back();
            found_.findings.push_back(
                from_violation(v, v.message_index < lines_.size() ? lines_[v.message_index] : last));
        }
        report_.fault_count += stream_.violation_count();
    }

    check_as how_;
    bool looks_like_stream_ = false;
    check_report report_;
    check_report found_; // by the checker of the content
    detail::trace_check trace_{found_};
    stream_checker stream_;
    std::vector<std::size_t> lines_; // of the stream's messages
    std::size_t requests_ = 0;
    std::size_t calls_ = 0;
};

} // namespace

check_report check(reader& from, std::string name, check_as how) {
    checking now(std::move(name), how);
    while (const auto e = from.next()) {
        if (e->content)
            now.feed(e->content.value(), e->line);
        else
            now.damage(*e);
    }
    return now.finish();
}

result<check_report> check_file(const std::string& path, check_as how) {
    BOOST_OUTCOME_TRY(auto from, reader::open(path));
    return check(from, path, how);
}

std::string describe(const check_report& in, const finding& f) {
    std::string made = in.name;
    if (f.line != 0) made.append(":").append(std::to_string(f.line));
    made.append(f.how == severity::note ? ": note: " : ": ").append(f.text);
    return made.append(" (").append(f.rule).append(")");
}

std::string summary(const check_report& of) {
    const auto counted = [](std::size_t count, std::string_view what) {
        std::string made = std::to_string(count) + " ";
        made.append(what);
        return count == 1 ? made : made + "s";
    };
    const char* what = of.is_stream ? ": a stream of " : ": a trace of ";
    return of.name + what + counted(of.records, "record") + ", " + counted(of.requests, "request") + ", " +
           counted(of.calls, "tool call") + ": " + counted(of.fault_count, "fault") + ", " +
           counted(of.note_count, "note");
}

} // namespace thalweg::trace
