// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_event_checker.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace thalweg {

namespace {

using rule = agent_event_checker::rule;
using event = agent_event;

bool is_assistant(const agent_message& m) noexcept {
    return m.kind() == agent_message::type::assistant;
}

} // namespace

struct agent_event_checker::state {
    enum class call { running, ended };

    std::vector<violation> found;
    std::size_t at = 0; // of the event at hand
    bool in_run = false;
    bool in_turn = false;
    std::optional<agent_message> open;    // message
    std::optional<agent_message> answer;  // the turn's assistant message, complete
    std::vector<agent_message> results;   // of the turn
    std::vector<agent_message> messages;  // of the run
    std::size_t turn_began_at = 0;        // in messages: the turn's assistant message
    std::unordered_map<text, call> calls; // of the turn
    std::vector<std::string> so_far;      // content of the blocks that updates have begun
    bool block_is_open = false;           // the last of them

    void fault(rule which, std::string sentence) {
        if (found.size() < 100) found.push_back({which, at, std::move(sentence)});
    }
    bool expect(bool holds, rule which, std::string_view sentence) {
        if (!holds) fault(which, std::string(sentence));
        return holds;
    }

    void operator()(const event::agent_start&);
    void operator()(const event::agent_end& e);
    void operator()(const event::turn_start&);
    void operator()(const event::turn_end& e);
    void operator()(const event::message_start& e);
    void operator()(const event::message_update& e);
    void operator()(const event::message_end& e);
    void operator()(const event::tool_execution_start& e);
    void operator()(const event::tool_execution_update& e);
    void operator()(const event::tool_execution_end& e);
    void operator()(const event::auto_retry_start&);
    void operator()(const event::auto_retry_end&) {}

    void check_update(const agent_message& shown, const assistant_update& update);
    void check_snapshot(const agent_message& shown, std::size_t from);
    [[nodiscard]] bool has_running() const {
        return std::any_of(calls.begin(), calls.end(),
                           [](const auto& each) { return each.second == call::running; });
    }
};

void agent_event_checker::state::operator()(const event::agent_start&) {
    expect(!in_run, rule::run, "R-EVT-03: agent_start inside a run");
    in_run = true;
    in_turn = false;
    open.reset();
    messages.clear();
    calls.clear();
}

void agent_event_checker::state::operator()(const event::agent_end& e) {
    expect(!in_turn, rule::turn, "R-EVT-02: agent_end inside a turn");
    expect(e.messages == messages, rule::agent_end,
           "R-EVT-13: agent_end does not list the messages of the run, each once and in order");
    in_run = false;
}

void agent_event_checker::state::operator()(const event::turn_start&) {
    expect(!in_turn, rule::turn, "R-EVT-03: turn_start inside a turn");
    in_turn = true;
    answer.reset();
    results.clear();
    calls.clear();
}

void agent_event_checker::state::operator()(const event::turn_end& e) {
    if (!expect(in_turn, rule::turn, "R-EVT-02: turn_end without turn_start")) return;
    expect(!open, rule::turn, "R-EVT-02: turn_end while a message is open");
    expect(!has_running(), rule::turn, "R-EVT-02: turn_end while a tool runs");
    expect(answer && *answer == e.message, rule::turn_end,
           "R-EVT-12: turn_end does not have the assistant message of its turn");
    expect(results == e.tool_results, rule::turn_end,
           "R-EVT-12: turn_end does not list the tool results of its turn");
    in_turn = false;
}

void agent_event_checker::state::operator()(const event::message_start& e) {
    expect(in_turn, rule::message, "R-EVT-04: message_start outside of a turn");
    expect(!open, rule::message, "R-EVT-09: message_start while another message is open");
    if (is_assistant(e.message)) {
        expect(!answer, rule::order, "R-EVT-02: a second assistant message in one turn");
        expect(!has_running(), rule::tool, "R-EVT-03: an assistant message begins while a tool runs");
    } else if (e.message.kind() == agent_message::type::tool_result) {
        const auto found = calls.find(e.message.tool_call_id());
        expect(found != calls.end() && found->second == call::ended, rule::result,
               "R-EVT-05: a tool-result message without the end of its call's execution before it");
    } else {
        expect(!answer, rule::order, "R-EVT-04: an input message behind the assistant message of its turn");
    }
    open = e.message;
    so_far.clear();
    for (const content_block& block : e.message.content())
        so_far.push_back(block.content().str());
    block_is_open = false;
}

void agent_event_checker::state::operator()(const event::message_update& e) {
    const bool fits = open && is_assistant(*open) && is_assistant(e.message);
    if (!expect(fits, rule::update, "R-EVT-08: message_update without an open assistant message")) return;
    check_update(e.message, e.update);
    check_snapshot(e.message, e.update.is_delta() && !so_far.empty() ? so_far.size() - 1 : 0);
    open = e.message;
}

