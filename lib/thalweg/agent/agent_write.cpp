// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_json.hpp>

#include <thalweg/protocol/detail/object_writer.hpp>

namespace thalweg {

namespace {

using detail::object_writer;

bool is_object(std::string_view text) {
    const auto value = json::parse(text);
    return value && value.value().is_object();
}

// JSON as received, or `otherwise` if it is none.
void write_json(object_writer& object, std::string_view name, std::string_view json,
                std::string_view otherwise) {
    object.raw(name, !json.empty() && !json::check(json) ? json : otherwise);
}

void write_block(std::string& out, const content_block& block) {
    object_writer object(out);
    object.word("type", to_string(block.kind()));
    switch (block.kind()) {
    case content_block::type::text: object.string("text", block.content()); break;
    case content_block::type::thinking: object.string("thinking", block.content()); break;
    case content_block::type::tool_call: {
        object.string("id", block.id());
        object.string("name", block.name());
        const bool is_whole = is_object(block.content());
        object.raw("arguments", is_whole ? block.content().view() : "{}");
        if (!is_whole) object.string("partialJson", block.content());
        break;
    }
    case content_block::type::image:
        if (block.mime_type().empty()) {
            object.string("url", block.content());
        } else {
            object.string("data", block.content());
            object.string("mimeType", block.mime_type());
        }
        break;
    case content_block::type::other: write_json(object, "message", block.content(), "{}"); break;
    }
    if (!block.fidelity().empty()) write_json(object, "fidelity", block.fidelity(), "{}");
    object.close();
}

void write_content(std::string& out, const content_list& content) {
    out += '[';
    char separator = 0;
    for (const content_block& block : content) {
        if (separator != 0) out += separator;
        write_block(out, block);
        separator = ',';
    }
    out += ']';
}

void write_usage(std::string& out, const token_counts& used) {
    object_writer object(out);
    object.number("cacheRead", used.cache_read);
    object.number("cacheWrite", used.cache_write);
    object.number("output", used.output);
    object.number("total", used.total);
    object.close();
}

void write_message(std::string& out, const agent_message& m) {
    object_writer object(out);
    object.string("role", m.role());
    switch (m.kind()) {
    case agent_message::type::user: write_content(object.key("content"), m.content()); break;
    case agent_message::type::assistant:
        write_content(object.key("content"), m.content());
        object.word("stopReason", to_string(m.stop()));
        if (m.is_broken()) object.string("errorMessage", m.error());
        write_usage(object.key("usage"), m.usage());
        break;
    case agent_message::type::tool_result:
        object.string("toolCallId", m.tool_call_id());
        object.string("toolName", m.tool_name());
        write_content(object.key("content"), m.content());
        write_json(object, "details", m.details(), "null");
        object.raw("isError", m.is_error() ? "true" : "false");
        break;
    case agent_message::type::custom: {
        const auto members = json::parse(m.members());
        if (!members) break;
        for (const json::member& each : members.value().members()) {
            std::string received = ",";
            received.append(each.key_raw).append(1, ':');
            json::append_compact(received, each.value.raw());
            object.received(received);
        }
        break;
    }
    }
    if (m.timestamp() != 0) object.number("timestamp", m.timestamp());
    object.close();
}

void write_messages(std::string& out, std::span<const agent_message> messages) {
    out += '[';
    for (const agent_message& m : messages) {
        if (&m != messages.data()) out += ',';
        write_message(out, m);
    }
    out += ']';
}

void write_update(std::string& out, const assistant_update& update) {
    object_writer object(out);
    object.word("type", to_string(update.kind()));
    object.number("contentIndex", static_cast<std::int64_t>(update.content_index()));
    if (update.is_delta()) {
        object.string("delta", update.delta());
    } else if (update.kind() == assistant_update::type::toolcall_end) {
        write_block(object.key("toolCall"), update.tool_call());
    } else if (update.is_end()) {
        object.string("content", update.content());
        if (!update.tool_call().fidelity().empty())
            write_json(object, "fidelity", update.tool_call().fidelity(), "{}");
    }
    object.close();
}

void write_output(std::string& out, const tool_output& shown) {
    object_writer object(out);
    write_content(object.key("content"), shown.content);
    write_json(object, "details", shown.details, "null");
    object.close();
}

void write_args(object_writer& object, const text& args) {
    if (is_object(args))
        object.raw("args", args);
    else
        object.string("args", args);
}

struct event_writer {
    object_writer& object;

    void operator()(const agent_event::agent_start&) const {}
    void operator()(const agent_event::agent_end& e) const {
        write_messages(object.key("messages"), e.messages);
    }
    void operator()(const agent_event::turn_start&) const {}
    void operator()(const agent_event::turn_end& e) const {
        write_message(object.key("message"), e.message);
        write_messages(object.key("toolResults"), e.tool_results);
    }
    void operator()(const agent_event::message_start& e) const {
        write_message(object.key("message"), e.message);
    }
    void operator()(const agent_event::message_update& e) const {
        write_message(object.key("message"), e.message);
        write_update(object.key("assistantMessageEvent"), e.update);
    }
    void operator()(const agent_event::message_end& e) const {
        write_message(object.key("message"), e.message);
    }
    void operator()(const agent_event::tool_execution_start& e) const {
        object.string("toolCallId", e.tool_call_id);
        object.string("toolName", e.tool_name);
        if (!e.tool_label.empty()) object.string("toolLabel", e.tool_label);
        write_args(object, e.args);
    }
    void operator()(const agent_event::tool_execution_update& e) const {
        object.string("toolCallId", e.tool_call_id);
        object.string("toolName", e.tool_name);
        write_args(object, e.args);
        write_output(object.key("partialResult"), e.partial_result);
    }
    void operator()(const agent_event::tool_execution_end& e) const {
        object.string("toolCallId", e.tool_call_id);
        object.string("toolName", e.tool_name);
        write_output(object.key("result"), e.result);
        object.raw("isError", e.is_error ? "true" : "false");
    }
    void operator()(const agent_event::auto_retry_start& e) const {
        object.number("attempt", e.attempt);
        object.optional("maxAttempts", e.max_attempts);
        object.number("delayMs", e.delay_ms);
        object.string("errorMessage", e.error_message);
    }
    void operator()(const agent_event::auto_retry_end& e) const {
        object.raw("success", e.success ? "true" : "false");
        object.number("attempt", e.attempt);
        object.optional("finalError", e.final_error);
    }
};

} // namespace

void append_json(std::string& out, const agent_message& m) {
    write_message(out, m);
}

std::string to_json(const agent_message& m) {
    std::string out;
    append_json(out, m);
    return out;
}

void append_json(std::string& out, const agent_event& e) {
    object_writer object(out);
    object.word("type", to_string(e.kind()));
    e.visit(event_writer{object});
    object.close();
}

std::string to_json(const agent_event& e) {
    std::string out;
    append_json(out, e);
    return out;
}

std::string transcript_json(std::span<const agent_message> messages) {
    std::string out;
    write_messages(out, messages);
    return out;
}

} // namespace thalweg
