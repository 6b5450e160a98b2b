// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/message_details.hpp>
#include <thalweg/protocol/detail/object_writer.hpp>
#include <thalweg/protocol/timestamp.hpp>

#include <algorithm>

namespace thalweg {

namespace {

using detail::object_writer;

// Every model message begins with the same few words: they are put together once for each combination.

std::string_view first_member(kind k) noexcept {
    switch (k) {
    case kind::text:
    case kind::partial_text: return "text";
    case kind::thinking:
    case kind::partial_thinking: return "thinking";
    case kind::tool_call:
    case kind::partial_tool_call: return "name";
    case kind::tool_call_output:
    case kind::partial_tool_call_output: return "output";
    case kind::image_url: return "image_url";
    default: return "data"; // inline_data, inline_thinking
    }
}

std::string make_model_head(kind k, role by, frame f) {
    std::string head = R"("type":"model_msg","payload":)";
    object_writer payload(head);
    payload.word("type", to_string(k));
    payload.word("role", to_string(by));
    if (f != frame::none) payload.word("event_type", to_string(f));
    payload.key(first_member(k));
    return head;
}

// From the envelope's `type` to the colon behind the payload's first member of its own.
std::string_view model_head(const message& m) {
    constexpr std::size_t kinds = static_cast<std::size_t>(kind::partial_tool_call_output) + 1;
    constexpr std::size_t roles = 2;
    constexpr std::size_t frames = 4;
    static const auto heads = [] {
        std::array<std::string, kinds * roles * frames> made;
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = make_model_head(static_cast<kind>(i / frames / roles),
                                      static_cast<role>(i / frames % roles), static_cast<frame>(i % frames));
        }
        return made;
    }();
    return heads[(static_cast<std::size_t>(m.kind()) * roles + static_cast<std::size_t>(m.role())) * frames +
                 static_cast<std::size_t>(m.frame())];
}

std::string_view stop_member(stop_reason reason) noexcept {
    switch (reason) {
    case stop_reason::none: return "";
    case stop_reason::completed: return R"(,"stop_reason":"completed")";
    case stop_reason::aborted: return R"(,"stop_reason":"aborted")";
    case stop_reason::timeout: return R"(,"stop_reason":"timeout")";
    case stop_reason::malformed: return R"(,"stop_reason":"malformed")";
    case stop_reason::failed: return R"(,"stop_reason":"failed")";
    case stop_reason::auth: return R"(,"stop_reason":"auth")";
    }
    return "";
}

// What follows the head, without the closing brace.
void write_model_members(std::string& out, const message& m) {
    const bool is_call = m.kind() == kind::tool_call || m.kind() == kind::partial_tool_call;
    const bool is_output = m.kind() == kind::tool_call_output || m.kind() == kind::partial_tool_call_output;
    object_writer payload(out, object_writer::in_the_middle);
    if (is_call) {
        json::append_string(out, m.name());
        payload.string("arguments", m.content());
    } else {
        json::append_string(out, m.content());
    }
    if (is_output && !m.images().empty()) payload.strings("images", m.images());
    if (is_call || is_output) payload.string("tool_call_id", m.tool_call_id());
    if (m.kind() == kind::inline_data || m.kind() == kind::inline_thinking)
        payload.string("mime_type", m.mime_type());
    out += stop_member(m.stop());
    if (!m.is_partial() && !m.fidelity().empty()) payload.raw("fidelity", m.fidelity());
    if (m.kind() == kind::text && !m.sender().empty()) payload.string("sender", m.sender());
}

// Appends `{` and the time stamp, if any, with the comma behind it, then `more`.
void begin_envelope(std::string& out, const message& m, std::string_view more) {
    constexpr std::string_view key = R"({"timestamp":")";
    constexpr std::size_t longest = key.size() + timestamp_length + 2;
    char start[longest] = {'{'};
    std::size_t size = 1;
    if (m.has_timestamp()) {
        char* const time = std::copy_n(key.data(), key.size(), start);
        format_timestamp(time, m.timestamp());
        time[timestamp_length] = '"';
        time[timestamp_length + 1] = ',';
        size = longest;
    }
    out.reserve(out.size() + size + more.size() + m.content().size() + m.tool_call_id().size() + 64);
    out.append(start, size).append(more);
}

} // namespace

