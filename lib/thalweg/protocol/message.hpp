// SPDX-License-Identifier: BSL-1.0

#pragma once

// The OmniMessage: one structure for the caller's stream, the trace file and a server's push channel.
// A message is 64 bytes and immutable but for its time stamp and origin; what rarely occurs (name, fidelity,
// images, origin, event fields, unknown members) lies in one shared, reference-counted box, so that copies
// are cheap and a short text delta never allocates.
//
// Unknown types and unknown members are carried through unchanged, byte for byte (R-PRO-04).
//
// Facts (R-EVT-101, D-40) are messages that never leave the process: they say what the public stream does not
// (run edges, what went in, when a tool's body began), so that other views can be projected from one log.
// They have no wire form: append_json() appends nothing for them. A fact log is written and read in a form of
// its own, append_fact_json() and parse_options::facts.
// Thread rule: value semantics; different objects may be used from different threads.

#include <thalweg/protocol/events.hpp>
#include <thalweg/protocol/result.hpp>
#include <thalweg/protocol/text.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

/// What a message is: its envelope type and payload type in one (protocol §2, §3).
enum class kind : std::uint8_t {
    session_meta,
    // complete model messages
    text,
    thinking,
    tool_call,
    tool_call_output,
    image_url,
    inline_data,
    inline_thinking,
    other_model,
    // partial model messages: one frame of a segment
    partial_text,
    partial_thinking,
    partial_tool_call,
    partial_tool_call_output,
    // events
    request_begin,
    request_end,
    approval_decision,
    token_usage,
    abort,
    compaction_begin,
    compaction_end,
    subagent,
    tool_list_ready,
    mcp_connect_begin,
    mcp_connect_end,
    goal_finished,
    trace_fault,
    notice,
    other_event,
    // facts: for projections inside the process, never on the wire
    run_begin,
    run_end,
    agent_input,
    response_begin,
    call_begin,
    body_begin,
    call_progress,
    call_settled,
    batch_settled,
};

class message {
public:
    message() noexcept = default; ///< an empty user text without time stamp

    message(const message& other) noexcept
        : head_(other.head_), details_(other.details_), content_(other.content_), id_(other.id_) {
        if (details_ != nullptr) share();
    }
    message(message&& other) noexcept
        : head_(other.head_),
          details_(std::exchange(other.details_, nullptr)),
          content_(std::move(other.content_)),
          id_(std::move(other.id_)) {}
    message& operator=(const message& other) noexcept {
        message copy(other);
        return *this = std::move(copy);
    }
    message& operator=(message&& other) noexcept;
    ~message() {
        if (details_ != nullptr) release();
    }

    // Complete model messages. `stop_reason` is completed unless set by `with_stop`.
    static message user_text(text body);
    static message assistant_text(text body);
    static message thinking(text body);
    static message tool_call(text name, text arguments, text tool_call_id);
    static message tool_call_output(text output, text tool_call_id);
    static message image_url(text url); ///< web URL or data URL
    static message inline_data(thalweg::role by, text base64, text mime_type);
    static message inline_thinking(text base64, text mime_type);

    // Frames of a segment. start and stop have empty content; `name` is written on the start frame only
    // (R-PRO-22). The kind of call that happens a million times: no allocation for up to
    // text::inline_capacity bytes.
    static message partial_text(thalweg::frame f, text delta = {});
    static message partial_thinking(thalweg::frame f, text delta = {});
    static message partial_tool_call(thalweg::frame f, text tool_call_id, text name = {},
                                     text arguments_delta = {});
    static message partial_tool_call_output(thalweg::frame f, text tool_call_id, text output_delta = {});

    // Events.
    static message request_begin();
    static message approval_decision(thalweg::decision d, text tool_call_id);
    /// `Event` is one of the structs of events.hpp: request_end, token_usage, run_abort, …, session_meta.
    template <class Event>
    static message event(Event payload);
    static message session_meta(struct session_meta payload); ///< the same as event(payload)

    // Facts (R-EVT-101). The last one of a run is event(run_end{…}); as_input() makes one of any message.
    static message run_begin();
    /// An input that is no OmniMessage: a message of the agent room in its JSON form, an object.
    static message agent_input(text json_object);
    static message response_begin(); ///< the model has begun to answer
    /// A call is dispatched, before any check. `label` is the tool's, for people; may be empty (D-13).
    static message call_begin(text tool_call_id, text name, text arguments, text label = {});
    static message body_begin(text tool_call_id); ///< the checks are passed; the tool itself begins
    /// A snapshot of the tool's progress; replaces the former one. `details_json`: any JSON or empty.
    static message call_progress(text tool_call_id, text content, text details_json = {});
    /// The result of the call is in the transcript: per call in sequential mode, per batch in call order in
    /// parallel mode.
    static message call_settled(text tool_call_id);
    static message batch_settled(); ///< nothing of the answer's calls is left to come

