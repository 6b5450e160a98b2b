// SPDX-License-Identifier: BSL-1.0

#include "trace_stats.hpp"

#include "exit_status.hpp"
#include "printable.hpp"
#include "table.hpp"

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

std::string name_of(const message& m) {
    return m.kind() == kind::session_meta ? "session_meta" : m.type_name().str();
}

std::string seconds(std::int64_t ms) {
    char shown[40] = {};
    std::snprintf(shown, sizeof shown, "%lld.%03lld s", static_cast<long long>(ms / 1000),
                  static_cast<long long>(ms % 1000));
    return shown;
}

/// Members of a JSON object, in order.
class object {
public:
    object& add(std::string_view key, std::string_view json_value) {
        text_ += text_.empty() ? "{" : ",";
        json::append_string(text_, key);
        text_.append(":").append(json_value);
        return *this;
    }
    object& add(std::string_view key, std::int64_t number) { return add(key, std::to_string(number)); }
    object& add(std::string_view key, std::size_t number) { return add(key, std::to_string(number)); }
    [[nodiscard]] std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

private:
    std::string text_;
};

std::string json_of(const durations& took) {
    const auto sum = took.sum_up();
    object made;
    made.add("count", sum.count);
    if (sum.count > 0) made.add("min", sum.least).add("median", sum.median).add("max", sum.most);
    return made.text();
}

std::string json_of(const std::map<std::string, std::size_t>& counts) {
    object made;
    for (const auto& [name, count] : counts)
        made.add(name, count);
    return made.text();
}

void add_cells(std::vector<std::string>& row, const durations& took) {
    const auto sum = took.sum_up();
    for (const std::int64_t ms : {sum.least, sum.median, sum.most})
        row.push_back(sum.count == 0 ? "-" : seconds(ms));
}

} // namespace

durations::summary durations::sum_up() const {
    if (all_.empty()) return {};
    std::vector<std::int64_t> sorted = all_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    const std::int64_t median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    return {.count = sorted.size(), .least = sorted.front(), .median = median, .most = sorted.back()};
}

void trace_statistics::begin_file() {
    ++files_;
    calls_.clear();
    request_at_ = -1;
}

void trace_statistics::add(const message& m) {
    ++records_;
    if (!m.origin().empty()) {
        ++of_children_;
        return;
    }
    ++kinds_[name_of(m)];
    switch (m.kind()) {
    case kind::request_begin: request_at_ = m.timestamp(); break;
    case kind::request_end: on_request_end(m); break;
    case kind::token_usage: tokens_ += m.event_if<token_usage>()->request; break;
    case kind::tool_call: on_call(m); break;
    case kind::tool_call_output: on_output(m); break;
    case kind::approval_decision: on_decision(m); break;
    default: break;
    }
}

void trace_statistics::on_request_end(const message& m) {
    const auto* end = m.event_if<request_end>();
    ++requests_[std::string(to_string(end->status))];
    if (end->retry_in_ms) ++retries_;
    if (const auto since = std::exchange(request_at_, -1); since >= 0)
        request_took_.add(m.timestamp() - since);
}

void trace_statistics::on_call(const message& m) {
    ++tools_[m.name().str()].calls;
    calls_[m.tool_call_id().str()] = {.name = m.name().str()};
}

void trace_statistics::on_decision(const message& m) {
    const auto found = calls_.find(m.tool_call_id().str());
    if (found == calls_.end()) return;
    found->second.is_denied = m.decision() != decision::allow;
    if (!found->second.is_denied) found->second.allowed_at = m.timestamp();
}

void trace_statistics::on_output(const message& m) {
    const auto found = calls_.find(m.tool_call_id().str());
    if (found == calls_.end()) return;
    tool& of = tools_[found->second.name];
    if (found->second.is_denied)
        ++of.denied;
    else if (m.stop() == stop_reason::aborted)
        ++of.aborted;
    else if (m.stop() != stop_reason::completed)
        ++of.failed;
    if (found->second.allowed_at >= 0) of.took.add(m.timestamp() - found->second.allowed_at);
    calls_.erase(found);
}

