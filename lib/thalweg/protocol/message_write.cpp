// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/message_details.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/timestamp.hpp>

namespace thalweg {

namespace {

// One JSON object in the making. Keys are our own and need no escapes.
class object_writer {
public:
    explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }
    object_writer(const object_writer&) = delete;
    object_writer& operator=(const object_writer&) = delete;

    void close() { out_ += '}'; }

    std::string& key(std::string_view name) {
        if (!first_) out_ += ',';
        first_ = false;
        out_ += '"';
        out_ += name;
        out_ += "\":";
        return out_;
    }

    void string(std::string_view name, std::string_view value) { json::append_string(key(name), value); }
    // A word of the protocol: known to need no escapes.
    void word(std::string_view name, std::string_view value) {
        auto& out = key(name);
        out += '"';
        out += value;
        out += '"';
    }
    void number(std::string_view name, std::int64_t value) { json::append_int(key(name), value); }
    // JSON as received, kept byte for byte; but a message is one line (R-PRO-01).
    void raw(std::string_view name, std::string_view value) {
        auto& out = key(name);
        if (value.find_first_of("\r\n") == std::string_view::npos)
            out += value;
        else
            json::append_compact(out, value);
    }

    void optional(std::string_view name, const std::optional<text>& value) {
        if (value) string(name, *value);
    }
    template <class Integer>
    void optional(std::string_view name, const std::optional<Integer>& value) {
        if (value) number(name, *value);
    }
    void if_any(std::string_view name, std::string_view value) {
        if (!value.empty()) string(name, value);
    }

    void strings(std::string_view name, std::span<const text> values) {
        auto& out = key(name);
        char separator = '[';
        for (const text& value : values) {
            out += separator;
            json::append_string(out, value);
            separator = ',';
        }
        if (values.empty()) out += '[';
        out += ']';
    }

    // Members as received, each with a comma in front.
    void received(std::string_view members) {
        if (members.empty()) return;
        out_ += first_ ? members.substr(1) : members;
        first_ = false;
    }

private:
    std::string& out_;
    bool first_ = true;
};

void write_counts(object_writer& payload, std::string_view name, const token_counts& counts) {
    object_writer object(payload.key(name));
    object.number("cache_read", counts.cache_read);
    object.number("cache_write", counts.cache_write);
    object.number("output", counts.output);
    object.number("total", counts.total);
    object.close();
}

struct event_writer {
    object_writer& payload;

    void operator()(const std::monostate&) const {}

    void operator()(const request_end& e) const {
        payload.word("status", to_string(e.status));
        payload.optional("error_message", e.error_message);
        payload.optional("attempt", e.attempt);
        payload.optional("retry_in_ms", e.retry_in_ms);
    }

    void operator()(const token_usage& e) const {
        write_counts(payload, "session", e.session);
        write_counts(payload, "request", e.request);
    }

    void operator()(const run_abort& e) const {
        if (e.reason)
            payload.string("reason", *e.reason);
        else
            payload.raw("reason", "null");
    }

    void operator()(const compaction_begin& e) const {
        payload.word("reason", detail::compaction_reason_names[static_cast<std::size_t>(e.reason)]);
        payload.word("mode", detail::compaction_mode_names[static_cast<std::size_t>(e.mode)]);
        payload.number("context", e.context);
        payload.number("turns", e.turns);
    }

    void operator()(const compaction_end& e) const {
        payload.word("reason", detail::compaction_reason_names[static_cast<std::size_t>(e.reason)]);
        payload.word("mode", detail::compaction_mode_names[static_cast<std::size_t>(e.mode)]);
        payload.word("status", to_string(e.status));
        payload.optional("attempt", e.attempt);
        payload.optional("error_message", e.error_message);
    }

    void operator()(const subagent& e) const { payload.string("session_id", e.session_id); }

    void operator()(const tool_list_ready& e) const {
        auto& out = payload.key("tools");
        out += '[';
        for (const tool_definition& tool : e.tools) {
            if (&tool != &e.tools.front()) out += ',';
            object_writer object(out);
            object.string("name", tool.name);
            object.string("description", tool.description);
            if (!tool.parameters.empty()) object.raw("parameters", tool.parameters);
            object.close();
        }
        out += ']';
    }

    void operator()(const mcp_connect_begin& e) const { payload.strings("servers", e.servers); }

    void operator()(const mcp_connect_end& e) const {
        payload.string("status", e.status);
        auto& out = payload.key("results");
        out += '[';
        for (const mcp_connect_result& result : e.results) {
            if (&result != &e.results.front()) out += ',';
            object_writer object(out);
            object.string("server", result.server);
            object.string("transport", result.transport);
            object.string("status", result.status);
            object.number("duration_ms", result.duration_ms);
            object.optional("tools", result.tools);
            object.optional("error", result.error);
            object.close();
        }
        out += ']';
    }

