// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/message_details.hpp>
#include <thalweg/protocol/detail/object_writer.hpp>

namespace thalweg::detail {

namespace {

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
    bool facts;

    void operator()(const std::monostate&) const {}

    void operator()(const request_end& e) const {
        payload.word("status", to_string(e.status));
        payload.optional("error_message", e.error_message);
        payload.optional("attempt", e.attempt);
        payload.optional("retry_in_ms", e.retry_in_ms);
        if (!facts) return;
        payload.word("finish", finish_names[static_cast<std::size_t>(e.why)]);
        payload.optional("max_attempts", e.max_attempts);
        if (e.is_outside) payload.raw("outside", "true");
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

    void operator()(const run_end& e) const {
        payload.word("how", run_ending_names[static_cast<std::size_t>(e.how)]);
        payload.string("reason", e.reason);
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

} // namespace

void write_event(object_writer& payload, const event_payload& event, bool facts) {
    std::visit(event_writer{payload, facts}, event);
}

} // namespace thalweg::detail
