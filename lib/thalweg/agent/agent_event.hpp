// SPDX-License-Identifier: BSL-1.0

#pragma once

// One event of an agent (R-EVT-06): the second way to see a run, beside its OmniMessages. Four levels, each
// with its own start and end: run, turn, message, tool execution.
//
//     if (const auto* update = event.get_if<agent_event::message_update>()) draw(update->message);
//
// A drawing program needs little (R-EVT-99): replace a bubble by the update's message and lock it on
// message_end; replace a card by its call's id and lock it on tool_execution_end; spin from agent_start to
// agent_end, which comes once and last, whatever happened. events may be copied and kept: what they show
// never changes (R-EVT-11).
//
// A value; different objects may be used from different threads.

#include <thalweg/agent/agent_message.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace thalweg {

/// What happened inside the assistant message of a message_update (R-EVT-14).
class assistant_update {
public:
    enum class type : std::uint8_t {
        text_start,
        text_delta,
        text_end,
        thinking_start,
        thinking_delta,
        thinking_end,
        toolcall_start,
        toolcall_delta,
        toolcall_end,
    };

    assistant_update() noexcept = default;
    static assistant_update start(content_block::type block, std::size_t index) noexcept {
        return assistant_update(block, 0, index);
    }
    static assistant_update delta(content_block::type block, std::size_t index, text piece) noexcept {
        assistant_update made(block, 1, index);
        made.delta_ = std::move(piece);
        return made;
    }
    /// `whole` is the finished block.
    static assistant_update end(std::size_t index, content_block whole) noexcept {
        assistant_update made(whole.kind(), 2, index);
        made.whole_ = std::move(whole);
        return made;
    }

    [[nodiscard]] type kind() const noexcept { return type_; }
    /// The kind of block: text, thinking or tool_call.
    [[nodiscard]] content_block::type block() const noexcept {
        return static_cast<content_block::type>(static_cast<int>(type_) / 3);
    }
    [[nodiscard]] bool is_start() const noexcept { return static_cast<int>(type_) % 3 == 0; }
    [[nodiscard]] bool is_delta() const noexcept { return static_cast<int>(type_) % 3 == 1; }
    [[nodiscard]] bool is_end() const noexcept { return static_cast<int>(type_) % 3 == 2; }

    /// The place of the block in the message's content; less than its size.
    [[nodiscard]] std::size_t content_index() const noexcept { return index_; }
    [[nodiscard]] const text& delta() const noexcept { return delta_; } ///< of the deltas
    /// Of text_end and thinking_end: the whole text.
    [[nodiscard]] const text& content() const noexcept { return whole_.content(); }
    [[nodiscard]] const content_block& tool_call() const noexcept { return whole_; } ///< of toolcall_end

    friend bool operator==(const assistant_update&, const assistant_update&) = default;

private:
    friend class detail::answer_builder;

    assistant_update(content_block::type block, int step, std::size_t index) noexcept
        : index_(index), type_(static_cast<type>(static_cast<int>(block) * 3 + step)) {}

    std::size_t index_ = 0;
    text delta_;
    content_block whole_;
    type type_ = type::text_start;
};

/// What a tool shows: its result, or a snapshot of its progress that replaces the former one (D-13).
struct tool_output {
    content_list content;
    text details = {}; ///< any JSON, for people and programs; empty = none

    friend bool operator==(const tool_output&, const tool_output&) = default;
};

class agent_event {
public:
    struct agent_start {
        friend bool operator==(const agent_start&, const agent_start&) = default;
    };
    struct agent_end {
        std::vector<agent_message> messages; ///< what the run added, prompts included (R-EVT-13, D-42)
        friend bool operator==(const agent_end&, const agent_end&) = default;
    };
    struct turn_start {
        friend bool operator==(const turn_start&, const turn_start&) = default;
    };
    struct turn_end {
        agent_message message;                   ///< the assistant message of the turn
        std::vector<agent_message> tool_results; ///< of this turn's batch
        friend bool operator==(const turn_end&, const turn_end&) = default;
    };
    struct message_start {
        agent_message message;
        friend bool operator==(const message_start&, const message_start&) = default;
    };
    struct message_update {
        agent_message message; ///< the partial assistant message, the update in it (R-EVT-16)
        assistant_update update;
        friend bool operator==(const message_update&, const message_update&) = default;
    };
    struct message_end {
        agent_message message;
        friend bool operator==(const message_end&, const message_end&) = default;
    };
    struct tool_execution_start {
        text tool_call_id;
        text tool_name;
        text tool_label; ///< for people; empty = the name (D-13)
        text args;       ///< JSON as the model wrote it
        friend bool operator==(const tool_execution_start&, const tool_execution_start&) = default;
    };
    struct tool_execution_update {
        text tool_call_id;
        text tool_name;
        text args;
        tool_output partial_result; ///< replaces the former one
        friend bool operator==(const tool_execution_update&, const tool_execution_update&) = default;
    };
    struct tool_execution_end {
        text tool_call_id;
        text tool_name;
        tool_output result;
        bool is_error = false;
        friend bool operator==(const tool_execution_end&, const tool_execution_end&) = default;
    };
    /// A failed attempt will be repeated after a wait; its message is no longer part of the transcript
    /// (R-EVT-72, D-24).
    struct auto_retry_start {
        int attempt = 1;                 ///< which repeat it will be, from 1
        std::optional<int> max_attempts; ///< if known
        std::int64_t delay_ms = 0;
        text error_message;
        friend bool operator==(const auto_retry_start&, const auto_retry_start&) = default;
    };
    struct auto_retry_end {
        bool success = false;
        int attempt = 1;
        std::optional<text> final_error; ///< unless success
        friend bool operator==(const auto_retry_end&, const auto_retry_end&) = default;
    };

    /// In the order of the structs above.
    enum class type : std::uint8_t {
        agent_start,
        agent_end,
        turn_start,
        turn_end,
        message_start,
        message_update,
        message_end,
        tool_execution_start,
        tool_execution_update,
        tool_execution_end,
        auto_retry_start,
        auto_retry_end,
    };

    agent_event() noexcept = default; ///< agent_start
    /// `Event` is one of the structs above.
    template <class Event>
    static agent_event of(Event what) {
        agent_event made;
        made.what_ = std::move(what);
        return made;
    }

    [[nodiscard]] type kind() const noexcept { return static_cast<type>(what_.index()); }
    /// The event's fields, or nullptr if it is another one.
    template <class Event>
    [[nodiscard]] const Event* get_if() const noexcept {
        return std::get_if<Event>(&what_);
    }
    /// The message of a message event or a turn_end; nullptr for every other.
    [[nodiscard]] const agent_message* message() const noexcept;

    /// Calls `visitor` with the struct of this event.
    template <class Visitor>
    decltype(auto) visit(Visitor&& visitor) const {
        return std::visit(std::forward<Visitor>(visitor), what_);
    }

    friend bool operator==(const agent_event&, const agent_event&) = default;

private:
    friend class event_slots;
    std::variant<agent_start, agent_end, turn_start, turn_end, message_start, message_update, message_end,
                 tool_execution_start, tool_execution_update, tool_execution_end, auto_retry_start,
                 auto_retry_end>
        what_;
};

[[nodiscard]] std::string_view to_string(agent_event::type t) noexcept;
[[nodiscard]] std::string_view to_string(assistant_update::type t) noexcept;

} // namespace thalweg
