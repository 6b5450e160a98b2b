// SPDX-License-Identifier: BSL-1.0

#include "player.hpp"

#include "stage.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

namespace {

/// A scenario under way: the session, and what takes its place after a resume.
class play_of {
public:
    explicit play_of(const scenario& s)
        : scenario_(s),
          model_(s.data.at("llm").as_array()),
          tools_(s.data.at("tools").as_object(), s.data.at("llm").as_array(), s.settings()),
          approver_(s.data.at("approvals").as_object()) {
        const json::value* meta = s.settings().if_contains("session_meta");
        std::vector<message> head;
        if (meta != nullptr && meta->as_bool()) head.push_back(message::session_meta(recorded_meta()));
        begin(std::move(head));
    }

    task<void> operate_all();
    [[nodiscard]] observation seen();

private:
    void begin(std::vector<message> head);
    [[nodiscard]] task<json::object> operate(const json::object& operation);
    [[nodiscard]] task<json::object> run(const json::object& operation, const context& under);
    [[nodiscard]] task<json::object> compact(const context& under);
    [[nodiscard]] json::object resume(const json::object& operation);

    [[nodiscard]] task<void> fire(cancel_source& stop, milliseconds at);
    [[nodiscard]] task<void> steer(const json::object& script, std::vector<std::optional<bool>>& given,
                                   std::vector<std::optional<bool>>& recalled, std::size_t at);
    [[nodiscard]] task<void> notify(const json::object& script);
    [[nodiscard]] task<void> skip(milliseconds at, json::object& seen);
    [[nodiscard]] task<void> stop_softly(milliseconds at);

