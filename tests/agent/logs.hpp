// SPDX-License-Identifier: BSL-1.0

#pragma once

// Fact logs as data, and what the agent view makes of them as lines. Every projection here is also recorded,
// reread and projected again, kept to see that no snapshot changes, and read by the event checker.

#include <thalweg/agent/agent_event.hpp>
#include <thalweg/protocol/message.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agent_logs {

using fact_log = std::vector<thalweg::message>;
using lines = std::vector<std::string>;

/// One log of several pieces.
[[nodiscard]] fact_log join(std::initializer_list<fact_log> pieces);

// Pieces.

[[nodiscard]] fact_log prompt(std::string_view text); ///< run_begin and one input
[[nodiscard]] fact_log answer();                      ///< request_begin, response_begin
[[nodiscard]] fact_log words(std::initializer_list<std::string_view> deltas); ///< a text segment
[[nodiscard]] fact_log thoughts(std::initializer_list<std::string_view> deltas);
[[nodiscard]] fact_log call(std::string_view id, std::string_view name,
                            std::initializer_list<std::string_view> arguments);
[[nodiscard]] fact_log done(
    thalweg::finish why = thalweg::finish::end); ///< token_usage, request_end(completed)
[[nodiscard]] fact_log broken(thalweg::stop_reason status, std::string_view error = {});
[[nodiscard]] fact_log begun(std::string_view id, std::string_view name); ///< call_begin, body_begin
[[nodiscard]] fact_log output(std::string_view id, std::string_view text,
                              thalweg::stop_reason stop = thalweg::stop_reason::completed);
[[nodiscard]] fact_log settled(
    std::initializer_list<std::string_view> ids); ///< call_settled each, batch_settled
[[nodiscard]] fact_log run_end(thalweg::run_ending how = thalweg::run_ending::finished,
                               std::string_view reason = {});

/// The events of `facts`; checked as said above.
[[nodiscard]] std::vector<thalweg::agent_event> events(
    const fact_log& facts, std::span<const thalweg::custom_type* const> customs = {});

/// One short line for an event.
[[nodiscard]] std::string line(const thalweg::agent_event& event);
[[nodiscard]] lines project(const fact_log& facts, std::span<const thalweg::custom_type* const> customs = {});

/// `all` between the first line that is `from` and the next one that is `to`, both included.
[[nodiscard]] lines part(const lines& all, std::string_view from, std::string_view to);

} // namespace agent_logs
