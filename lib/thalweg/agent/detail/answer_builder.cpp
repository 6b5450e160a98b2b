// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/detail/answer_builder.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace thalweg::detail {

namespace {

content_block::type block_of(kind k) noexcept {
    switch (k) {
    case kind::text:
    case kind::partial_text: return content_block::type::text;
    case kind::thinking:
    case kind::partial_thinking: return content_block::type::thinking;
    case kind::tool_call:
    case kind::partial_tool_call: return content_block::type::tool_call;
    default: return content_block::type::other;
    }
}

content_block make_block(const message& m, text content) {
    switch (block_of(m.kind())) {
    case content_block::type::text: return content_block::text(std::move(content));
    case content_block::type::thinking: return content_block::thinking(std::move(content));
    case content_block::type::tool_call:
        return content_block::tool_call(m.tool_call_id(), m.name(), std::move(content));
    default: return content_block::other(text(to_json(m)));
    }
}

} // namespace

void answer_builder::begin() {
    partial_ = agent_message(agent_message::type::assistant);
    buffer_.clear();
    phase_ = phase::none;
    is_announced_ = false;
    is_shown_ = false;
    is_behind_ = false;
    calls_.clear();
}

void answer_builder::announce(std::int64_t timestamp, event_slots& out) {
    if (std::exchange(is_announced_, true)) return;
    partial_.timestamp_ = timestamp;
    is_shown_ = false;
    out.add(agent_event::message_start{partial_});
}

bool answer_builder::is_of(const thalweg::message& m) const noexcept {
    if (phase_ == phase::none) return false;
    const content_block& open = partial_.content_.back();
    return open.kind() == block_of(m.kind()) && open.id() == m.tool_call_id();
}

void answer_builder::on_partial(const thalweg::message& m, event_slots& out) {
    if (m.frame() == frame::delta && phase_ == phase::open && is_of(m)) return extend(m.content(), out);
    announce(m.timestamp(), out);
    if (m.frame() == frame::stop) {
        if (phase_ == phase::open && is_of(m)) {
            phase_ = m.stop() == stop_reason::completed ? phase::stopped : phase::open;
        }
        return;
    }
    settle(out);
    start(make_block(m, {}), out);
    if (m.frame() == frame::delta) extend(m.content(), out);
}

void answer_builder::on_complete(const thalweg::message& m, event_slots& out) {
    announce(m.timestamp(), out);
    const bool is_call = m.kind() == kind::tool_call;
    const bool is_cut = m.stop() != stop_reason::completed;
    const bool was_open = is_of(m);
    catch_up();
    if (!was_open) settle(out);
    if (is_cut) { // the block stays as far as it got
        phase_ = phase::none;
        if (was_open && is_call) calls_.push_back({m.tool_call_id(), m.name(), m.content(), true});
        return;
    }
    content_block whole = make_block(m, m.content()).with_fidelity(m.fidelity());
    if (whole.kind() == content_block::type::other) { // no event shows it alone
        partial_.content_.grow(std::move(whole));
        is_shown_ = false;
        return;
    }
    if (!was_open) {
        start(make_block(m, {}), out);
        if (!m.content().empty()) extend(m.content(), out);
    }
    if (is_call) calls_.push_back({m.tool_call_id(), m.name(), m.content(), false});
    end(std::move(whole), out);
}

void answer_builder::settle(event_slots& out) {
    catch_up();
    if (phase_ == phase::stopped) end(partial_.content_.back(), out);
    phase_ = phase::none;
}

const agent_message& answer_builder::finish(agent_stop stop, text error, std::int64_t timestamp,
                                            bool empty_text, event_slots& out) {
    catch_up();
    if (!is_announced_ && empty_text) partial_.content_ = content_list(content_block::text({}));
    partial_.stop_ = stop;
    partial_.extra_ = std::move(error);
    if (partial_.is_broken()) drop_cut_calls();
    announce(timestamp, out);
    out.add(agent_event::message_end{partial_});
    is_shown_ = false;
    phase_ = phase::none;
    return partial_;
}

/// A block of a call whose end was not seen is none of the message any more (R-EVT-63).
void answer_builder::drop_cut_calls() {
    std::erase_if(calls_, [](const call& each) { return each.is_cut; });
    std::unordered_set<text> whole;
    for (const call& each : calls_)
        whole.insert(each.id);
    const auto is_whole = [&whole](const content_block& block) {
        return block.kind() != content_block::type::tool_call || whole.contains(block.id());
    };
    if (std::all_of(partial_.content_.begin(), partial_.content_.end(), is_whole)) return;
    content_list kept;
    for (const content_block& each : partial_.content_) {
        if (is_whole(each)) kept.push_back(each);
    }
    partial_.content_ = std::move(kept);
}

void answer_builder::start(content_block block, event_slots& out) {
    const content_block::type kind = block.kind();
    partial_.content_.grow(std::move(block));
    buffer_.clear();
    phase_ = phase::open;
    is_shown_ = false;
    show(assistant_update::start(kind, partial_.content_.size() - 1), out);
}

void answer_builder::extend(const text& piece, event_slots& out) {
    buffer_.append(piece);
    if (is_shown_ && out.all().empty()) {
        // What a long answer consists of: the place has the update before this one.
        auto& slot = out.reuse<agent_event::message_update>();
        buffer_.look_into(slot.message.content_.back_content());
        slot.update.delta_ = piece;
        is_behind_ = true;
        return;
    }
    is_behind_ = false;
    buffer_.look_into(partial_.content_.back_content());
    show(assistant_update::delta(partial_.content_.back().kind(), partial_.content_.size() - 1, piece), out);
}

void answer_builder::catch_up() noexcept {
    if (std::exchange(is_behind_, false)) buffer_.look_into(partial_.content_.back_content());
}

void answer_builder::end(content_block whole, event_slots& out) {
    partial_.content_.replace_back(std::move(whole));
    phase_ = phase::none;
    is_shown_ = false;
    show(assistant_update::end(partial_.content_.size() - 1, partial_.content_.back()), out);
}

void answer_builder::show(assistant_update update, event_slots& out) {
    const bool is_first = out.all().empty();
    auto& slot = out.reuse<agent_event::message_update>();
    slot.message = partial_;
    is_shown_ = is_first && update.is_delta();
    slot.update = std::move(update);
}

} // namespace thalweg::detail