void agent_event_checker::state::check_update(const agent_message& shown, const assistant_update& update) {
    const std::size_t index = update.content_index();
    if (!expect(index < shown.content().size() && shown.content()[index].kind() == update.block(),
                rule::update, "R-EVT-15: the update's index is not that of a block of its kind"))
        return;
    if (update.is_start()) {
        expect(index >= so_far.size(), rule::update, "R-EVT-15: a block begins where there is one already");
        // Blocks that no update shows (images) may stand before it.
        for (std::size_t i = so_far.size(); i < index; ++i)
            so_far.push_back(shown.content()[i].content().str());
        if (so_far.size() == index) so_far.emplace_back();
        block_is_open = true;
        return;
    }
    if (!expect(block_is_open && index + 1 == so_far.size(), rule::update,
                "R-EVT-15: an update of a block that is not open"))
        return;
    if (update.is_delta()) {
        so_far.back() += update.delta().view();
        return;
    }
    expect(update.content() == so_far.back(), rule::update,
           "R-EVT-15: the end of a block is not the sum of its deltas");
    block_is_open = false;
}

void agent_event_checker::state::check_snapshot(const agent_message& shown, std::size_t from) {
    bool same = shown.content().size() == so_far.size();
    // While a block grows, the ones before it were looked at when it began.
    for (std::size_t i = from; same && i < so_far.size(); ++i)
        same = shown.content()[i].content() == so_far[i];
    expect(same, rule::update, "R-EVT-16: the snapshot does not show what the updates said so far");
}

void agent_event_checker::state::operator()(const event::message_end& e) {
    const agent_message& m = e.message;
    const bool fits = open && open->role() == m.role();
    expect(fits, rule::message, "R-EVT-09: message_end without a start of this message");
    if (is_assistant(m)) {
        expect(
            m.is_broken() != m.error().empty(), rule::error,
            "R-EVT-18: an error text belongs to messages that ended by an error or an abort, and to all of "
            "them");
        if (fits && !m.is_broken() && !so_far.empty()) check_snapshot(m, 0);
        answer = m;
        turn_began_at = messages.size();
    } else if (fits) {
        expect(*open == m, rule::message, "R-EVT-08: start and end of a complete message differ");
    }
    if (m.kind() == agent_message::type::tool_result) results.push_back(m);
    messages.push_back(m);
    open.reset();
}

void agent_event_checker::state::operator()(const event::tool_execution_start& e) {
    expect(in_turn && answer && (!open || !is_assistant(*open)), rule::tool,
           "R-EVT-03: a tool starts before the assistant message of its turn has ended");
    expect(calls.emplace(e.tool_call_id, call::running).second, rule::tool,
           "R-EVT-09: a second tool_execution_start for one call");
}

void agent_event_checker::state::operator()(const event::tool_execution_update& e) {
    const auto found = calls.find(e.tool_call_id);
    expect(found != calls.end() && found->second == call::running, rule::tool,
           "R-EVT-40: tool_execution_update of a tool that does not run");
}

void agent_event_checker::state::operator()(const event::tool_execution_end& e) {
    const auto found = calls.find(e.tool_call_id);
    if (!expect(found != calls.end() && found->second == call::running, rule::tool,
                "R-EVT-09: tool_execution_end without a start"))
        return;
    found->second = call::ended;
}

void agent_event_checker::state::operator()(const event::auto_retry_start&) {
    if (in_run && !in_turn && answer && answer->is_broken()) messages.resize(turn_began_at);
}

agent_event_checker::agent_event_checker() : state_(std::make_unique<state>()) {}
agent_event_checker::agent_event_checker(agent_event_checker&&) noexcept = default;
agent_event_checker& agent_event_checker::operator=(agent_event_checker&&) noexcept = default;
agent_event_checker::~agent_event_checker() = default;

void agent_event_checker::feed(const agent_event& event) {
    const bool may_stand_alone = event.kind() == agent_event::type::agent_start ||
                                 event.kind() == agent_event::type::auto_retry_start ||
                                 event.kind() == agent_event::type::auto_retry_end;
    if (!state_->in_run && !may_stand_alone) {
        state_->fault(rule::run, "R-EVT-99: " + std::string(to_string(event.kind())) + " outside of a run");
    } else {
        event.visit(*state_);
    }
    ++state_->at;
}

void agent_event_checker::finish() {
    state_->expect(!state_->in_run, rule::run, "R-EVT-99: the stream ends inside a run");
}

bool agent_event_checker::ok() const noexcept {
    return state_->found.empty();
}

std::span<const agent_event_checker::violation> agent_event_checker::violations() const noexcept {
    return state_->found;
}

std::string agent_event_checker::report() const {
    std::string all;
    for (const violation& each : state_->found) {
        all += "event " + std::to_string(each.event_index) + ": " + each.text + '\n';
    }
    return all;
}

std::string_view to_string(agent_event_checker::rule r) noexcept {
    constexpr std::array<std::string_view, 10> names = {"run",  "turn",   "message",  "order",     "update",
                                                        "tool", "result", "turn_end", "agent_end", "error"};
    return names[static_cast<std::size_t>(r)];
}

} // namespace thalweg
