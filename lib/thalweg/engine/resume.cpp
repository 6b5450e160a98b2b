// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/resume.hpp>

#include <thalweg/engine/summary.hpp>
#include <thalweg/protocol/json.hpp>

#include <unordered_map>
#include <utility>

namespace thalweg {

namespace {

bool is_user(const message& m) {
    if (m.kind() != kind::other_model) return m.role() == role::user;
    const std::string line = to_json(m); // kept as it came, so its role is in the text alone
    const auto parsed = json::parse(line);
    const auto payload = parsed ? parsed.value().find("payload") : std::nullopt;
    const auto role = payload ? payload->find("role") : std::nullopt;
    return role && role->as_string() == "user";
}

/// Anything else is closure only: it never ran and is no part of the context (R-PRO-28).
bool is_runnable(const message& call) {
    return call.stop() == stop_reason::completed || call.stop() == stop_reason::none;
}

message placeholder(const message& call) {
    message made = message::tool_call_output(text(exited_output), call.tool_call_id())
                       .with_stop(stop_reason::aborted);
    if (call.has_timestamp()) made.stamp(call.timestamp());
    return made;
}

/// The assistant texts of the last completed request.
std::string last_answer(std::span<const message> records) {
    const auto is_completed_end = [](const message& m) {
        const auto* end = m.event_if<request_end>();
        return end != nullptr && end->status == stop_reason::completed;
    };
    std::size_t end = records.size();
    while (end > 0 && !is_completed_end(records[end - 1]))
        --end;
    std::size_t begin = end;
    while (begin > 0 && records[begin - 1].kind() != kind::request_begin)
        --begin;
    return extract_summary(records.subspan(begin, end - begin));
}

/// The calls of the last committed answer, which are the only ones that can be without output: the next
/// commit gives each of them one.
class open_calls {
public:
    [[nodiscard]] bool has(const text& id) const { return place_.contains(id); }

    void open(const message& call) {
        place_.emplace(call.tool_call_id(), calls_.size());
        calls_.push_back({call, std::nullopt});
    }
    /// The first output of a call stays; the output of no such call fits nowhere.
    void answer(message output) {
        const auto found = place_.find(output.tool_call_id());
        if (found == place_.end()) return;
        auto& known = calls_[found->second].output;
        if (!known) known = std::move(output);
    }
    /// One output for each, in call order; none are open then.
    void settle_into(std::vector<message>& list) {
        for (auto& each : calls_) {
            if (!each.output) ++placeholders_;
            list.push_back(each.output ? std::move(*each.output) : placeholder(each.made));
        }
        calls_.clear();
        place_.clear();
    }
    [[nodiscard]] std::size_t placeholders() const noexcept { return placeholders_; }

private:
    struct call {
        message made;
        std::optional<message> output;
    };
    std::vector<call> calls_;
    std::unordered_map<text, std::size_t> place_;
    std::size_t placeholders_ = 0;
};

/// User messages that no committed request has had yet, in order. Those before the border belong to the open
/// request; dropping it only takes the border away, so nothing is ever copied.
class pending_input {
public:
    void add(message m, bool is_note) {
        if (is_note) notes_.push_back(waiting_.size());
        waiting_.push_back({std::move(m), is_note});
    }
    void begin_request() { border_ = waiting_.size(); }

    /// What belonged to the open request: outputs go to their calls, the rest to the end of `history`.
    void commit_into(std::vector<message>& history, open_calls& calls) {
        move_into(history, calls, border_);
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(border_));
        notes_.clear();
        for (std::size_t i = 0; i < waiting_.size(); ++i)
            if (waiting_[i].is_note) notes_.push_back(i);
    }
    /// The same with everything that is left.
    void move_all_into(std::vector<message>& list, open_calls& calls) {
        move_into(list, calls, waiting_.size());
    }

    /// The prompt and the notes of a compaction that is over are no conversation.
    void forget_notes() {
        for (const std::size_t at : notes_)
            waiting_[at].is_dead = true;
        notes_.clear();
    }

private:
    struct entry {
        message content;
        bool is_note = false;
        bool is_dead = false;
    };