    // Changes that make a new state of the same message before it is put on the stream. What other copies of
    // the message see does not change.
    message&& with_stop(stop_reason reason) &&;
    message&& with_fidelity(text json_object) &&; ///< raw JSON object; empty or `{}` = absent (R-PRO-71)
    message&& with_images(std::vector<text> data_urls) &&;
    message&& with_sender(text sender) &&;  ///< R-PRO-10; `user` and empty are not written
    message&& with_provider_id(text id) &&; ///< the provider's own call id; never written (R-PRO-13)
    /// Of calls and outputs: the session's id in place of the provider's, which is not kept by this.
    message&& with_tool_call_id(text id) &&;
    message&& with_origin_prefix(text session_id) &&; ///< one hop in front (R-PRO-60)
    message&& with_timestamp(std::int64_t ms_since_epoch) &&;
    /// For the trace and for nobody else: a session records it and leaves it out of its stream (R-ENG-71,
    /// R-ENG-82). Not a part of the wire form.
    message&& trace_only() && noexcept {
        head_.trace_only = 1;
        return std::move(*this);
    }
    /// Makes the fact "this went into the run" of a message, which no public stream shows. What a public
    /// stream shows as well (a steered message) is sent twice, once without this. Images of a user's text
    /// (with_images()) are part of a fact only.
    message&& as_input() && noexcept {
        head_.input = 1;
        return std::move(*this);
    }
    /// Of a piece of output: it came with the result and not while the tool worked, so it is no progress. A
    /// fact about a message that is public; not written on the wire.
    message&& as_closing() && noexcept {
        head_.closing = 1;
        return std::move(*this);
    }
    /// Of an output: what a tool gives people and programs beside it (D-13); any JSON; empty
    /// and null = none. Not written on the wire.
    message&& with_details(text details_json) &&;
    /// UTC, milliseconds since 1970; cut to the years 1970 to 2527.
    void stamp(std::int64_t ms_since_epoch) noexcept;

    [[nodiscard]] thalweg::kind kind() const noexcept { return static_cast<thalweg::kind>(head_.kind); }
    [[nodiscard]] bool has_timestamp() const noexcept { return head_.stamp != 0; }
    /// Milliseconds since 1970, UTC; 0 also where has_timestamp() is false.
    [[nodiscard]] std::int64_t timestamp() const noexcept {
        return head_.stamp == 0 ? 0 : static_cast<std::int64_t>(head_.stamp) - 1;
    }
    [[nodiscard]] thalweg::role role() const noexcept { return static_cast<thalweg::role>(head_.role); }
    [[nodiscard]] thalweg::frame frame() const noexcept { return static_cast<thalweg::frame>(head_.frame); }
    [[nodiscard]] stop_reason stop() const noexcept { return static_cast<stop_reason>(head_.stop); }

    [[nodiscard]] bool is_partial() const noexcept {
        return kind() >= thalweg::kind::partial_text && kind() <= thalweg::kind::partial_tool_call_output;
    }
    /// Complete model message, unknown ones included.
    [[nodiscard]] bool is_complete() const noexcept {
        return kind() >= thalweg::kind::text && kind() <= thalweg::kind::other_model;
    }
    [[nodiscard]] bool is_event() const noexcept {
        return kind() >= thalweg::kind::request_begin && kind() <= thalweg::kind::other_event;
    }
    /// Not for anybody outside the process: of a kind that has no wire form, or an input.
    [[nodiscard]] bool is_fact() const noexcept {
        return kind() > thalweg::kind::other_event || head_.input != 0;
    }
    [[nodiscard]] bool is_input() const noexcept { return head_.input != 0; }
    [[nodiscard]] bool is_closing() const noexcept { return head_.closing != 0; }
    /// Protocol §2: no origin and not partial; and no fact.
    [[nodiscard]] bool is_recordable() const noexcept {
        return !is_partial() && !is_fact() && origin().empty();
    }
    [[nodiscard]] bool is_trace_only() const noexcept { return head_.trace_only != 0; }

    /// text, thinking, arguments, output, image_url or data, by kind; of facts: the arguments, the progress
    /// or the JSON object; empty on everything else. Views and texts live as long as the message and change
    /// with it.
    [[nodiscard]] const text& content() const noexcept { return content_; }
    [[nodiscard]] const text& tool_call_id() const noexcept { return id_; } ///< calls, outputs, decisions
    [[nodiscard]] const text& name() const noexcept;         ///< tool_call, its start frame, call_begin
    [[nodiscard]] const text& label() const noexcept;        ///< of call_begin
    [[nodiscard]] const text& details_json() const noexcept; ///< of call_progress and outputs
    [[nodiscard]] const text& mime_type() const noexcept;
    [[nodiscard]] const text& sender() const noexcept;
    [[nodiscard]] const text& fidelity() const noexcept;    ///< raw JSON object or empty
    [[nodiscard]] const text& provider_id() const noexcept; ///< tool_call_id() unless another was kept
    /// payload.type as on the wire (also for unknown ones); empty for session_meta.
    [[nodiscard]] const text& type_name() const noexcept;
    [[nodiscard]] std::span<const text> images() const noexcept;
    [[nodiscard]] std::span<const text> origin() const noexcept; ///< outer → inner; empty = main session
    [[nodiscard]] thalweg::decision decision() const noexcept {
        return static_cast<thalweg::decision>(head_.decision);
    }
    /// The payload of an event (request_end, token_usage, …) or of session_meta; nullptr if it is another
    /// one.
    template <class Event>
    [[nodiscard]] const Event* event_if() const noexcept;