std::string trace_statistics::as_text() const {
    table counts("lr");
    counts.add({"files", std::to_string(files_)});
    counts.add({"records", std::to_string(records_)});
    if (of_children_ > 0) counts.add({"of children", std::to_string(of_children_)});
    if (damaged_lines_ > 0) counts.add({"damaged lines", std::to_string(damaged_lines_)});
    counts.add({"tokens", std::to_string(tokens_.total)});
    counts.add({"  output", std::to_string(tokens_.output)});
    counts.add({"  cache read", std::to_string(tokens_.cache_read)});
    counts.add({"  cache write", std::to_string(tokens_.cache_write)});
    counts.add({"retries", std::to_string(retries_)});

    table kinds("lr");
    kinds.add({"KIND", "COUNT"});
    for (const auto& [name, count] : kinds_)
        kinds.add({one_line(name, 40), std::to_string(count)});
    std::string all = counts.text() + "\n" + kinds.text();
    if (!requests_.empty()) all += "\n" + requests_as_text();
    if (!tools_.empty()) all += "\n" + tools_as_text();
    return all;
}

std::string trace_statistics::requests_as_text() const {
    table requests("lrrrr");
    requests.add({"REQUESTS", "COUNT", "MIN", "MEDIAN", "MAX"});
    std::size_t sum = 0;
    for (const auto& [status, count] : requests_) {
        requests.add({status, std::to_string(count), "", "", ""});
        sum += count;
    }
    std::vector<std::string> row = {"all", std::to_string(sum)};
    add_cells(row, request_took_);
    requests.add(std::move(row));
    return requests.text();
}

std::string trace_statistics::tools_as_text() const {
    table tools("lrrrrrrr");
    tools.add({"TOOL", "CALLS", "FAILED", "ABORTED", "DENIED", "MIN", "MEDIAN", "MAX"});
    for (const auto& [name, of] : tools_) {
        std::vector<std::string> cells = {one_line(name, 40), std::to_string(of.calls),
                                          std::to_string(of.failed), std::to_string(of.aborted),
                                          std::to_string(of.denied)};
        add_cells(cells, of.took);
        tools.add(std::move(cells));
    }
    return tools.text();
}

std::string trace_statistics::as_json() const {
    object tools;
    for (const auto& [name, of] : tools_) {
        object made;
        made.add("calls", of.calls)
            .add("failed", of.failed)
            .add("aborted", of.aborted)
            .add("denied", of.denied);
        tools.add(name, made.add("ms", json_of(of.took)).text());
    }
    object tokens;
    tokens.add("cache_read", tokens_.cache_read).add("cache_write", tokens_.cache_write);
    tokens.add("output", tokens_.output).add("total", tokens_.total);
    object all;
    all.add("files", files_).add("records", records_).add("of_children", of_children_);
    all.add("damaged_lines", damaged_lines_).add("kinds", json_of(kinds_)).add("tokens", tokens.text());
    all.add("requests", json_of(requests_))
        .add("retries", retries_)
        .add("request_ms", json_of(request_took_));
    return all.add("tools", tools.text()).text();
}

int trace_stats(const trace_target& target, bool as_json) {
    const auto files = files_of(target);
    bool is_good = true;
    bool is_any = false;
    trace_statistics all;
    for (const std::string& file : files) {
        auto source = open_trace(file);
        is_good = is_good && source.has_value();
        if (!source) continue;
        is_any = true;
        all.begin_file();
        while (auto entry = source->next()) {
            if (entry->content) {
                all.add(entry->content.value());
                continue;
            }
            is_good = false;
            all.add_damage();
            report_damage(file, *entry);
        }
    }
    if (!is_any) return failure;
    std::fputs((as_json ? all.as_json() + "\n" : all.as_text()).c_str(), stdout);
    return is_good && std::ferror(stdout) == 0 ? ok : failure;
}

} // namespace cli
