// SPDX-License-Identifier: BSL-1.0

// What a session puts into its trace, and what it remembers where the trace does not.

#include <thalweg/engine/session_core.hpp>

#include <thalweg/engine/guarded_trace.hpp>
#include <thalweg/trace/errors.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace thalweg {

namespace {

bool is_older(const message& a, const message& b) {
    return a.timestamp() < b.timestamp();
}

/// Those of `lost` that `recorded` has not: a write that failed may have got some records into the file, and
/// one that was given up may land later.
std::vector<message> not_among(std::span<const message> recorded, std::span<const message> lost) {
    std::unordered_map<std::string, std::size_t> found;
    const auto first = std::min_element(lost.begin(), lost.end(), is_older);
    for (const message& m : recorded) {
        if (!is_older(m, *first)) ++found[to_json(m)];
    }
    std::vector<message> missing;
    for (const message& m : lost) {
        const auto same = found.find(to_json(m));
        if (same != found.end() && same->second > 0)
            --same->second;
        else
            missing.push_back(m);
    }
    return missing;
}

} // namespace

/// A compaction whose end is not in the trace, because its process or its run was taken away, ends here
/// (R-TRC-37).
std::vector<message> session_core::take_owed_records(loop& on) {
    std::vector<message> records;
    if (!open_compaction_) return records;
    records.push_back(message::event(*std::exchange(open_compaction_, std::nullopt)));
    records.back().stamp(on.wall_ms());
    return records;
}

/// What is recorded before the first request, in order (R-ENG-06, R-ENG-90): the session's head, the summary
/// of the context before, the input, the tools.
std::vector<message> session_core::opening_records(const std::vector<message>& input, loop& on) {
    std::vector<message> records = take_owed_records(on);
    const auto& meta = state_.options.meta;
    const bool first = !std::exchange(state_.is_opened, true);
    if (first && meta) records.push_back(message::session_meta(*meta));
    if (state_.pending_summary) records.push_back(*state_.pending_summary);
    records.insert(records.end(), input.begin(), input.end());
    if (first && meta) records.push_back(message::event(tool_list_ready{state_.tools}));
    for (message& m : records) {
        if (!m.has_timestamp()) m.stamp(on.wall_ms());
    }
    return records;
}

std::vector<message> session_core::take_input(std::vector<message> input) {
    std::vector<message> all;
    if (state_.pending_summary) all.push_back(*std::exchange(state_.pending_summary, std::nullopt));
    std::vector<message> carried = std::exchange(state_.carry_over, {});
    all.insert(all.end(), std::move_iterator(carried.begin()), std::move_iterator(carried.end()));
    all.insert(all.end(), std::move_iterator(input.begin()), std::move_iterator(input.end()));
    return all;
}

/// Records what is recordable. A completed compaction closes the file of its context (R-ENG-75).
task<void> session_core::record(std::span<const message> messages, guarded_trace& to) {
    std::size_t recordable = 0;
    std::size_t begin = 0;
    std::optional<compaction_end> ended; // with what is written last
    for (std::size_t at = 0; at < messages.size(); ++at) {
        const message& m = messages[at];
        if (!m.is_recordable()) continue;
        ++recordable;
        if (const auto* begun = m.event_if<compaction_begin>())
            open_compaction_ = compaction_end{begun->reason, begun->mode, stop_reason::failed, {}, {}};
        if (m.kind() != kind::compaction_end) continue;
        ended = std::exchange(open_compaction_, std::nullopt);
        const auto* end = m.event_if<compaction_end>();
        if (end == nullptr || end->status != stop_reason::completed) continue;
        co_await write(messages.subspan(begin, at + 1 - begin), to);
        if (state_.options.trace != nullptr) state_.options.trace->rotate();
        begin = at + 1;
        recordable = 0;
        ended.reset();
    }
    const std::int64_t lost_before = records_lost_;
    if (recordable > 0) co_await write(messages.subspan(begin), to);
    if (ended && records_lost_ > lost_before)
        open_compaction_ = std::move(ended); // its end is not in the trace
}

result<std::vector<message>> session_core::history() const {
    if (state_.options.trace == nullptr) return log_;
    auto recorded = state_.options.trace->read_back();
    if (!recorded || log_.empty()) return recorded;
    const std::vector<message> missing = not_among(recorded.value(), log_);
    std::vector<message> all;
    std::merge(recorded.value().begin(), recorded.value().end(), missing.begin(), missing.end(),
               std::back_inserter(all), is_older);
    return all;
}

/// A trace that cannot be written never stops a run; it is said once and counted (D-24).
task<void> session_core::write(std::span<const message> messages, guarded_trace& to) {
    const auto is_recordable = [](const message& m) { return m.is_recordable(); };
    if (state_.options.trace == nullptr) {
        std::copy_if(messages.begin(), messages.end(), std::back_inserter(log_), is_recordable);
        co_return;
    }
    const auto written = co_await to.write(messages);
    if (written) co_return;
    const std::int64_t lost_before = records_lost_;
    if (written.error().code() !=
        trace::errc::changed) { // these are written, to a file that is not what it was
        std::copy_if(messages.begin(), messages.end(), std::back_inserter(log_), is_recordable);
        records_lost_ = static_cast<std::int64_t>(log_.size());
    }
    if (!std::exchange(has_said_fault_, true)) {
        state_.fault = trace_fault{text(state_.options.trace->path()), text(written.error().message()),
                                   records_lost_};
    } else if (state_.fault && records_lost_ > lost_before) {
        state_.fault->lost = records_lost_;
    }
}

} // namespace thalweg
