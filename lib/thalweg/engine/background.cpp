// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/background.hpp>

#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace thalweg {

namespace {

constexpr int messages_at_once = 64; // then others get their turn

/// The block that a notice about a background run begins with, and what the run said.
text report_of(const text& id, stop_reason status, const std::string& detail, const std::string& body) {
    std::string all = "[background_task_done]\nkind: subagent\nid: " + id.str() +
                      "\nstatus: " + std::string(to_string(status)) + "\n";
    if (!detail.empty()) all += "detail: " + detail + "\n";
    all += "[/background_task_done]";
    if (!body.empty()) all += "\n\n" + body;
    return text(all);
}

} // namespace

void background_runs::adopt(text id, stream<chunk, tool_result> rest, loop& on) {
    runs_.remove_if([](const run& each) { return each.has_ended; });
    run& added = runs_.emplace_back(std::move(id), std::move(rest), on);
    added.work.spawn(pump(added));
}

bool background_runs::stop(const text& id, cancel_reason why) {
    bool has_any = false;
    for (run& each : runs_) {
        if (each.has_ended || (!id.empty() && each.id != id)) continue;
        has_any = each.cancel.request(why) || has_any;
    }
    return has_any;
}

std::size_t background_runs::count() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(runs_.begin(), runs_.end(), [](const run& each) { return !each.has_ended; }));
}

task<void> background_runs::pump(run& of) {
    std::string body;
    stop_reason status = stop_reason::failed;
    std::string detail;
    co_await yield(); // the call that left it ends first
    try {
        int left = messages_at_once;
        while (auto piece = co_await of.rest.next()) {
            if (piece->kind() == chunk::type::text) body += piece->content().view();
            if (piece->kind() == chunk::type::forwarded) {
                message m = std::move(piece->forwarded());
                const bool is_answer = m.origin().size() == 1 && m.kind() == kind::partial_text;
                if (is_answer) body += m.content().view();
                show_(std::move(m));
            }
            if (--left == 0) {
                left = messages_at_once;
                co_await yield();
            }
        }
        status = of.rest.result().stop().value_or(stop_reason::completed);
        detail = of.rest.result().note();
    } catch (const std::exception& e) {
        detail = e.what();
    } catch (...) {
        detail = "an exception that is no std::exception";
    }
    of.has_ended = true;
    report_(report_of(of.id, status, detail, body));
}

} // namespace thalweg
