// SPDX-License-Identifier: BSL-1.0

#include "simulation/mutants.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace thalweg::simulation {

namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(mutant::count_)> names{
    "none",
    "output_dropped",
    "output_doubled",
    "output_late",
    "decision_dropped",
    "decision_late",
    "abort_not_last",
    "abort_doubled",
    "abort_dropped",
    "last_message_lost",
    "request_end_dropped",
    "usage_doubled",
    "tail_swapped",
    "delta_dropped",
    "delta_doubled",
    "deltas_swapped",
    "stop_frame_dropped",
    "fragment_late",
    "call_dropped",
    "call_id_reused",
    "origin_lost",
    "compaction_end_dropped",
    "record_dropped",
    "record_doubled",
    "records_swapped",
    "record_of_fragment",
    "record_late",
    "rotation_lost",
    "context_output_lost",
    "context_outputs_swapped",
    "carry_over_lost",
    "steering_lost",
    "retry_input_lost",
    "input_fed_twice",
    "history_shortened",
    "tool_rerun_on_retry",
    "denied_tool_runs",
    "interrupt_lost",
    "interrupt_late",
    "frame_leaked",
    "timer_left",
    "resume_loses_input",
    "resume_doubles_input",
    "resume_forgets_ids",
};

bool is_delta(const message& m) {
    return m.is_partial() && m.frame() == frame::delta;
}
bool is_own(const message& m) {
    return m.origin().empty();
}

template <class Is>
bool erase_first(std::vector<message>& list, Is is) {
    const auto found = std::find_if(list.begin(), list.end(), is);
    if (found == list.end()) return false;
    list.erase(found);
    return true;
}

bool is_user_text(const message& m) {
    return m.kind() == kind::text && m.role() == role::user;
}

} // namespace

std::string_view to_string(mutant m) noexcept {
    return names[static_cast<std::size_t>(m)];
}

bool stream_mutator::drops(const message& m) {
    switch (m.kind()) {
    case kind::tool_call_output: return how_->strikes(mutant::output_dropped);
    case kind::approval_decision: return how_->strikes(mutant::decision_dropped);
    case kind::abort: return is_own(m) && how_->strikes(mutant::abort_dropped);
    case kind::request_end: return how_->strikes(mutant::request_end_dropped);
    case kind::tool_call: return how_->strikes(mutant::call_dropped);
    case kind::compaction_end: return how_->strikes(mutant::compaction_end_dropped);
    default: break;
    }
    if (is_delta(m)) return how_->strikes(mutant::delta_dropped);
    if (m.is_partial() && m.frame() == frame::stop) return how_->strikes(mutant::stop_frame_dropped);
    return false;
}

/// From the second call on, every other call has the id of the one before.
message stream_mutator::renamed(message m) {
    if (m.kind() == kind::partial_tool_call && m.frame() == frame::start) {
        first_id_ = std::exchange(second_id_, m.tool_call_id());
        is_renaming_ = !first_id_.empty() && how_->strikes(mutant::call_id_reused);
    }
    if (!is_renaming_ || m.tool_call_id() != second_id_ || !is_own(m)) return m;
    switch (m.kind()) {
    case kind::partial_tool_call: {
        message made = message::partial_tool_call(m.frame(), first_id_, m.name(), m.content())
                           .with_stop(m.stop());
        return made;
    }
    case kind::tool_call:
    case kind::tool_call_output: return std::move(m).with_tool_call_id(first_id_);
    case kind::approval_decision: return message::approval_decision(m.decision(), first_id_);
    default: return m;
    }
}

void stream_mutator::double_or_swap(message m, std::vector<message>& out) {
    const kind k = m.kind();
    const bool doubled = (k == kind::tool_call_output && how_->strikes(mutant::output_doubled)) ||
                         (k == kind::abort && how_->strikes(mutant::abort_doubled)) ||
                         (k == kind::token_usage && how_->strikes(mutant::usage_doubled)) ||
                         (is_delta(m) && how_->strikes(mutant::delta_doubled));
    if (doubled) out.push_back(m);
    if (k == kind::text && m.role() == role::assistant && is_own(m) && how_->strikes(mutant::fragment_late)) {
        out.push_back(m);
        out.push_back(message::partial_text(frame::delta, "late"));
        return;
    }
    if (k == kind::partial_text && !is_own(m) && how_->strikes(mutant::origin_lost)) {
        out.push_back(message::partial_text(m.frame(), m.content()));
        return;
    }
    const bool goes_behind = (k == kind::tool_call_output && how_->strikes(mutant::output_late)) ||
                             (k == kind::approval_decision && how_->strikes(mutant::decision_late)) ||
                             (k == kind::token_usage && how_->strikes(mutant::tail_swapped)) ||
                             (is_delta(m) && how_->strikes(mutant::deltas_swapped));
    if (goes_behind && !held_) {
        held_ = std::move(m);
        return;
    }
    out.push_back(std::move(m));
}

std::vector<message> stream_mutator::take(message m) {
    std::vector<message> out;
    if (how_->active() == mutant::none) {
        out.push_back(std::move(m));
        return out;
    }
    if (how_->is(mutant::abort_not_last) || how_->is(mutant::last_message_lost)) { // one message late
        if (m.kind() == kind::abort && is_own(m) && held_ && how_->is(mutant::abort_not_last))
            std::swap(m, *held_);
        if (held_) out.push_back(std::move(*held_));
        held_ = std::move(m);
        return out;
    }
    if (how_->is(mutant::call_id_reused)) m = renamed(std::move(m));
    if (drops(m)) return out;
    const bool waits_for_request = how_->is(mutant::output_late);
    const kind k = m.kind();
    const bool had_held = held_.has_value();
    double_or_swap(std::move(m), out);
    if (had_held && held_ && (!waits_for_request || k == kind::request_begin))
        out.push_back(*std::exchange(held_, std::nullopt));
    return out;
}

std::vector<message> stream_mutator::finish() {
    std::vector<message> out;
    if (held_ && !how_->is(mutant::last_message_lost)) out.push_back(std::move(*held_));
    held_.reset();
    return out;
}

void mutate_context(mutator& how, std::vector<message>& history, std::vector<message>& input, bool is_retry) {
    const auto is_output = [](const message& m) { return m.kind() == kind::tool_call_output; };
    const auto begins = [](std::string_view with) {
        return [with](const message& m) { return is_user_text(m) && m.content().view().starts_with(with); };
    };
    if (how.strikes(mutant::context_output_lost)) erase_first(input, is_output);
    if (how.strikes(mutant::context_outputs_swapped)) {
        const auto first = std::find_if(input.begin(), input.end(), is_output);
        if (first != input.end() && first + 1 != input.end() && is_output(*(first + 1)))
            std::swap(*first, *(first + 1));
    }
    if (how.strikes(mutant::carry_over_lost)) erase_first(input, begins("[turn_aborted]"));
    if (how.strikes(mutant::steering_lost)) erase_first(input, begins("[user_steering]"));
    if (is_retry && how.strikes(mutant::retry_input_lost)) erase_first(input, begins("<m"));
    if (how.strikes(mutant::input_fed_twice)) {
        const auto found = std::find_if(history.rbegin(), history.rend(), begins("<m"));
        if (found != history.rend()) input.push_back(*found);
    }
    if (how.strikes(mutant::history_shortened) && !history.empty()) history.erase(history.begin());
}

} // namespace thalweg::simulation
