// SPDX-License-Identifier: BSL-1.0

// A session as a tool of another one (engine §8): its stream passes through the parent's, each message with
// one hop more.

#include <thalweg/engine/session_core.hpp>

#include <thalweg/async/task.hpp>
#include <thalweg/engine/run_conductor.hpp>
#include <thalweg/engine/upward.hpp>
#include <thalweg/trace/session_files.hpp>

#include <exception>
#include <string>
#include <utility>

namespace thalweg {

namespace {

chunk forwarded(message m, const text& child) {
    return chunk::forward(std::move(m).with_origin_prefix(child));
}

} // namespace

/// A child is known by its id, so it has one from its first run on.
void session_core::put_on_head(std::int64_t now_ms) {
    auto& meta = state_.options.meta;
    if (!meta) meta.emplace().session_id = text(trace::make_session_id(now_ms));
    if (!meta->source) meta->source = text("subagent");
}

stream<chunk, tool_result> session_core::run_under(tool_context parent, text prompt) {
    if (parent.depth() >= parent.max_depth()) {
        co_return tool_result::failed("[subagent error: sessions may lie at most " +
                                      std::to_string(parent.max_depth()) + " deep under the first one]");
    }
    if (is_running() || is_compacting()) {
        co_return tool_result::failed("[subagent error: " + what_is_going_on() + "]");
    }
    const context here = co_await this_coroutine();
    const bool is_first = !std::exchange(is_announced_, true);
    if (is_first) put_on_head(here.loop().wall_ms());
    const text id = state_.options.meta->session_id;
    if (is_first) {
        message head = message::session_meta(*state_.options.meta);
        head.stamp(here.loop().wall_ms());
        co_yield forwarded(std::move(head), id);
    }
    message asked = message::user_text(std::move(prompt)).with_sender(text("parent_agent"));
    asked.stamp(here.loop().wall_ms());
    co_yield forwarded(message(asked), id);

    detail::upward asks(parent.approve(), id);
    run_options options;
    options.approve = std::ref(asks);
    options.depth = parent.depth() + 1;
    options.max_depth = parent.max_depth();
    options.grace = parent.grace() * 3 / 4; // so that what it says of its end is still heard
    std::vector<message> input;
    input.push_back(std::move(asked));
    auto run = this->run(std::move(input), options);
    bool has_text = false;
    std::string aborted;
    std::string thrown; // by what the child is made of (R-ENV-52)
    try {
        while (message* m = co_await run.peek()) {
            if (m->origin().empty()) {
                has_text = has_text || (m->kind() == kind::partial_text && m->frame() == frame::delta);
                const auto* end = m->event_if<run_abort>();
                if (end != nullptr) aborted = end->reason.value_or(text("unknown")).str();
            }
            co_yield forwarded(std::move(*m), id);
        }
    } catch (const std::exception& e) {
        thrown = e.what();
    }
    if (!thrown.empty()) co_return tool_result::failed("[subagent error: " + thrown + "]");
    if (!aborted.empty()) co_return tool_result::failed("[subagent aborted: " + aborted + "]");
    const run_outcome& how = run.result();
    const bool has_begun = how.how() != run_outcome::end::environment_failed &&
                           how.how() != run_outcome::end::input_failed;
    if (!has_begun) co_return tool_result::failed("[subagent error: " + how.why() + "]");
    if (!has_text) co_return tool_result::completed("[subagent finished without a text answer]");
    co_return tool_result::completed();
}

stream<chunk, tool_result> session_core::launch_under(tool_context parent, text prompt) {
    const context here = co_await this_coroutine();
    put_on_head(here.loop().wall_ms());
    const text id = state_.options.meta->session_id;
    const bool is_first = !is_announced_;
    auto run = run_under(parent, std::move(prompt));
    if (is_first) { // at once, so that the parent's trace knows the child before the call ends
        auto head = co_await run.next();
        if (!head) co_return std::move(run.result());
        co_yield std::move(*head);
    }
    const bool is_kept = parent.keep_running(id, std::move(run));
    if (!is_kept) co_return tool_result::failed("[subagent error: nothing can run in the background here]");
    co_return tool_result::completed("[subagent " + id.str() +
                                     " runs in the background; it reports when it has ended]");
}

void session_core::adopt(text id, stream<chunk, tool_result> rest) {
    background_.adopt(std::move(id), std::move(rest), *loop_);
}

/// A message of a background run: to the stream if there is one, else to the program.
void session_core::show(message m) {
    if (running_ != nullptr && running_->pass(m)) return;
    if (state_.options.on_background) state_.options.on_background(std::move(m));
}

} // namespace thalweg
