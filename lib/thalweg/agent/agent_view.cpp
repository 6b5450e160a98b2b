// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_view.hpp>

#include <thalweg/agent/agent_json.hpp>
#include <thalweg/agent/detail/answer_builder.hpp>
#include <thalweg/agent/detail/call_batch.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace thalweg {

namespace {

agent_stop stop_of(const request_end& end) noexcept {
    if (end.status == stop_reason::aborted) return agent_stop::aborted;
    if (end.status != stop_reason::completed) return agent_stop::error;
    switch (end.why) {
    case finish::length: return agent_stop::length;
    case finish::tool_use: return agent_stop::tool_use;
    default: return agent_stop::stop;
    }
}

text words_for(agent_stop stop, const text& given) {
    if (!given.empty() || stop < agent_stop::error) return given;
    return stop == agent_stop::aborted ? "Request was aborted" : "The request failed for an unknown reason";
}

text error_of(const request_end& end, agent_stop stop) {
    if (end.error_message) return words_for(stop, *end.error_message);
    if (end.status == stop_reason::timeout) return "The request timed out";
    return words_for(stop, {});
}

} // namespace

class agent_view::machine {
public:
    explicit machine(std::span<const custom_type* const> customs) noexcept : customs_(customs) {}

    void feed(const message& m);
    [[nodiscard]] const event_slots& out() const noexcept { return out_; }
    [[nodiscard]] bool is_running() const noexcept { return state_ != state::idle; }
    void next() noexcept { out_.clear(); }

private:
    enum class state : std::uint8_t { idle, turn, answering, tools };

    void on_run_begin();
    void on_run_end(const run_end& end);
    void on_input(const message& m);
    void on_request_begin();
    void on_request_end(const request_end& end);
    void in_answer(const message& m);
    void in_tools(const message& m);

    void open_turn();
    void finish_answer(agent_stop stop, text error, bool empty_text);
    void close_tools();
    void leave();
    void empty_turn(agent_stop stop, const text& reason);
    void schedule_retry(const request_end& end, const text& error);
    void end_retry(bool success, const text& error);
    void add_message(const agent_message& m) { messages_.push_back(m); }

    std::span<const custom_type* const> customs_;
    event_slots out_;
    state state_ = state::idle;
    bool has_turn_ = false;    // one is open
    bool was_aborted_ = false; // an `abort` was seen
    std::int64_t now_ = 0;     // of the fact at hand
    detail::answer_builder answer_;
    detail::call_batch batch_;
    std::vector<message> kept_;           // facts about tools that came before the end of the answer
    std::vector<agent_message> messages_; // of the run
    std::size_t turn_began_at_ = 0;       // in messages_: the assistant message of the last turn
    std::optional<agent_event::auto_retry_start> announced_; // comes behind the turn of the failed attempt
    std::optional<int> retrying_;                            // the attempt whose end is open
};

void agent_view::machine::feed(const message& m) {
    if (!m.origin().empty() || m.is_trace_only()) return;
    const kind k = m.kind();
    if (state_ == state::answering && m.is_partial()) return in_answer(m); // nearly all
    now_ = m.timestamp();
    if (k == kind::run_begin) return on_run_begin();
    if (state_ == state::idle) return;
    if (k == kind::run_end) {
        const run_end* end = m.event_if<run_end>();
        return on_run_end(end == nullptr ? run_end{} : *end);
    }
    if (m.is_input()) return on_input(m);
    if (k == kind::abort) {
        was_aborted_ = true;
    } else if (k == kind::request_begin) {
        on_request_begin();
    } else if (state_ == state::answering) {
        in_answer(m);
    } else if (state_ == state::tools) {
        in_tools(m);
    }
}

// Edges of the run
// -----------------------------------------------------------------------------------------------------

