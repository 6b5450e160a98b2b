// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_message.hpp>

#include <thalweg/agent/detail/event_names.hpp>

#include <string>

namespace thalweg {

const text agent_message::none;

std::string detail::known_members(json::view object, bool (*is_known)(std::string_view)) {
    std::string kept = "{";
    for (const json::member& each : object.members()) {
        if (!is_known(each.key)) continue;
        if (kept.size() > 1) kept += ',';
        kept.append(each.key_raw).append(1, ':').append(each.value.raw());
    }
    return kept += '}';
}

agent_message agent_message::user(text body) {
    return user(content_list(content_block::text(std::move(body))));
}

agent_message agent_message::user(content_list content) {
    agent_message made(type::user);
    made.content_ = std::move(content);
    return made;
}

agent_message agent_message::assistant(content_list content, agent_stop stop) {
    agent_message made(type::assistant);
    made.content_ = std::move(content);
    made.stop_ = stop;
    return made;
}

agent_message agent_message::tool_result(text tool_call_id, text tool_name, content_list content,
                                         text details_json, bool is_error) {
    agent_message made(type::tool_result);
    made.id_ = std::move(tool_call_id);
    made.name_ = std::move(tool_name);
    made.content_ = std::move(content);
    if (details_json != "null") made.extra_ = std::move(details_json);
    made.is_error_ = is_error;
    return made;
}

agent_message agent_message::untyped(text role, text members) {
    agent_message made(type::custom);
    made.id_ = std::move(role);
    made.extra_ = std::move(members);
    return made;
}

result<agent_message> agent_message::custom_from(const custom_type& known, text members) {
    const auto object = json::parse(members);
    if (!object) return object.error();
    auto value = known.read(object.value());
    if (!value) return value.error();
    agent_message made = untyped(text(known.role), std::move(members));
    made.value_ = std::move(value.value());
    made.custom_ = &known;
    return made;
}

std::string_view agent_message::role() const noexcept {
    switch (type_) {
    case type::user: return "user";
    case type::assistant: return "assistant";
    case type::tool_result: return "toolResult";
    case type::custom: return id_;
    }
    return {};
}

bool operator==(const agent_message& a, const agent_message& b) noexcept {
    return a.type_ == b.type_ && a.stop_ == b.stop_ && a.is_error_ == b.is_error_ &&
           a.timestamp_ == b.timestamp_ && a.content_ == b.content_ && a.id_ == b.id_ && a.name_ == b.name_ &&
           a.extra_ == b.extra_ && a.usage_ == b.usage_;
}

std::string_view to_string(agent_stop s) noexcept {
    return detail::agent_stop_names[static_cast<std::size_t>(s)];
}

std::string_view to_string(content_block::type t) noexcept {
    return detail::content_block_names[static_cast<std::size_t>(t)];
}

} // namespace thalweg
