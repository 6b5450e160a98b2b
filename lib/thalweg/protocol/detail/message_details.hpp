// SPDX-License-Identifier: BSL-1.0

#pragma once

// The inside of a message: the box of its rare members, and the one table of wire names.
//
// For the sources of this room only.

#include <thalweg/protocol/message.hpp>

#include <array>
#include <atomic>
#include <memory>

namespace thalweg {

/// What lies in the box of an event or session_meta. The largest one is kept apart, so that a tool call's box
/// does not carry its size.
using event_payload = std::variant<std::monostate, request_end, token_usage, run_abort, compaction_begin,
                                   compaction_end, subagent, tool_list_ready, mcp_connect_begin,
                                   mcp_connect_end, goal_finished, trace_fault, notice, run_end,
                                   std::shared_ptr<const session_meta>>;

struct message::details {
    details() = default;
    details(const details& other)
        : name(other.name),
          mime_type(other.mime_type),
          sender(other.sender),
          fidelity(other.fidelity),
          provider_id(other.provider_id),
          beside(other.beside),
          images(other.images),
          origin(other.origin),
          type_name(other.type_name),
          raw_payload(other.raw_payload),
          extra_payload(other.extra_payload),
          extra_envelope(other.extra_envelope),
          event(other.event) {}
    details& operator=(const details&) = delete;

    std::atomic<std::uint32_t> references{1};
    text name;
    text mime_type;
    text sender;
    text fidelity;
    text provider_id;
    text beside; // of call_begin the label, of progress and outputs the details
    std::vector<text> images;
    std::vector<text> origin;
    text type_name;      // of unknown payload types only
    text raw_payload;    // as received; written instead of the members where it holds more than they do
    text extra_payload;  // unknown members as received: `,"key":value` each
    text extra_envelope; // the same of the envelope
    event_payload event;
};

namespace detail {

/// The kind whose payload `Event` is.
template <class Event>
inline constexpr kind kind_of_event = kind::other_event;
template <>
inline constexpr kind kind_of_event<request_end> = kind::request_end;
template <>
inline constexpr kind kind_of_event<token_usage> = kind::token_usage;
template <>
inline constexpr kind kind_of_event<run_abort> = kind::abort;
template <>
inline constexpr kind kind_of_event<compaction_begin> = kind::compaction_begin;
template <>
inline constexpr kind kind_of_event<compaction_end> = kind::compaction_end;
template <>
inline constexpr kind kind_of_event<subagent> = kind::subagent;
template <>
inline constexpr kind kind_of_event<tool_list_ready> = kind::tool_list_ready;
template <>
inline constexpr kind kind_of_event<mcp_connect_begin> = kind::mcp_connect_begin;
template <>
inline constexpr kind kind_of_event<mcp_connect_end> = kind::mcp_connect_end;
template <>
inline constexpr kind kind_of_event<goal_finished> = kind::goal_finished;
template <>
inline constexpr kind kind_of_event<trace_fault> = kind::trace_fault;
template <>
inline constexpr kind kind_of_event<notice> = kind::notice;
template <>
inline constexpr kind kind_of_event<run_end> = kind::run_end;
template <>
inline constexpr kind kind_of_event<session_meta> = kind::session_meta;

/// Wire names in the order of the enums, then the names that facts have in a fact log; empty where there is
/// none.
inline constexpr std::array<std::string_view, 37> kind_names = {"",
                                                                "text",
                                                                "thinking",
                                                                "tool_call",
                                                                "tool_call_output",
                                                                "image_url",
                                                                "inline_data",
                                                                "inline_thinking",
                                                                "",
                                                                "partial_text",
                                                                "partial_thinking",
                                                                "partial_tool_call",
                                                                "partial_tool_call_output",
                                                                "request_begin",
                                                                "request_end",
                                                                "approval_decision",
                                                                "token_usage",
                                                                "abort",
                                                                "compaction_begin",
                                                                "compaction_end",
                                                                "subagent",
                                                                "tool_list_ready",
                                                                "mcp_connect_begin",
                                                                "mcp_connect_end",
                                                                "goal_finished",
                                                                "trace_fault",
                                                                "notice",
                                                                "",
                                                                "run_begin",
                                                                "run_end",
                                                                "agent_input",
                                                                "response_begin",
                                                                "call_begin",
                                                                "body_begin",
                                                                "call_progress",
                                                                "call_settled",
                                                                "batch_settled"};
inline constexpr std::array<std::string_view, 2> role_names = {"user", "assistant"};
inline constexpr std::array<std::string_view, 7> stop_reason_names = {
    "", "completed", "aborted", "timeout", "malformed", "failed", "auth"};
inline constexpr std::array<std::string_view, 4> frame_names = {"", "start", "delta", "stop"};
inline constexpr std::array<std::string_view, 3> decision_names = {"allow", "deny", "forbidden"};
inline constexpr std::array<std::string_view, 3> compaction_reason_names = {"context", "turns", "manual"};
inline constexpr std::array<std::string_view, 2> compaction_mode_names = {"summarize", "discard"};
inline constexpr std::array<std::string_view, 6> finish_names = {"end",      "tool_use", "length",
                                                                 "filtered", "pause",    "other"};
inline constexpr std::array<std::string_view, 3> run_ending_names = {"finished", "aborted", "failed"};

static_assert(kind_names.size() == static_cast<std::size_t>(kind::batch_settled) + 1);

class object_reader;
class object_writer;

/// Appends the members of an event's payload behind its type; with `facts` also those that the wire has not.
void write_event(object_writer& payload, const event_payload& event, bool facts);

} // namespace detail

/// Wire form to message and back; the only one beside message itself that sees its members.
class message_codec {
public:
    static void write(std::string& out, const message& m, bool facts);
    [[nodiscard]] static result<message> read(std::string_view line, parse_options options);

private:
    static void write_event_payload(std::string& out, const message& m, bool facts);
    static void write_fact_payload(std::string& out, const message& m);
    static void write_fact_members(std::string& out, const message& m);
    static void read_envelope(message& made, detail::object_reader& envelope, parse_options options);
    static void read_time(message& made, detail::object_reader& envelope, parse_options options);
    static void read_payload(message& made, detail::object_reader& payload, bool is_event, bool is_meta,
                             bool facts);
    static void read_event_payload(message& made, detail::object_reader& payload, bool facts);
    static void read_fact(message& made, detail::object_reader& payload);
    static void read_fact_members(message& made, detail::object_reader& envelope);
    static void read_model_payload(message& made, detail::object_reader& payload);
    static void read_rest(message& made, detail::object_reader& payload);
    static void read_role(message& made, detail::object_reader& payload);
};

} // namespace thalweg
