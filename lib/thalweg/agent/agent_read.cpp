// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_json.hpp>

#include <thalweg/agent/detail/event_names.hpp>
#include <thalweg/protocol/detail/object_reader.hpp>

#include <algorithm>

namespace thalweg {

namespace {

using detail::object_reader;
using detail::read_context;
using customs_view = std::span<const custom_type* const>;

bool read_flag(object_reader& object, std::string_view name) {
    const json::view written = object.required(name, "true or false");
    const auto value = written.as_bool();
    if (!value) object.reject(written, name, "true or false");
    return value.value_or(false);
}

text read_json(object_reader& object, std::string_view name) {
    const auto found = object.optional(name);
    return found ? text(found->raw()) : text();
}

text read_arguments(object_reader& object) {
    const json::view written = object.required("arguments", "an object");
    if (!written.is_object()) object.reject(written, "arguments", "an object");
    return object.optional_string("partialJson").value_or(text(written.raw()));
}

text read_args(object_reader& object) {
    const json::view written = object.required("args", "an object or a string");
    if (written.is_object()) return text(written.raw());
    auto read = written.as_text();
    if (!read) object.reject(written, "args", "an object or a string");
    return read ? std::move(*read) : text();
}

content_block read_block_content(object_reader& object, content_block::type type) {
    switch (type) {
    case content_block::type::text: return content_block::text(object.string("text"));
    case content_block::type::thinking: return content_block::thinking(object.string("thinking"));
    case content_block::type::tool_call: {
        text id = object.string("id");
        text name = object.string("name");
        return content_block::tool_call(std::move(id), std::move(name), read_arguments(object));
    }
    case content_block::type::image:
        if (auto url = object.optional_string("url")) return content_block::image(std::move(*url), {});
        {
            text data = object.string("data");
            return content_block::image(std::move(data), object.string("mimeType"));
        }
    case content_block::type::other: {
        const json::view wire = object.required("message", "an object");
        if (!wire.is_object()) object.reject(wire, "message", "an object");
        return content_block::other(text(wire.raw()));
    }
    }
    return {};
}

content_block read_block(object_reader& object) {
    const auto type = object.word<content_block::type>("type", detail::content_block_names);
    content_block block = read_block_content(object, type);
    return std::move(block).with_fidelity(read_json(object, "fidelity"));
}

content_list read_content(object_reader& object) {
    content_list content;
    for (object_reader& block : object.objects("content"))
        content.push_back(read_block(block));
    return content;
}

token_counts read_usage(object_reader& object) {
    token_counts read;
    if (!object.optional("usage")) return read;
    object_reader usage = object.object("usage");
    read.cache_read = usage.integer("cacheRead");
    read.cache_write = usage.integer("cacheWrite");
    read.output = usage.integer("output");
    read.total = usage.integer("total");
    return read;
}

agent_message read_assistant(object_reader& object) {
    content_list content = read_content(object);
    const auto stop = object.word<agent_stop>("stopReason", detail::agent_stop_names);
    agent_message made = agent_message::assistant(std::move(content), stop).with_usage(read_usage(object));
    if (auto error = object.optional_string("errorMessage")) {
        if (!made.is_broken()) object.reject("errorMessage", "no error, as the stop reason is none");
        made = std::move(made).with_error(stop, std::move(*error));
    }
    return made;
}

agent_message read_result(object_reader& object) {
    text id = object.string("toolCallId");
    text name = object.string("toolName");
    content_list content = read_content(object);
    text details = read_json(object, "details");
    return agent_message::tool_result(std::move(id), std::move(name), std::move(content), std::move(details),
                                      read_flag(object, "isError"));
}

agent_message read_custom(object_reader& object, text role, customs_view customs) {
    const text unknown = object.unknown_members();
    std::string members = "{";
    if (!unknown.empty()) members.append(unknown.view().substr(1));
    members += '}';
    const auto known = std::find_if(customs.begin(), customs.end(),
                                    [&role](const custom_type* each) { return role == each->role; });
    if (known == customs.end()) return agent_message::untyped(std::move(role), text(members));
    auto read = agent_message::custom_from(**known, text(members));
    if (read) return std::move(read.value());
    object.reject("role", "a message of this role, but: " + read.error().message() + ";");
    return {};
}

agent_message read_message(object_reader& object, customs_view customs) {
    text role = object.string("role");
    const std::int64_t timestamp = object.optional_integer<std::int64_t>("timestamp").value_or(0);
    if (object.failed()) return {};
    agent_message made;
    if (role == "user")
        made = agent_message::user(read_content(object));
    else if (role == "assistant")
        made = read_assistant(object);
    else if (role == "toolResult")
        made = read_result(object);
    else if (role.empty())
        object.reject("role", "a role that is not empty");
    else
        made = read_custom(object, std::move(role), customs);
    return std::move(made).with_timestamp(timestamp);
}

agent_message message_member(object_reader& object, customs_view customs) {
    object_reader inner = object.object("message");
    return read_message(inner, customs);
}

std::vector<agent_message> messages_member(object_reader& object, std::string_view name,
                                           customs_view customs) {
    std::vector<agent_message> read;
    for (object_reader& each : object.objects(name))
        read.push_back(read_message(each, customs));
    return read;
}

assistant_update read_update(object_reader& object, const agent_message& partial) {
    using type = assistant_update::type;
    const auto kind = object.word<type>("type", detail::assistant_update_names);
    const std::int64_t at = object.integer("contentIndex");
    if (object.failed()) return {};
    const auto block = static_cast<content_block::type>(static_cast<int>(kind) / 3);
    const auto index = static_cast<std::size_t>(at);
    const bool is_in = at >= 0 && index < partial.content().size();
    if (!is_in || partial.content()[index].kind() != block) {
        object.reject("contentIndex", "the index of a block of this kind in the message");
        return {};
    }
    switch (static_cast<int>(kind) % 3) {
    case 0: return assistant_update::start(block, index);
    case 1: return assistant_update::delta(block, index, object.string("delta"));
    default: break;
    }
    if (kind == type::toolcall_end) {
        object_reader call = object.object("toolCall");
        content_block whole = read_block(call);
        if (whole.kind() != block) object.reject("toolCall", "a block of the type toolCall");
        return assistant_update::end(index, std::move(whole));
    }
    text content = object.string("content");
    content_block whole = kind == type::text_end ? content_block::text(std::move(content))
                                                 : content_block::thinking(std::move(content));
    return assistant_update::end(index, std::move(whole).with_fidelity(read_json(object, "fidelity")));
}

tool_output read_output(object_reader& object, std::string_view name) {
    object_reader inner = object.object(name);
    content_list content = read_content(inner);
    return {std::move(content), read_json(inner, "details")};
}

agent_event read_tool_event(object_reader& object, agent_event::type type) {
    text id = object.string("toolCallId");
    text name = object.string("toolName");
    if (type == agent_event::type::tool_execution_end) {
        tool_output shown = read_output(object, "result");
        return agent_event::of(agent_event::tool_execution_end{
            std::move(id), std::move(name), std::move(shown), read_flag(object, "isError")});
    }
    text args = read_args(object);
    if (type == agent_event::type::tool_execution_update) {
        return agent_event::of(agent_event::tool_execution_update{
            std::move(id), std::move(name), std::move(args), read_output(object, "partialResult")});
    }
    text label = object.optional_string("toolLabel").value_or(text());
    return agent_event::of(
        agent_event::tool_execution_start{std::move(id), std::move(name), std::move(label), std::move(args)});
}

int read_count(object_reader& object, std::string_view name) {
    const auto count = object.optional_integer<int>(name);
    if (!count && !object.failed()) {
        const json::view missing = object.required(name, "an integer");
        object.reject(missing, name, "an integer");
    }
    return count.value_or(0);
}

agent_event read_event(object_reader& object, customs_view customs) {
    using type = agent_event::type;
    const auto kind = object.word<type>("type", detail::agent_event_names);
    if (object.failed()) return {};
    switch (kind) {
    case type::agent_start: return agent_event::of(agent_event::agent_start{});
    case type::agent_end:
        return agent_event::of(agent_event::agent_end{messages_member(object, "messages", customs)});
    case type::turn_start: return agent_event::of(agent_event::turn_start{});
    case type::turn_end: {
        agent_event::turn_end read{message_member(object, customs), {}};
        read.tool_results = messages_member(object, "toolResults", customs);
        return agent_event::of(std::move(read));
    }
    case type::message_start:
        return agent_event::of(agent_event::message_start{message_member(object, customs)});
    case type::message_update: {
        agent_event::message_update read{message_member(object, customs), {}};
        object_reader update = object.object("assistantMessageEvent");
        read.update = read_update(update, read.message);
        return agent_event::of(std::move(read));
    }
    case type::message_end: return agent_event::of(agent_event::message_end{message_member(object, customs)});
    case type::tool_execution_start:
    case type::tool_execution_update:
    case type::tool_execution_end: return read_tool_event(object, kind);
    case type::auto_retry_start: {
        agent_event::auto_retry_start read{
            read_count(object, "attempt"), object.optional_integer<int>("maxAttempts"), 0, {}};
        read.delay_ms = object.integer("delayMs");
        read.error_message = object.string("errorMessage");
        return agent_event::of(std::move(read));
    }
    case type::auto_retry_end: {
        agent_event::auto_retry_end read{read_flag(object, "success"), read_count(object, "attempt"), {}};
        read.final_error = object.optional_string("finalError");
        return agent_event::of(std::move(read));
    }
    }
    return {};
}

// Parses `text` and hands its root object to `read`.
template <class Read>
auto read_text(std::string_view text, std::string_view what, Read read)
    -> result<decltype(read(std::declval<object_reader&>()))> {
    const auto root = json::parse(text);
    const std::string place = std::string(what) + ": ";
    if (!root) return failure(root.error().code(), place + root.error().message());
    read_context context(text);
    object_reader object(context, root.value(), "");
    auto made = read(object);
    if (context.failed()) return failure(json::errc::shape, place + context.take_error());
    return made;
}

} // namespace

result<agent_message> parse_agent_message(std::string_view text, customs_view customs) {
    return read_text(text, "agent message",
                     [customs](object_reader& object) { return read_message(object, customs); });
}

result<agent_event> parse_agent_event(std::string_view text, customs_view customs) {
    return read_text(text, "agent event",
                     [customs](object_reader& object) { return read_event(object, customs); });
}

result<std::vector<agent_message>> parse_transcript(std::string_view text, customs_view customs) {
    const auto root = json::parse(text);
    if (!root) return failure(root.error().code(), "transcript: " + root.error().message());
    read_context context(text);
    std::vector<agent_message> read;
    if (!root.value().is_array()) context.reject(root.value().raw(), "", "an array");
    for (const json::view each : root.value().elements()) {
        object_reader object(context, each, '[' + std::to_string(read.size()) + ']');
        read.push_back(read_message(object, customs));
        if (context.failed()) break;
    }
    if (context.failed()) return failure(json::errc::shape, "transcript: " + context.take_error());
    return read;
}

} // namespace thalweg