    friend class message_codec;

private:
    struct details; // in detail/message_details.hpp: the rare members

    message(thalweg::kind k, thalweg::role r, thalweg::frame f, stop_reason s, text content,
            text id = {}) noexcept
        : head_{.kind = static_cast<std::uint8_t>(k),
                .role = static_cast<std::uint8_t>(r),
                .frame = static_cast<std::uint8_t>(f),
                .stop = static_cast<std::uint8_t>(s)},
          content_(std::move(content)),
          id_(std::move(id)) {}

    void share() const noexcept;
    void release() noexcept;
    details& own(); // the box, made or copied so that it belongs to this message alone

    // One word, so that a move copies it at once.
    struct head {
        std::uint64_t stamp : 44 = 0; // milliseconds since 1970, plus one; 0 = none
        std::uint64_t kind : 7 = static_cast<std::uint64_t>(thalweg::kind::text);
        std::uint64_t role : 2 = 0;
        std::uint64_t frame : 2 = 0;
        std::uint64_t stop : 4 = static_cast<std::uint64_t>(stop_reason::completed);
        std::uint64_t decision : 2 = 0;
        std::uint64_t trace_only : 1 = 0;
        std::uint64_t input : 1 = 0;
        std::uint64_t closing : 1 = 0;
    };
    head head_;
    details* details_ = nullptr; // shared by reference count
    text content_;
    text id_;
};

static_assert(sizeof(message) == 64);

inline message& message::operator=(message&& other) noexcept {
    if (this == &other) return *this;
    if (details_ != nullptr) release();
    head_ = other.head_;
    details_ = std::exchange(other.details_, nullptr);
    content_ = std::move(other.content_);
    id_ = std::move(other.id_);
    return *this;
}

inline message message::partial_text(thalweg::frame f, text delta) {
    return message(kind::partial_text, role::assistant, f, stop_reason::completed, std::move(delta));
}

inline message message::partial_thinking(thalweg::frame f, text delta) {
    return message(kind::partial_thinking, role::assistant, f, stop_reason::completed, std::move(delta));
}

inline message message::partial_tool_call_output(thalweg::frame f, text tool_call_id, text output_delta) {
    return message(kind::partial_tool_call_output, role::user, f, stop_reason::completed,
                   std::move(output_delta), std::move(tool_call_id));
}

/// Appends the wire form (R-PRO-01…03) without a line end. A message that was never stamped is written
/// without `timestamp`, which no reader of ours takes but parse_message() with `require_timestamp` off.
/// Appends nothing for a fact, which has no wire form.
void append_json(std::string& out, const message& m);
[[nodiscard]] std::string to_json(const message& m);

/// Appends the form of a fact log, without a line end: the wire form plus what is fact. Facts have the
/// envelope type "fact", an input the envelope member `"input":true`, a closing piece `"closing":true`,
/// request_end the members `finish`, `max_attempts` and `outside`, an output `details`. For recordings inside
/// one installation: a wire reader refuses such a line or takes these members for unknown ones.
void append_fact_json(std::string& out, const message& m);

struct parse_options {
    bool require_timestamp = true; ///< off for data that is compared without time
    bool facts = false;            ///< on for a fact log, see append_fact_json(); off, a fact is an error
};

/// Reads one message, strictly: known members must have their type, `timestamp` its 24 characters, roles the
/// value of their kind (R-PRO-11). Unknown payload types and members are kept byte for byte (R-PRO-04); in a
/// text of several lines their white space is removed, so that the message can be written on one.
///
/// The written form equals the parsed one as JSON value but for what is never written: null for an absent
/// optional member, an empty `fidelity`, an empty `images`, `sender` "user".
/// Errors: code json::errc, sentence with byte offset in `line`, member path and what was expected.
[[nodiscard]] result<message> parse_message(std::string_view line, parse_options options = {});

// Names as on the wire; what has none (stop_reason::none, frame::none) gives an empty view.
[[nodiscard]] std::string_view to_string(kind k) noexcept;
[[nodiscard]] std::string_view to_string(role r) noexcept;
[[nodiscard]] std::string_view to_string(stop_reason r) noexcept;
[[nodiscard]] std::string_view to_string(frame f) noexcept;
[[nodiscard]] std::string_view to_string(decision d) noexcept;

} // namespace thalweg
