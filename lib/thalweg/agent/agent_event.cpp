// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_event.hpp>

#include <thalweg/agent/detail/event_names.hpp>

namespace thalweg {

const agent_message* agent_event::message() const noexcept {
    if (const auto* start = get_if<message_start>()) return &start->message;
    if (const auto* update = get_if<message_update>()) return &update->message;
    if (const auto* end = get_if<message_end>()) return &end->message;
    if (const auto* turn = get_if<turn_end>()) return &turn->message;
    return nullptr;
}

std::string_view to_string(agent_event::type t) noexcept {
    return detail::agent_event_names[static_cast<std::size_t>(t)];
}

std::string_view to_string(assistant_update::type t) noexcept {
    return detail::assistant_update_names[static_cast<std::size_t>(t)];
}

} // namespace thalweg
