// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/tool_run.hpp>

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/output_framer.hpp>
#include <thalweg/protocol/growing_text.hpp>
#include <thalweg/protocol/json.hpp>

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

namespace {

/// Details are any JSON; what is none becomes a JSON string rather than be lost.
text as_json(text details) {
    if (details.empty() || !json::check(details)) return details;
    std::string quoted;
    json::append_string(quoted, utf8::make_valid(details));
    return text(quoted);
}

} // namespace

class tool_run {
public:
    tool_run(tool_job job, merge<message>::producer out, std::optional<message>& output)
        : job_(std::move(job)),
          out_(std::move(out)),
          output_(output),
          framer_(job_.call_.id(), job_.provider_id_, job_.limits_.max_output) {}

    task<void> run();

private:
    task<void> execute();
    task<void> pull();
    task<void> forward(message m);
    task<void> show(text progress, text details);
    void hold(std::string_view piece);
    task<void> watch(scope& body);
    task<void> flush();
    [[nodiscard]] body_ending ending(bool interrupted);
    void conclude(body_ending how);
    [[nodiscard]] std::string refusal() const;

    tool_job job_;
    merge<message>::producer out_;
    std::optional<message>& output_;
    output_framer framer_;
    growing_text held_; // output that is not final
    utf8::repairer held_repair_;
    std::optional<tool_result> result_;
    std::optional<std::string> thrown_; // by the tool
    std::optional<std::string> broken_; // by the environment
    bool timed_out_ = false;
    std::size_t sent_ = 0; // of the framer's pending messages
};

task<void> run_tool(tool_job job, merge<message>::producer out, std::optional<message>& output) {
    tool_run run(std::move(job), std::move(out), output);
    co_await run.run();
}

task<void> tool_run::run() {
    if (job_.start_on_entry_) framer_.start();
    const std::string refused = refusal();
    if (refused.empty()) {
        co_await execute();
    } else {
        framer_.add(text(refused));
        framer_.finish(stop_reason::failed, {}, {});
    }
    output_ = framer_.pending().back();
    co_await flush();
}

/// Why the call is not run at all, or empty.
std::string tool_run::refusal() const {
    const std::string name = utf8::make_valid(job_.call_.name());
    if (job_.unknown_) return "Unknown tool: " + name;
    const auto arguments = json::parse(job_.call_.arguments());
    if (!arguments) return "Invalid arguments for " + name + ": " + arguments.error().message();
    if (!arguments.value().is_object()) {
        return "Invalid arguments for " + name + ": expected a JSON object at byte 0";
    }
    return {};
}

task<void> tool_run::execute() {
    const context here = co_await this_coroutine();
    if (job_.facts_) framer_.pending().push_back(message::body_begin(job_.call_.id()));
    co_await flush();
    {
        scope body(here);
        scope clock(here);
        body.spawn(pull());
        clock.spawn(watch(body));
        co_await body.join();
        clock.drop();
    }
    body_ending how = ending(here.stop_requested());
    if (job_.voice_ == nullptr) {
        conclude(std::move(how));
        co_return;
    }
    std::string rest;
    held_repair_.flush(rest);
    held_.append(rest);
    co_await job_.voice_->conclude(std::move(how), held_.look().str(), framer_);
}

/// The tool itself, up to its result. Whatever it throws is kept for conclude().
task<void> tool_run::pull() {
    try {
        tool_call call = job_.call_;
        auto output = job_.environment_.execute(std::move(call), job_.around_);
        while (chunk* piece = co_await output.peek()) {
            if (piece->kind() == chunk::type::text) {
                if (job_.voice_ != nullptr && job_.voice_->holds_back()) {
                    hold(piece->content());
                    co_await show(held_.look(), {});
                    continue;
                }
                framer_.add(std::move(piece->content()));
                co_await flush();
            } else if (piece->kind() == chunk::type::progress) {
                co_await show(text(utf8::make_valid(piece->content())), as_json(piece->details()));
            } else if (piece->kind() == chunk::type::forwarded) {
                co_await forward(std::move(piece->forwarded()));
            }
        }
        result_ = std::move(output.result());
    } catch (const environment_failure& e) {
        broken_ = e.what();
    } catch (const std::exception& e) {
        thrown_ = e.what();
    } catch (...) {
        thrown_ = "an exception that is no std::exception";
    }
}