void agent_view::machine::on_run_begin() {
    if (state_ == state::idle) {
        out_.forget();
    } else {
        on_run_end({run_ending::failed, "The run ended without saying so"});
    }
    out_.add(agent_event::agent_start{});
    state_ = state::turn;
    has_turn_ = false;
    was_aborted_ = false;
    messages_.clear();
    turn_began_at_ = 0;
    kept_.clear();
    announced_.reset();
    retrying_.reset();
}

void agent_view::machine::on_run_end(const run_end& end) {
    const bool is_aborted = was_aborted_ || end.how == run_ending::aborted;
    const bool is_bad = is_aborted || end.how == run_ending::failed;
    const agent_stop stop = end.how == run_ending::failed ? agent_stop::error : agent_stop::aborted;
    if (state_ == state::answering) {
        const text reason = is_bad ? end.reason : text("The run ended inside an answer");
        finish_answer(is_bad ? stop : agent_stop::error, words_for(stop, reason),
                      end.how == run_ending::failed);
    }
    if (state_ == state::tools) close_tools();
    const bool is_told = !messages_.empty() && messages_.size() > turn_began_at_ &&
                         messages_[turn_began_at_].kind() == agent_message::type::assistant &&
                         messages_[turn_began_at_].is_broken();
    if (retrying_) end_retry(false, words_for(stop, end.reason));
    if (has_turn_ || (is_bad && !is_told)) empty_turn(stop, end.reason);
    out_.add(agent_event::agent_end{std::exchange(messages_, {})});
    state_ = state::idle;
}

/// A turn whose assistant message is none of the model's (R-EVT-65, R-EVT-74).
void agent_view::machine::empty_turn(agent_stop stop, const text& reason) {
    open_turn();
    answer_.begin();
    finish_answer(stop, words_for(stop, reason), stop == agent_stop::error);
    if (state_ == state::tools) close_tools();
}

void agent_view::machine::open_turn() {
    if (!std::exchange(has_turn_, true)) out_.add(agent_event::turn_start{});
}

/// Before anything that begins a turn: what is open is closed as well as it goes.
void agent_view::machine::leave() {
    if (state_ == state::answering)
        finish_answer(agent_stop::error, "The answer was left without an end", false);
    if (state_ == state::tools) close_tools();
    state_ = state::turn;
}

void agent_view::machine::on_input(const message& m) {
    leave();
    open_turn();
    agent_message input;
    if (m.kind() == kind::agent_input) {
        auto read = parse_agent_message(m.content(), customs_);
        // What cannot be read is shown as it is rather than lost.
        input = read ? std::move(read.value()) : agent_message::user(m.content());
    } else if (m.kind() == kind::image_url) {
        input = agent_message::user(content_list(content_block::image_url(m.content())));
    } else if (m.kind() == kind::inline_data) {
        input = agent_message::user(content_list(content_block::image(m.content(), m.mime_type())));
    } else {
        content_list content(content_block::text(m.content()).with_fidelity(m.fidelity()));
        for (const text& url : m.images())
            content.push_back(content_block::image_url(url));
        input = agent_message::user(std::move(content));
    }
    if (input.timestamp() == 0) input = std::move(input).with_timestamp(now_);
    out_.add(agent_event::message_start{input});
    out_.add(agent_event::message_end{input});
    add_message(input);
}

// The answer
// -----------------------------------------------------------------------------------------------------------

void agent_view::machine::on_request_begin() {
    leave();
    open_turn();
    answer_.begin();
    state_ = state::answering;
}

void agent_view::machine::in_answer(const message& m) {
    switch (m.kind()) {
    case kind::partial_text:
    case kind::partial_thinking:
    case kind::partial_tool_call: return answer_.on_partial(m, out_);
    case kind::response_begin: return answer_.announce(now_, out_);
    case kind::request_end:
        if (const auto* end = m.event_if<request_end>()) on_request_end(*end);
        return;
    case kind::token_usage:
        if (const auto* usage = m.event_if<token_usage>()) answer_.on_usage(usage->request);
        return;
    case kind::partial_tool_call_output:
    case kind::tool_call_output:
    case kind::call_begin:
    case kind::body_begin:
    case kind::call_progress:
    case kind::call_settled: kept_.push_back(m); return;
    default:
        if (m.is_complete() && m.role() == role::assistant) answer_.on_complete(m, out_);
    }
}

