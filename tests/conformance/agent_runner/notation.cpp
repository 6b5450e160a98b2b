// SPDX-License-Identifier: BSL-1.0

#include "notation.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <type_traits>
#include <utility>

namespace conformance {

using namespace thalweg;

const json::value* find(const json::object* in, std::string_view key) {
    return in != nullptr ? in->if_contains(key) : nullptr;
}

const json::object* find_object(const json::object* in, std::string_view key) {
    const json::value* found = find(in, key);
    return found != nullptr ? &found->as_object() : nullptr;
}

std::string text_or(const json::object& in, std::string_view key, std::string_view otherwise) {
    const json::value* found = in.if_contains(key);
    return std::string(found != nullptr ? std::string_view(found->as_string()) : otherwise);
}

std::int64_t number_or(const json::object& in, std::string_view key, std::int64_t otherwise) {
    const json::value* found = in.if_contains(key);
    return found != nullptr ? found->as_int64() : otherwise;
}

// From the file
// ---------------------------------------------------------------------------------------------------

namespace {

agent_stop stop_of(std::string_view name) {
    for (const agent_stop each : {agent_stop::stop, agent_stop::length, agent_stop::tool_use,
                                  agent_stop::error, agent_stop::aborted}) {
        if (to_string(each) == name) return each;
    }
    throw std::runtime_error("no stop reason: " + std::string(name));
}

content_block block_of(const json::object& v) {
    const std::string type = text_or(v, "type", {});
    if (type == "thinking") return content_block::thinking(text(text_or(v, "thinking", {})));
    if (type == "text") return content_block::text(text(text_or(v, "text", {})));
    return content_block::tool_call(text(text_or(v, "id", {})), text(text_or(v, "name", {})),
                                    text(json::serialize(v.at("arguments"))));
}

} // namespace

agent_message message_of(const json::object& v) {
    const std::string role = text_or(v, "role", {});
    const text words(text_or(v, "text", {}));
    if (role == "user") return agent_message::user(words);
    if (role == "assistant") {
        content_list content;
        for (const json::value& each : v.at("content").as_array())
            content.push_back(block_of(each.as_object()));
        return agent_message::assistant(std::move(content), stop_of(text_or(v, "stop_reason", {})));
    }
    if (role == "toolResult") {
        const json::value* flag = v.if_contains("is_error");
        return agent_message::tool_result(text(text_or(v, "tool_call_id", {})),
                                          text(text_or(v, "tool_name", {})), content_block::text(words), {},
                                          flag != nullptr && flag->as_bool());
    }
    json::object members = v;
    members.erase("role");
    return agent_message::untyped(text(role), text(json::serialize(members)));
}

std::vector<agent_message> prompts_of(const json::value& v) {
    std::vector<agent_message> all;
    if (v.is_string()) {
        all.push_back(agent_message::user(text(std::string_view(v.as_string()))));
    } else {
        for (const json::value& each : v.as_array())
            all.push_back(message_of(each.as_object()));
    }
    return all;
}

// To the file
// -----------------------------------------------------------------------------------------------------

namespace {

/// Arguments that were cut, or are none, stand for an empty object.
json::value arguments(const text& written) {
    boost::system::error_code wrong;
    json::value parsed = json::parse(std::string(written.view()), wrong);
    return wrong || !parsed.is_object() ? json::value(json::object()) : parsed;
}

json::object block(const content_block& b) {
    switch (b.kind()) {
    case content_block::type::thinking: return {{"type", "thinking"}, {"thinking", b.content().str()}};
    case content_block::type::tool_call:
        return {{"type", "toolCall"},
                {"id", b.id().str()},
                {"name", b.name().str()},
                {"arguments", arguments(b.content())}};
    default: return {{"type", to_string(b.kind())}, {"text", b.content().str()}};
    }
}

void add_update(json::object& to, const agent_event::message_update& e, bool with_partials) {
    to["update"] = to_string(e.update.kind());
    to["index"] = e.update.content_index();
    if (e.update.is_delta()) to["delta"] = e.update.delta().str();
    if (e.update.is_end()) {
        if (e.update.kind() == assistant_update::type::toolcall_end) {
            json::object call = block(e.update.tool_call());
            call.erase("type");
            to["tool_call"] = std::move(call);
        } else {
            to["content"] = e.update.content().str();
        }
    }
    if (with_partials) to["so_far"] = e.message.content()[e.update.content_index()].content().str();
}

json::array ids_of(const std::vector<agent_message>& results) {
    json::array ids;
    for (const agent_message& each : results)
        ids.emplace_back(each.tool_call_id().str());
    return ids;
}

json::array roles_of(const std::vector<agent_message>& messages) {
    json::array roles;
    for (const agent_message& each : messages)
        roles.emplace_back(each.role());
    return roles;
}

} // namespace

json::object notation::of(const agent_message& m) const {
    json::object v;
    if (m.kind() == agent_message::type::custom) {
        v = json::parse(std::string(m.members().view())).as_object();
    } else if (m.kind() == agent_message::type::assistant) {
        json::array content;
        for (const content_block& each : m.content())
            content.push_back(block(each));
        v["content"] = std::move(content);
        v["stop_reason"] = to_string(m.stop());
        if (!m.error().empty()) v["error"] = m.error().str();
    } else {
        v["text"] = m.content().joined_text();
    }
    v["role"] = m.role();
    if (m.kind() == agent_message::type::tool_result) {
        v["tool_call_id"] = m.tool_call_id().str();
        v["tool_name"] = m.tool_name().str();
        v["is_error"] = m.is_error();
        v["body_ran"] = executed_.contains(m.tool_call_id().str());
    }
    return v;
}

json::array notation::of(const std::vector<agent_message>& all) const {
    json::array list;
    for (const agent_message& each : all)
        list.push_back(of(each));
    return list;
}

json::object notation::of(const agent_event& e, bool with_partials) const {
    json::object v;
    v["type"] = to_string(e.kind());
    e.visit([&](const auto& what) {
        using event = std::remove_cvref_t<decltype(what)>;
        if constexpr (std::is_same_v<event, agent_event::message_start>) {
            if (what.message.kind() == agent_message::type::assistant) {
                v["role"] = "assistant";
                v["content_blocks"] = what.message.content().size();
            } else {
                v["message"] = of(what.message);
            }
        } else if constexpr (std::is_same_v<event, agent_event::message_end>) {
            v["message"] = of(what.message);
        } else if constexpr (std::is_same_v<event, agent_event::message_update>) {
            add_update(v, what, with_partials);
        } else if constexpr (std::is_same_v<event, agent_event::turn_end>) {
            v["stop_reason"] = to_string(what.message.stop());
            v["tool_results"] = ids_of(what.tool_results);
        } else if constexpr (std::is_same_v<event, agent_event::agent_end>) {
            v["roles"] = roles_of(what.messages);
        } else if constexpr (std::is_same_v<event, agent_event::tool_execution_start>) {
            v["tool_call_id"] = what.tool_call_id.str();
            v["tool_name"] = what.tool_name.str();
            v["args"] = arguments(what.args);
        } else if constexpr (std::is_same_v<event, agent_event::tool_execution_update>) {
            v["tool_call_id"] = what.tool_call_id.str();
            v["text"] = what.partial_result.content.joined_text();
        } else if constexpr (std::is_same_v<event, agent_event::tool_execution_end>) {
            v["tool_call_id"] = what.tool_call_id.str();
            v["tool_name"] = what.tool_name.str();
            v["text"] = what.result.content.joined_text();
            v["is_error"] = what.is_error;
            v["body_ran"] = executed_.contains(what.tool_call_id.str());
        } else if constexpr (std::is_same_v<event, agent_event::auto_retry_start>) {
            v["attempt"] = what.attempt;
            if (what.max_attempts) v["max_attempts"] = *what.max_attempts;
            v["delay_ms"] = what.delay_ms;
            v["error"] = what.error_message.str();
        } else if constexpr (std::is_same_v<event, agent_event::auto_retry_end>) {
            v["success"] = what.success;
            v["attempt"] = what.attempt;
            if (what.final_error) v["error"] = what.final_error->str();
        }
    });
    return v;
}

} // namespace conformance