/// Keeps as much as the output may have, and enough beyond it that its end tells of the cut (R-ENV-06).
void tool_run::hold(std::string_view piece) {
    const std::int64_t limit = job_.limits_.max_output;
    if (limit > 0 && static_cast<std::int64_t>(held_.size()) / 4 > limit) return;
    std::string valid;
    held_repair_.feed(piece, valid);
    held_.append(valid);
}

/// A snapshot of the tool's progress, for the views that show it (C15 of the two views: never a part of the
/// output).
task<void> tool_run::show(text progress, text details) {
    if (!job_.facts_) co_return;
    const context here = co_await this_coroutine();
    message m = message::call_progress(job_.call_.id(), std::move(progress), std::move(details));
    m.stamp(here.loop().wall_ms());
    const bool taken = co_await out_.send(std::move(m));
    static_cast<void>(taken); // as in forward()
}

/// Passes a child's message on. The parent's trace gets a pointer to a direct child, and the call's output
/// its text (R-ENG-82, R-ENG-83).
task<void> tool_run::forward(message m) {
    const bool is_direct = m.origin().size() == 1;
    const bool is_head = is_direct && m.kind() == kind::session_meta;
    const bool is_text = is_direct && m.kind() == kind::partial_text && m.frame() == frame::delta;
    text words = is_text ? m.content() : text();
    subagent child;
    if (is_head) child.session_id = m.origin().front();
    const bool taken = co_await out_.send(std::move(m));
    static_cast<void>(taken); // a closed merge takes nothing more, and the tool still ends in order
    if (is_head) {
        const context here = co_await this_coroutine();
        message pointer = message::event(std::move(child)).trace_only();
        pointer.stamp(here.loop().wall_ms());
        const bool also_taken = co_await out_.send(std::move(pointer));
        static_cast<void>(also_taken);
    }
    if (is_text) {
        framer_.add(std::move(words));
        co_await flush();
    }
}

/// Ends the body: by asking when the time-out is over, by force when the grace after a request is over.
task<void> tool_run::watch(scope& body) {
    if (job_.limits_.timeout > std::chrono::milliseconds::zero()) {
        timed_out_ = co_await sleep_for(job_.limits_.timeout);
    } else {
        co_await stop_requested();
    }
    if (timed_out_) body.cancel(cancel_reason::timeout);
    co_await sleep_through(job_.around_.grace());
    body.drop();
}

body_ending tool_run::ending(bool interrupted) {
    body_ending how;
    how.result = std::move(result_);
    how.thrown = std::move(thrown_);
    how.broken = std::move(broken_);
    if (timed_out_) how.timed_out = job_.limits_.timeout;
    how.interrupted = interrupted;
    if (how.result) how.result->details() = as_json(std::move(how.result->details()));
    return how;
}

/// A session's words (R-ENV-07…0A).
void tool_run::conclude(body_ending how) {
    if (how.broken) return framer_.finish_bare("[tool error] " + *how.broken);

    const std::optional<stop_reason> own = how.result ? how.result->stop() : std::nullopt;
    stop_reason status = stop_reason::completed;
    std::vector<std::string> notes;
    if (how.result) {
        framer_.add_last(std::move(how.result->output()));
        notes.push_back(how.result->note());
    }
    if (how.interrupted || (own == stop_reason::aborted && !how.timed_out)) {
        status = stop_reason::aborted;
        notes.emplace_back("[interrupted: tool aborted by user]");
    } else if (how.timed_out) {
        status = stop_reason::failed;
        notes.push_back("[tool timeout: exceeded " + std::to_string(how.timed_out->count()) + "ms]");
    } else if (how.thrown) {
        status = stop_reason::failed;
        notes.push_back("[tool error] " + *how.thrown);
    } else if (own) {
        status = *own;
    }
    if (!how.result) return framer_.finish(status, notes, {});
    framer_.finish(status, notes, std::move(how.result->images()), std::move(how.result->details()));
}

task<void> tool_run::flush() {
    const context here = co_await this_coroutine();
    std::vector<message>& pending = framer_.pending();
    // Counted behind each send: a body that is dropped while it waits here leaves the rest to be sent later.
    for (; sent_ < pending.size(); ++sent_) {
        pending[sent_].stamp(here.loop().wall_ms());
        const bool taken = co_await out_.send(std::move(pending[sent_]));
        if (!taken) break;
    }
    pending.clear();
    sent_ = 0;
}

} // namespace thalweg
