// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/detail/call_batch.hpp>

#include <utility>

namespace thalweg::detail {

void call_batch::begin(std::span<const answer_builder::call> calls, agent_stop stop) {
    records_.clear();
    by_id_.clear();
    results_.clear();
    last_ = nullptr;
    running_ = 0;
    stop_ = stop;
    for (const answer_builder::call& each : calls) {
        record& call = records_.emplace_back();
        call.id = each.id;
        call.name = each.name;
        call.arguments = each.arguments;
        call.is_cut = each.is_cut;
        by_id_.emplace(each.id, &call);
    }
}

call_batch::record* call_batch::find(const text& id) {
    if (last_ != nullptr && last_->id == id) return last_;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return nullptr;
    last_ = found->second;
    return last_;
}

void call_batch::on_fact(const message& m, event_slots& out) {
    record* call = find(m.tool_call_id());
    if (call == nullptr) return;
    if (m.kind() == kind::call_settled) return settle(*call, m.timestamp(), out);
    if (call->has_ended) return;
    switch (m.kind()) {
    case kind::call_begin:
        start(*call, m.label(), out);
        if (call->is_cut) end(*call, {content_block::text(text(placeholder(*call)))}, true, out);
        break;
    case kind::body_begin: begin_body(*call); break;
    case kind::call_progress:
        start(*call, {}, out);
        begin_body(*call);
        update(*call, {content_block::text(m.content()), m.details_json()}, out);
        break;
    case kind::partial_tool_call_output: on_delta(*call, m, out); break;
    case kind::tool_call_output: {
        tool_output result{content_block::text(m.content()), m.details_json()};
        for (const text& url : m.images())
            result.content.push_back(content_block::image_url(url));
        end(*call, std::move(result), m.stop() != stop_reason::completed, out);
        break;
    }
    default: break;
    }
}

void call_batch::start(record& call, const text& label, event_slots& out) {
    if (std::exchange(call.has_started, true)) return;
    out.add(agent_event::tool_execution_start{call.id, call.name, label, call.arguments});
}

void call_batch::begin_body(record& call) noexcept {
    if (!std::exchange(call.has_run, true)) ++running_;
}

void call_batch::update(record& call, tool_output shown, event_slots& out) {
    auto& slot = out.reuse<agent_event::tool_execution_update>();
    slot.tool_call_id = call.id;
    slot.tool_name = call.name;
    slot.args = call.arguments;
    slot.partial_result = std::move(shown);
}

/// Each piece but the last one of a result is progress: the output so far (C15).
void call_batch::on_delta(record& call, const message& m, event_slots& out) {
    start(call, {}, out);
    if (m.frame() != frame::delta || m.content().empty()) return;
    if (!m.is_closing()) begin_body(call);
    if (!call.streamed) call.streamed = std::make_unique<growing_text>();
    call.streamed->append(m.content());
    if (!m.is_closing()) update(call, {content_block::text(call.streamed->look())}, out);
}

void call_batch::end(record& call, tool_output result, bool is_error, event_slots& out) {
    start(call, {}, out);
    if (std::exchange(call.has_ended, true)) return;
    if (call.has_run) --running_;
    call.streamed.reset();
    call.output = std::move(result);
    call.is_error = is_error;
    out.add(agent_event::tool_execution_end{call.id, call.name, call.output, is_error});
}

void call_batch::settle(record& call, std::int64_t timestamp, event_slots& out) {
    if (std::exchange(call.is_settled, true)) return;
    if (!call.has_ended) end(call, {content_block::text(text(placeholder(call)))}, true, out);
    agent_message result = agent_message::tool_result(call.id, call.name, call.output.content,
                                                      call.output.details, call.is_error)
                               .with_timestamp(timestamp);
    out.add(agent_event::message_start{result});
    out.add(agent_event::message_end{result});
    results_.push_back(std::move(result));
}

void call_batch::close(std::int64_t timestamp, event_slots& out) {
    const bool is_broken = stop_ >= agent_stop::error;
    for (record& call : records_) {
        if (call.is_settled) continue;
        if (is_broken && call.has_run) {
            if (!call.has_ended) end(call, {content_block::text(text(placeholder(call)))}, true, out);
        } else {
            settle(call, timestamp, out);
        }
    }
}

std::string_view call_batch::placeholder(const record& call) const noexcept {
    if (call.is_cut) return "Tool call was not executed: its arguments were cut off";
    if (call.has_run) return "Operation aborted";
    if (stop_ == agent_stop::error) return "Tool call was not executed: the answer failed";
    if (stop_ == agent_stop::aborted) return "Tool call was not executed: the answer was aborted";
    return "Operation aborted";
}

} // namespace thalweg::detail