void agent_view::machine::on_request_end(const request_end& end) {
    const agent_stop stop = stop_of(end);
    if (stop < agent_stop::error) answer_.settle(out_);
    const text error = error_of(end, stop);
    if (stop == agent_stop::error && end.retry_in_ms) schedule_retry(end, error);
    finish_answer(stop, stop < agent_stop::error ? text() : error, end.is_outside);
}

/// message_end; then the batch, or the end of the turn. Ends in the state turn or tools.
void agent_view::machine::finish_answer(agent_stop stop, text error, bool empty_text) {
    const agent_message& done = answer_.finish(stop, std::move(error), now_, empty_text, out_);
    turn_began_at_ = messages_.size();
    add_message(done);
    if (retrying_ && !announced_) end_retry(!done.is_broken(), done.error());
    batch_.begin(answer_.calls(), stop);
    state_ = state::tools;
    for (const message& fact : std::exchange(kept_, {}))
        batch_.on_fact(fact, out_);
    if (batch_.is_empty() || (done.is_broken() && !batch_.is_running())) close_tools();
}

// The tools
// ------------------------------------------------------------------------------------------------------------

void agent_view::machine::in_tools(const message& m) {
    if (m.kind() == kind::batch_settled) return close_tools();
    batch_.on_fact(m, out_);
    // Nothing settles the calls of a broken answer: the turn ends when the last body that began has ended.
    if (answer_.message().is_broken() && !batch_.is_running()) close_tools();
}

void agent_view::machine::close_tools() {
    batch_.close(now_, out_);
    out_.add(agent_event::turn_end{answer_.message(), batch_.results()});
    messages_.insert(messages_.end(), batch_.results().begin(), batch_.results().end());
    state_ = state::turn;
    has_turn_ = false;
    if (!announced_) return;
    messages_.resize(turn_began_at_); // an attempt that is repeated leaves nothing behind (C12)
    retrying_ = announced_->attempt;
    out_.add(*std::exchange(announced_, std::nullopt));
}

// Repeats inside the run (C12, R-EVT-72)
// -------------------------------------------------------------------------------

void agent_view::machine::schedule_retry(const request_end& end, const text& error) {
    announced_ = agent_event::auto_retry_start{end.attempt.value_or(1), end.max_attempts, *end.retry_in_ms,
                                               error};
}

void agent_view::machine::end_retry(bool success, const text& error) {
    out_.add(agent_event::auto_retry_end{success, *retrying_,
                                         success ? std::nullopt : std::optional<text>(error)});
    retrying_.reset();
}

agent_view::agent_view(std::span<const custom_type* const> customs)
    : machine_(std::make_unique<machine>(customs)) {}
agent_view::agent_view(agent_view&&) noexcept = default;
agent_view& agent_view::operator=(agent_view&&) noexcept = default;
agent_view::~agent_view() = default;

std::span<const agent_event> agent_view::feed(const message& fact) {
    machine_->next();
    machine_->feed(fact);
    return machine_->out().all();
}

bool agent_view::is_running() const noexcept {
    return machine_->is_running();
}

message input_fact(const agent_message& m) {
    const content_list& content = m.content();
    const bool is_plain = m.kind() == agent_message::type::user && content.size() == 1 &&
                          content.back().kind() == content_block::type::text &&
                          content.back().fidelity().empty();
    message fact = is_plain ? message::user_text(content.back().content()).as_input()
                            : message::agent_input(text(to_json(m)));
    if (m.timestamp() != 0) fact.stamp(m.timestamp());
    return fact;
}

} // namespace thalweg