void message_codec::write(std::string& out, const message& m, bool facts) {
    const message::details* rare = m.details_;
    const bool is_raw = rare != nullptr && !rare->raw_payload.empty();
    const bool is_event = m.is_event();
    if (m.kind() > kind::other_event) {
        begin_envelope(out, m, R"("type":"fact","payload":)");
        write_fact_payload(out, m);
    } else if (is_event || is_raw || m.kind() == kind::session_meta) {
        begin_envelope(out, m,
                       is_event                    ? R"("type":"event_msg")"
                       : is_raw && m.is_complete() ? R"("type":"model_msg")"
                                                   : R"("type":"session_meta")");
        object_writer envelope(out, object_writer::in_the_middle);
        if (is_raw)
            envelope.raw("payload", rare->raw_payload);
        else
            write_event_payload(envelope.key("payload"), m, facts);
    } else {
        begin_envelope(out, m, model_head(m));
        write_model_members(out, m);
        if (rare != nullptr) out += rare->extra_payload;
        out += '}';
    }
    if (rare != nullptr) {
        object_writer envelope(out, object_writer::in_the_middle);
        if (!rare->origin.empty()) envelope.strings("origin", rare->origin);
        out += rare->extra_envelope;
    }
    if (facts) write_fact_members(out, m);
    out += '}';
}

void message_codec::write_fact_payload(std::string& out, const message& m) {
    object_writer payload(out);
    payload.word("type", to_string(m.kind()));
    switch (m.kind()) {
    case kind::agent_input: payload.raw("message", m.content()); break;
    case kind::run_end: detail::write_event(payload, m.details_->event, true); break;
    case kind::call_begin:
        payload.string("tool_call_id", m.tool_call_id());
        payload.string("name", m.name());
        payload.string("arguments", m.content());
        if (!m.label().empty()) payload.string("label", m.label());
        break;
    case kind::call_progress:
        payload.string("tool_call_id", m.tool_call_id());
        payload.string("content", m.content());
        break;
    case kind::body_begin:
    case kind::call_settled: payload.string("tool_call_id", m.tool_call_id()); break;
    default: break;
    }
    payload.close();
}

/// What a fact log says about any message, in its envelope.
void message_codec::write_fact_members(std::string& out, const message& m) {
    object_writer envelope(out, object_writer::in_the_middle);
    if (m.is_input() && m.kind() != kind::agent_input) envelope.raw("input", "true");
    if (m.is_closing()) envelope.raw("closing", "true");
    if (m.is_trace_only()) envelope.raw("trace_only", "true");
    if (!m.details_json().empty()) envelope.raw("details", m.details_json());
    const bool is_output = m.kind() == kind::tool_call_output || m.kind() == kind::partial_tool_call_output;
    if (!m.images().empty() && !is_output) envelope.strings("images", m.images());
}

void message_codec::write_event_payload(std::string& out, const message& m, bool facts) {
    const message::details* rare = m.details_;
    object_writer payload(out);
    if (m.kind() != kind::session_meta) payload.word("type", to_string(m.kind()));
    if (m.kind() == kind::approval_decision) {
        payload.word("decision", to_string(m.decision()));
        payload.string("tool_call_id", m.tool_call_id());
    }
    if (rare != nullptr) {
        detail::write_event(payload, rare->event, facts);
        payload.received(rare->extra_payload);
    }
    payload.close();
}

void append_json(std::string& out, const message& m) {
    if (!m.is_fact()) message_codec::write(out, m, false);
}

void append_fact_json(std::string& out, const message& m) {
    message_codec::write(out, m, true);
}

std::string to_json(const message& m) {
    std::string out;
    append_json(out, m);
    return out;
}

} // namespace thalweg