    void operator()(const goal_finished& e) const {
        payload.string("outcome", e.outcome);
        payload.number("rounds", e.rounds);
        payload.number("tokens_used", e.tokens_used);
    }

    void operator()(const trace_fault& e) const {
        payload.string("path", e.path);
        payload.string("error", e.error);
        payload.number("lost", e.lost);
    }

    void operator()(const notice& e) const {
        payload.string("code", e.code);
        payload.string("text", e.body);
    }

    void operator()(const std::shared_ptr<const session_meta>& kept) const {
        const session_meta& meta = *kept;
        payload.string("session_id", meta.session_id);
        payload.string("provider", meta.provider);
        payload.string("model_id", meta.model_id);
        if (const auto* tokens = std::get_if<std::int64_t>(&meta.model_context_window)) {
            payload.number("model_context_window", *tokens);
        } else {
            payload.string("model_context_window", std::get<text>(meta.model_context_window));
        }
        payload.string("system_prompt", meta.system_prompt);
        payload.string("agent_state", meta.agent_state);
        payload.string("workspace", meta.workspace);
        payload.optional("source", meta.source);
    }
};

void write_status(object_writer& payload, const message& m) {
    if (m.stop() != stop_reason::none) payload.word("stop_reason", to_string(m.stop()));
}

void write_images(object_writer& payload, const message& m) {
    if (!m.images().empty()) payload.strings("images", m.images());
}

void write_fidelity(object_writer& payload, const message& m) {
    if (!m.fidelity().empty()) payload.raw("fidelity", m.fidelity());
}

void write_model_payload(object_writer& payload, const message& m) {
    payload.word("role", to_string(m.role()));
    if (m.is_partial()) payload.word("event_type", to_string(m.frame()));
    switch (m.kind()) {
    case kind::text:
    case kind::partial_text: payload.string("text", m.content()); break;
    case kind::thinking:
    case kind::partial_thinking: payload.string("thinking", m.content()); break;
    case kind::tool_call:
    case kind::partial_tool_call:
        payload.string("name", m.name());
        payload.string("arguments", m.content());
        payload.string("tool_call_id", m.tool_call_id());
        break;
    case kind::tool_call_output:
    case kind::partial_tool_call_output:
        payload.string("output", m.content());
        write_images(payload, m);
        payload.string("tool_call_id", m.tool_call_id());
        break;
    case kind::image_url: payload.string("image_url", m.content()); break;
    default: // inline_data, inline_thinking
        payload.string("data", m.content());
        payload.string("mime_type", m.mime_type());
        break;
    }
    write_status(payload, m);
    if (!m.is_partial()) write_fidelity(payload, m);
    if (m.kind() == kind::text) payload.if_any("sender", m.sender());
}

} // namespace

void message_codec::write(std::string& out, const message& m) {
    const message::details* rare = m.details_;
    object_writer envelope(out);
    if (m.has_timestamp()) {
        char time[timestamp_length];
        format_timestamp(time, m.timestamp());
        envelope.word("timestamp", {time, timestamp_length});
    }
    const bool is_meta = m.kind() == kind::session_meta;
    envelope.word("type", m.is_event() ? "event_msg" : is_meta ? "session_meta" : "model_msg");
    if (rare != nullptr && !rare->raw_payload.empty())
        envelope.raw("payload", rare->raw_payload);
    else
        write_payload(envelope.key("payload"), m);
    if (rare != nullptr && !rare->origin.empty()) envelope.strings("origin", rare->origin);
    if (rare != nullptr) envelope.received(rare->extra_envelope);
    envelope.close();
}

void message_codec::write_payload(std::string& out, const message& m) {
    const message::details* rare = m.details_;
    object_writer payload(out);
    if (m.kind() != kind::session_meta) payload.word("type", to_string(m.kind()));
    if (m.is_event() || m.kind() == kind::session_meta) {
        if (m.kind() == kind::approval_decision) {
            payload.word("decision", to_string(m.decision()));
            payload.string("tool_call_id", m.tool_call_id());
        }
        if (rare != nullptr) std::visit(event_writer{payload}, rare->event);
    } else {
        write_model_payload(payload, m);
    }
    if (rare != nullptr) payload.received(rare->extra_payload);
    payload.close();
}

void append_json(std::string& out, const message& m) {
    message_codec::write(out, m);
}

std::string to_json(const message& m) {
    std::string out;
    append_json(out, m);
    return out;
}

} // namespace thalweg
