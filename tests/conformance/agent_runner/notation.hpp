// SPDX-License-Identifier: BSL-1.0

#pragma once

// Agent messages and events in the words of the scenario files, and back.

#include "scenario.hpp"

#include <thalweg/agent/agent_event.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// The member under `key`, or nullptr; also if there is no object at all.
[[nodiscard]] const json::value* find(const json::object* in, std::string_view key);
[[nodiscard]] const json::object* find_object(const json::object* in, std::string_view key);
/// The text or number under `key`, or what stands in for it.
[[nodiscard]] std::string text_or(const json::object& in, std::string_view key, std::string_view otherwise);
[[nodiscard]] std::int64_t number_or(const json::object& in, std::string_view key, std::int64_t otherwise);

/// A message of the file; a role that is none of the agent's own makes a custom message.
[[nodiscard]] thalweg::agent_message message_of(const json::object& v);
/// What stands under `prompt`: a text or a list of messages.
[[nodiscard]] std::vector<thalweg::agent_message> prompts_of(const json::value& v);

class notation {
public:
    /// `executed` has the ids of the calls whose body has run so far.
    explicit notation(const std::set<std::string>& executed) noexcept : executed_(executed) {}

    [[nodiscard]] json::object of(const thalweg::agent_message& m) const;
    [[nodiscard]] json::array of(const std::vector<thalweg::agent_message>& all) const;
    /// `with_partials` adds what the block of an update holds so far.
    [[nodiscard]] json::object of(const thalweg::agent_event& e, bool with_partials) const;

private:
    const std::set<std::string>& executed_;
};

} // namespace conformance