    void move_into(std::vector<message>& list, open_calls& calls, std::size_t count) {
        std::vector<message> others;
        for (std::size_t i = 0; i < count; ++i) {
            if (waiting_[i].is_dead) continue;
            message& m = waiting_[i].content;
            if (m.kind() == kind::tool_call_output)
                calls.answer(std::move(m));
            else
                others.push_back(std::move(m));
        }
        calls.settle_into(list);
        list.insert(list.end(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
    }

    std::vector<entry> waiting_;
    std::vector<std::size_t> notes_; // of the open compaction, as places in waiting_
    std::size_t border_ = 0;
};

class scan {
public:
    explicit scan(resumed_state& into) : state_(&into) {}

    void read(const message& m) {
        switch (m.kind()) {
        case kind::request_begin: return on_request_begin();
        case kind::request_end: return on_request_end(*m.event_if<request_end>());
        case kind::compaction_begin: return on_compaction_begin(*m.event_if<compaction_begin>());
        case kind::compaction_end: return end_compaction();
        case kind::token_usage: last_usage_ = m.event_if<token_usage>()->request.total; return;
        case kind::abort: return state_->render_list.push_back(m);
        default: break;
        }
        if (m.is_complete()) on_model_message(m);
    }

    void finish() {
        in_request_ = false;
        if (compaction_)
            state_->dangling = compaction_end{compaction_->reason, compaction_->mode, stop_reason::failed};
        pending_.forget_notes();
        pending_.move_all_into(state_->carry_over, calls_);
        state_->repairs += calls_.placeholders();
    }

private:
    // A request that is still open was never ended: its process was.
    void on_request_begin() {
        outputs_.clear();
        pending_.begin_request();
        in_request_ = true;
    }

    void on_request_end(const request_end& end) {
        if (!std::exchange(in_request_, false) || end.status != stop_reason::completed)
            return outputs_.clear();
        commit();
        if (compaction_) return;
        ++state_->session_turns;
        if (state_->session_turns == 1) state_->first_request_total = last_usage_;
    }

    void commit() {
        std::vector<message>& history = state_->history;
        pending_.commit_into(history, calls_);
        for (message& m : outputs_) {
            if (m.kind() == kind::tool_call) {
                if (!is_runnable(m)) continue;
                if (calls_.has(m.tool_call_id())) {
                    history.push_back(repaired(m));
                    ++state_->repairs;
                    continue;
                }
                calls_.open(m);
            }
            history.push_back(std::move(m));
        }
        outputs_.clear();
    }

    /// Two calls of one answer with the same id cannot be told apart by anybody.
    static message repaired(const message& call) {
        message made = message::assistant_text(
            text("[left out: a second call with the id " + call.tool_call_id().str() + "]"));
        if (call.has_timestamp()) made.stamp(call.timestamp());
        return made;
    }

    void on_compaction_begin(const compaction_begin& begin) {
        end_compaction();
        compaction_ = begin;
    }

    // Whatever was open when it begins or ends was left by a process that died.
    void end_compaction() {
        if (std::exchange(in_request_, false)) outputs_.clear();
        pending_.forget_notes();
        compaction_.reset();
    }

    void on_model_message(const message& m) {
        state_->render_list.push_back(m);
        if (m.kind() == kind::tool_call) state_->call_ids.push_back(m.tool_call_id());
        if (is_user(m))
            pending_.add(m, compaction_.has_value() && m.kind() != kind::tool_call_output);
        else if (in_request_)
            outputs_.push_back(m);
    }

    resumed_state* state_;
    pending_input pending_;
    open_calls calls_;
    std::vector<message> outputs_; // of the open request
    bool in_request_ = false;
    std::optional<compaction_begin> compaction_; // the open one
    std::int64_t last_usage_ = 0;
};

void read_facts(resumed_state& state, std::span<const message> records) {
    const message* meta = nullptr;
    const message* tools = nullptr;
    const token_usage* usage = nullptr;
    for (const message& m : records) {
        if (meta == nullptr && m.kind() == kind::session_meta) meta = &m;
        if (m.kind() == kind::tool_list_ready) tools = &m;
        if (const auto* found = m.event_if<token_usage>()) usage = found;
    }
    if (meta != nullptr) {
        state.meta = *meta->event_if<session_meta>();
        state.head.push_back(*meta);
    }
    if (tools != nullptr) state.head.push_back(*tools);
    if (usage != nullptr) {
        state.usage = usage->session;
        state.last_request_total = usage->request.total;
    }
}

/// True if the last record closes the file and what takes its place is known: a summary, or nothing by wish.
bool read_closure(resumed_state& state, std::span<const message> records) {
    if (records.empty()) return false;
    const auto* end = records.back().event_if<compaction_end>();
    if (end == nullptr || end->status != stop_reason::completed) return false;
    if (end->mode == compaction_mode::summarize) {
        const std::string summary = last_answer(records);
        if (summary.empty()) return false;
        state.pending_summary = context_summary(summary);
    }
    state.context_closed = true;
    state.came_from_compaction = true;
    state.last_request_total = 0;
    for (const message& m : records) {
        if (m.kind() == kind::tool_call) state.call_ids.push_back(m.tool_call_id());
    }
    return true;
}

} // namespace

resumed_state resume(std::span<const message> records) {
    std::vector<message> own;
    for (const message& m : records) {
        if (m.is_recordable()) own.push_back(m);
    }
    resumed_state state;
    read_facts(state, own);
    if (read_closure(state, own)) return state;
    scan now(state);
    for (const message& m : own)
        now.read(m);
    now.finish();
    return state;
}

} // namespace thalweg
