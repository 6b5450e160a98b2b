// SPDX-License-Identifier: BSL-1.0

#pragma once

// Builds one assistant message of the model's frames and complete messages, and the events that show it grow
// (R-EVT-102, state answering). For the sources of this room only.

#include <thalweg/agent/detail/event_slots.hpp>
#include <thalweg/protocol/growing_text.hpp>
#include <thalweg/protocol/message.hpp>

#include <span>
#include <vector>

namespace thalweg::detail {

class answer_builder {
public:
    /// A new answer; nothing is shown of it yet.
    void begin();
    /// message_start, unless it was shown.
    void announce(std::int64_t timestamp, event_slots& out);

    void on_partial(const message& m, event_slots& out);  ///< text, thinking or tool call
    void on_complete(const message& m, event_slots& out); ///< of the assistant
    void on_usage(const token_counts& used) noexcept {
        partial_.usage_ = used;
        is_shown_ = false;
    }

    /// The last message of a completed answer may be the stop frame of an empty block.
    void settle(event_slots& out);
    /// How the answer ended; gives the complete message. A broken one loses the calls that were cut. With
    /// `empty_text`, one that nothing was shown of has an empty text block (R-EVT-74).
    const agent_message& finish(agent_stop stop, text error, std::int64_t timestamp, bool empty_text,
                                event_slots& out);
    [[nodiscard]] const agent_message& message() const noexcept { return partial_; }

    struct call {
        text id;
        text name;
        text arguments;
        bool is_cut = false; ///< never runs
    };
    /// The calls of the answer in its order; cut ones only where their block stays.
    [[nodiscard]] std::span<const call> calls() const noexcept { return calls_; }

private:
    enum class phase : std::uint8_t {
        none, ///< no block is open
        open,
        stopped, ///< its stop frame said completed; the complete message is due
    };

    [[nodiscard]] bool is_of(const thalweg::message& m) const noexcept;
    void start(content_block block, event_slots& out);
    void extend(const text& piece, event_slots& out);
    void end(content_block whole, event_slots& out);
    void show(assistant_update update, event_slots& out);
    void catch_up() noexcept;
    void drop_cut_calls();

    agent_message partial_{agent_message::type::assistant};
    growing_text buffer_; // content of the open block
    phase phase_ = phase::none;
    bool is_announced_ = false;
    bool is_shown_ = false;  // the first slot shows this message but for the end of its last block
    bool is_behind_ = false; // the slot has more of the last block than `partial_`
    std::vector<call> calls_;
};

} // namespace thalweg::detail
