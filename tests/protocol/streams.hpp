// SPDX-License-Identifier: BSL-1.0

#pragma once

// Short words to write streams with, good and broken ones, for tests of whatever reads streams.

#include <thalweg/protocol/message.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::testing {

using stream_of_messages = std::vector<message>;

inline void append(stream_of_messages& to, message m) {
    to.push_back(std::move(m));
}
inline void append(stream_of_messages& to, const stream_of_messages& more) {
    to.insert(to.end(), more.begin(), more.end());
}

/// Messages and streams in a row.
template <class... Parts>
stream_of_messages join(const Parts&... parts) {
    stream_of_messages whole;
    (append(whole, parts), ...);
    return whole;
}

/// A framed answer text and its complete message.
inline stream_of_messages framed_text(std::initializer_list<std::string_view> deltas) {
    stream_of_messages made = {message::partial_text(frame::start)};
    std::string whole;
    for (const std::string_view delta : deltas) {
        made.push_back(message::partial_text(frame::delta, delta));
        whole += delta;
    }
    made.push_back(message::partial_text(frame::stop));
    made.push_back(message::assistant_text(whole));
    return made;
}

/// A framed call with its complete message and, unless left out, the decision.
inline stream_of_messages framed_call(text id) {
    return {message::partial_tool_call(frame::start, id, "tool"),
            message::partial_tool_call(frame::delta, id, {}, "{}"),
            message::partial_tool_call(frame::stop, id), message::tool_call("tool", "{}", id)};
}

inline message allow(text id) {
    return message::approval_decision(decision::allow, std::move(id));
}

inline stream_of_messages allowed_call(const text& id) {
    return join(framed_call(id), allow(id));
}

/// The framed output of a call and its complete message.
inline stream_of_messages framed_output(const text& id, const text& output = "out") {
    return {message::partial_tool_call_output(frame::start, id),
            message::partial_tool_call_output(frame::delta, id, output),
            message::partial_tool_call_output(frame::stop, id), message::tool_call_output(output, id)};
}

inline message usage() {
    return message::event(token_usage{});
}

inline message ended(stop_reason status = stop_reason::completed) {
    request_end end;
    end.status = status;
    return message::event(end);
}

inline stream_of_messages tail() {
    return {usage(), ended()};
}

inline message aborted() {
    return message::event(run_abort{text("aborted by user")});
}

/// request_begin, the parts, token_usage, request_end.
template <class... Parts>
stream_of_messages request(const Parts&... parts) {
    return join(message::request_begin(), parts..., tail());
}

inline message begin_compaction() {
    return message::event(compaction_begin{});
}

inline message end_compaction() {
    return message::event(compaction_end{});
}

/// The notice at the turn limit.
inline stream_of_messages limit_notice() {
    stream_of_messages made = framed_text({"[reached max turns (1); stopping]"});
    made[2] = std::move(made[2]).with_stop(stop_reason::failed);
    made[3] = std::move(made[3]).with_stop(stop_reason::failed);
    return made;
}

/// The same stream as a child's.
inline stream_of_messages in_child(stream_of_messages stream, const text& child = "child") {
    for (message& m : stream)
        m = std::move(m).with_origin_prefix(child);
    return stream;
}

inline message meta(const text& session_id = "child") {
    struct session_meta made;
    made.session_id = session_id;
    return message::session_meta(made);
}

} // namespace thalweg::testing
