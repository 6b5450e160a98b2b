// SPDX-License-Identifier: BSL-1.0

#pragma once

// Records of traces in few words, and what a resume makes of them as words.

#include "framing.hpp"

#include <thalweg/engine/resume.hpp>
#include <thalweg/testing/context_checker.hpp>

#include <utility>

namespace thalweg::testing {

using records = std::vector<message>;

inline records operator+(records all, const records& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

inline message user(text said) {
    return message::user_text(std::move(said));
}
inline message says(text said) {
    return message::assistant_text(std::move(said));
}
inline message call(text id) {
    return message::tool_call("t", "{}", std::move(id));
}
inline message output(text id, text said) {
    return message::tool_call_output(std::move(said), std::move(id));
}
inline message began() {
    return message::request_begin();
}
inline message ended(stop_reason how = stop_reason::completed) {
    return message::event(request_end{.status = how});
}
inline message aborted(text why) {
    return message::event(run_abort{.reason = std::move(why)});
}

inline message used(std::int64_t session, std::int64_t request) {
    return message::event(token_usage{.session = {.total = session}, .request = {.total = request}});
}

inline message compacts(compaction_reason why = compaction_reason::context,
                        compaction_mode mode = compaction_mode::summarize) {
    return message::event(compaction_begin{.reason = why, .mode = mode});
}

inline message compacted(stop_reason how = stop_reason::completed,
                         compaction_mode mode = compaction_mode::summarize) {
    return message::event(compaction_end{.reason = compaction_reason::context, .mode = mode, .status = how});
}

inline message meta(text id = "session-a") {
    return message::session_meta({.session_id = std::move(id), .provider = "p", .model_id = "m"});
}

/// A completed request with these outputs.
inline records answered(const records& outputs) {
    return records{began()} + outputs + records{ended()};
}

/// The whole of a state as text, so that two can be compared.
inline std::string text_of(const resumed_state& s) {
    std::string all;
    const auto add = [&all](const char* what, std::span<const message> messages) {
        all.append(what).append("\n");
        for (const message& m : messages)
            all.append("  ").append(to_json(m)).append("\n");
    };
    add("history", s.history);
    add("carry_over", s.carry_over);
    add("render_list", s.render_list);
    add("head", s.head);
    if (s.pending_summary) add("summary", std::span(&*s.pending_summary, 1));
    for (const text& id : s.call_ids)
        all += "id " + id.str() + "\n";
    for (const std::int64_t n : {s.usage.cache_read, s.usage.cache_write, s.usage.output, s.usage.total,
                                 s.last_request_total, s.first_request_total, std::int64_t(s.session_turns),
                                 std::int64_t(s.repairs), std::int64_t(s.context_closed),
                                 std::int64_t(s.came_from_compaction), std::int64_t(s.meta.has_value())})
        all += std::to_string(n) + " ";
    if (s.dangling) all += to_json(message::event(*s.dangling));
    return all;
}

/// What is wrong with the context that the next request gets; empty = nothing.
inline std::string fault_of(const resumed_state& s) {
    return context_fault(s.history, s.carry_over);
}

} // namespace thalweg::testing