    const scenario& scenario_;
    numbered_model model_;
    script_environment tools_;
    scripted_approver approver_;
    std::unique_ptr<trace::memory_sink> sink_;
    std::unique_ptr<session_core> session_;
    std::vector<std::vector<message>> files_; // of sessions before a resume
    bool goes_on_in_last_file_ = false;
    stream_checker checker_;
    json::array runs_;
};

void play_of::begin(std::vector<message> head) {
    if (session_ != nullptr) {
        model_.leave();
        session_.reset();
    }
    sink_ = std::make_unique<trace::memory_sink>(std::move(head));
    const json::object& settings = scenario_.settings();
    session_options options = options_of(settings);
    if (breaks(scenario_))
        options.start_on_entry = false; // an environment that breaks has no frames, not even one on entry
    options.trace = sink_.get();
    const json::value* level = settings.if_contains("level");
    if (level != nullptr && level->as_string() == "session") options.meta = recorded_meta();
    session_ = std::make_unique<session_core>(provider_ref(model_), environment_ref(tools_),
                                              std::move(options));
    model_.serve(*session_);
}

// Operations
// -----------------------------------------------------------------------------------------------------------------

task<void> play_of::operate_all() {
    for (const json::value& each : scenario_.data.at("runs").as_array()) {
        json::object seen = co_await operate(each.as_object());
        runs_.push_back(std::move(seen));
    }
}

task<json::object> play_of::operate(const json::object& operation) {
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context under(here.loop(), stop);
    scope timers(here);
    if (const json::value* at = operation.if_contains("abort_at_ms")) {
        if (at->as_int64() == 0) {
            stop.request(cancel_reason::user);
        } else {
            timers.spawn(fire(stop, milliseconds(at->as_int64())));
        }
    }
    const json::value* op = operation.if_contains("op");
    const std::string_view word = op != nullptr ? std::string_view(op->as_string()) : "run";
    json::object seen;
    if (word == "resume") {
        seen = resume(operation);
    } else if (word == "compact") {
        seen = co_await compact(under);
    } else {
        seen = co_await run(operation, under);
    }
    timers.drop();
    co_return seen;
}

/// Reads a stream to its end, as a caller would.
template <class Stream>
task<json::object> watch(Stream stream, const context& under, stream_checker& checker) {
    const context here = co_await this_coroutine();
    json::array messages;
    json::array times;
    const auto start = here.loop().now();
    while (auto m = co_await stream.next_under(under)) {
        checker.feed(*m);
        messages.push_back(to_value(*m));
        times.push_back(std::chrono::duration_cast<milliseconds>(here.loop().now() - start).count());
    }
    checker.finish();
    json::object seen;
    seen["stream"] = std::move(messages);
    seen["at_ms"] = std::move(times);
    co_return seen;
}

json::array flags(const std::vector<std::optional<bool>>& given) {
    json::array all;
    for (const auto& each : given) {
        if (each) all.push_back(*each);
    }
    return all;
}

task<json::object> play_of::run(const json::object& operation, const context& under) {
    const context here = co_await this_coroutine();
    run_options options;
    const json::value* approve = scenario_.settings().if_contains("approve");
    if (approve == nullptr || approve->as_string() != "none") options.approve = std::ref(approver_);
    json::object nudges;
    std::vector<std::optional<bool>> steered;
    std::vector<std::optional<bool>> recalled;
    scope others(here);
    if (const json::value* list = operation.if_contains("steer")) {
        steered.resize(list->as_array().size());
        recalled.resize(steered.size());
        for (std::size_t at = 0; at < steered.size(); ++at) {
            others.spawn(steer(list->as_array()[at].as_object(), steered, recalled, at));
        }
    }
    if (const json::value* list = operation.if_contains("notices")) {
        for (const json::value& each : list->as_array()) {
            if (each.at("at_ms").as_int64() == 0) {
                session_->notify(text(std::string_view(each.at("text").as_string())));
            } else {
                others.spawn(notify(each.as_object()));
            }
        }
    }
    if (const json::value* at = operation.if_contains("skip_reconnect_wait_at_ms")) {
        others.spawn(skip(milliseconds(at->as_int64()), nudges));
    }
    if (const json::value* at = operation.if_contains("stop_after_answer_at_ms")) {
        others.spawn(stop_softly(milliseconds(at->as_int64())));
    }
    json::object seen = co_await watch(session_->run(input_of(operation), options), under, checker_);
    others.drop();
    if (!steered.empty()) seen["steer_results"] = flags(steered);
    json::array recalls = flags(recalled);
    if (!recalls.empty()) seen["recall_results"] = std::move(recalls);
    for (auto& each : nudges)
        seen[each.key()] = each.value();
    if (const json::value* late = operation.if_contains("steer_after")) {
        seen["steer_after_run"] = static_cast<bool>(session_->steer(input_of(late->as_object())));
    }
    co_return seen;
}

task<json::object> play_of::compact(const context& under) {
    const std::string before = to_string(session_->compactability());
    json::object seen = co_await watch(session_->compact(), under, checker_);
    seen["compactability"] = before;
    co_return seen;
}

json::object play_of::resume(const json::object& operation) {
    const std::vector<std::vector<message>>& written = sink_->files();
    std::size_t first = 0;
    if (goes_on_in_last_file_ && !written.empty()) {
        files_.back().insert(files_.back().end(), written.front().begin(), written.front().end());
        first = 1;
    }
    files_.insert(files_.end(), written.begin() + static_cast<std::ptrdiff_t>(first), written.end());
    std::vector<message>& newest = files_.back();
    if (const json::value* keep = operation.if_contains("keep_records")) {
        newest.resize(std::min(newest.size(), static_cast<std::size_t>(keep->as_int64())));
    }
    resumed_state state = thalweg::resume(newest);

    json::object seen;
    seen["history"] = to_values(state.history);
    seen["carry_over"] = to_values(state.carry_over);
    seen["context_closed"] = state.context_closed;
    if (state.pending_summary) seen["pending_summary"] = to_value(*state.pending_summary);
    const message usage = message::event(token_usage{state.usage, {}});
    seen["session_tokens"] = to_value(usage).at("payload").at("session");
    seen["last_request_total"] = state.last_request_total;
    seen["session_turns"] = state.session_turns;
    if (state.dangling) {
        json::object dangling = to_value(message::event(*state.dangling)).at("payload").as_object();
        seen["dangling_compaction"] = {{"reason", dangling.at("reason")}, {"mode", dangling.at("mode")}};
    }

    goes_on_in_last_file_ = !state.context_closed;
    std::vector<message> head = state.head;
    if (head.empty() && scenario_.settings().contains("session_meta")) {
        head.push_back(message::session_meta(recorded_meta()));
    }
    begin(std::move(head));
    if (state.context_closed) sink_->rotate();
    const auto restored = session_->restore(std::move(state));
    if (!restored) seen["restored"] = restored.error().message(); // only a refusal is worth a word
    return seen;
}

// What happens meanwhile
// ------------------------------------------------------------------------------------------------------------

task<void> play_of::fire(cancel_source& stop, milliseconds at) {
    const bool waited = co_await sleep_for(at);
    if (waited) stop.request(cancel_reason::user);
}

task<void> play_of::steer(const json::object& script, std::vector<std::optional<bool>>& given,
                          std::vector<std::optional<bool>>& recalled, std::size_t at) {
    const std::int64_t when = script.at("at_ms").as_int64();
    co_await sleep_through(milliseconds(when));
    const steering_ticket ticket = session_->steer(input_of(script));
    given[at] = static_cast<bool>(ticket);
    const json::value* recall = script.if_contains("recall_at_ms");
    if (recall == nullptr) co_return;
    co_await sleep_through(milliseconds(recall->as_int64() - when));
    recalled[at] = session_->unsteer(ticket);
}

task<void> play_of::notify(const json::object& script) {
    const std::int64_t when = script.at("at_ms").as_int64();
    co_await sleep_through(milliseconds(when));
    session_->notify(text(std::string_view(script.at("text").as_string())));
}

task<void> play_of::skip(milliseconds at, json::object& seen) {
    const milliseconds when = at;
    co_await sleep_through(when);
    seen["skipped"] = session_->skip_retry_wait();
}

task<void> play_of::stop_softly(milliseconds at) {
    const milliseconds when = at;
    co_await sleep_through(when);
    session_->stop_after_answer();
}

// ---------------------------------------------------------------------------------------------------------------------

observation play_of::seen() {
    observation o;
    o.seen["runs"] = std::move(runs_);
    const std::vector<std::vector<message>>& written = sink_->files();
    json::array files;
    for (const std::vector<message>& file : files_)
        files.push_back(to_values(file));
    for (std::size_t at = 0; at < written.size(); ++at) {
        json::array records = to_values(written[at]);
        if (at > 0 || !goes_on_in_last_file_) {
            files.push_back(std::move(records));
        } else {
            json::array& last = files.back().as_array();
            last.insert(last.end(), records.begin(), records.end());
        }
    }
    o.seen["trace"] = std::move(files);
    o.seen["llm_inputs"] = std::move(model_.inputs());
    o.seen["approval_calls"] = std::move(approver_.calls);
    json::object children;
    tools_.add_children_to(children);
    if (!children.empty()) o.seen["children"] = std::move(children);
    o.checker = checker_.report();
    return o;
}

} // namespace

observation play(const scenario& s) {
    play_of now(s);
    thalweg::testing::virtual_loop on;
    on.run(now.operate_all());
    return now.seen();
}

} // namespace conformance
