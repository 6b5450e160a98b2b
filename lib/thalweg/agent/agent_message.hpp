// SPDX-License-Identifier: BSL-1.0

#pragma once

// A message of an agent's transcript (R-EVT-89): of the user, of the model with its blocks, the result of one
// tool call, or one of the program's own.
//
//     auto ask = agent_message::user("Read a.txt");
//     auto mark = agent_message::custom(note{"saved"});      // see custom_type.hpp
//     if (const note* n = mark.get_if<note>()) …
//
// A value. A copy is an immutable snapshot: it costs a few reference counts and never changes when the
// original goes on streaming (R-EVT-11).
// Thread rule: different objects may be used from different threads, whatever they share.

#include <thalweg/agent/content.hpp>
#include <thalweg/agent/custom_type.hpp>
#include <thalweg/protocol/events.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace thalweg {

/// Why an assistant message ended (R-EVT-18).
enum class agent_stop : std::uint8_t { stop, length, tool_use, error, aborted };

class agent_message {
public:
    enum class type : std::uint8_t { user, assistant, tool_result, custom };

    agent_message() noexcept = default; ///< an empty user message

    static agent_message user(text body);
    static agent_message user(content_list content);
    static agent_message assistant(content_list content, agent_stop stop = agent_stop::stop);
    /// `details_json`: any JSON, for people and programs, never for the model; empty = none.
    static agent_message tool_result(text tool_call_id, text tool_name, content_list content,
                                     text details_json = {}, bool is_error = false);
    /// A message of the program's type T; stops the build with a sentence if T is none.
    template <class T>
    static agent_message custom(T value) {
        static_assert(detail::check_custom<T>());
        std::string members;
        encode(members, value);
        agent_message made = untyped(text(T::role), text(members));
        made.value_ = std::make_shared<const T>(std::move(value));
        made.custom_ = &custom_type_of<T>;
        return made;
    }
    /// A custom message as data: `members` is a JSON object without role and timestamp.
    static agent_message untyped(text role, text members);
    /// The same, with the value that `known` reads from it. Errors: those of the type's members.
    static result<agent_message> custom_from(const custom_type& known, text members);

    agent_message&& with_timestamp(std::int64_t ms_since_epoch) && noexcept {
        timestamp_ = ms_since_epoch;
        return std::move(*this);
    }
    agent_message&& with_usage(token_counts used) && noexcept {
        usage_ = used;
        return std::move(*this);
    }
    /// Of an assistant message that ended by `why`, error or aborted.
    agent_message&& with_error(agent_stop why, text error) && noexcept {
        stop_ = why;
        extra_ = std::move(error);
        return std::move(*this);
    }

    [[nodiscard]] type kind() const noexcept { return type_; }
    /// As in JSON: user, assistant, toolResult, or the custom type's own.
    [[nodiscard]] std::string_view role() const noexcept;
    [[nodiscard]] const content_list& content() const noexcept { return content_; } ///< empty if custom
    /// UTC, milliseconds since 1970; 0 = unknown.
    [[nodiscard]] std::int64_t timestamp() const noexcept { return timestamp_; }

    // Of an assistant message.

    [[nodiscard]] agent_stop stop() const noexcept { return stop_; }
    /// True if it ended by an error or was aborted.
    [[nodiscard]] bool is_broken() const noexcept { return stop_ >= agent_stop::error; }
    [[nodiscard]] const text& error() const noexcept { return type_ == type::assistant ? extra_ : none; }
    [[nodiscard]] const token_counts& usage() const noexcept { return usage_; } ///< zeros if unknown

    // Of a tool result.

    [[nodiscard]] const text& tool_call_id() const noexcept { return id_; }
    [[nodiscard]] const text& tool_name() const noexcept { return name_; }
    [[nodiscard]] const text& details() const noexcept { ///< JSON or empty
        return type_ == type::tool_result ? extra_ : none;
    }
    [[nodiscard]] bool is_error() const noexcept { return is_error_; }

    // Of a custom message.

    /// The value, if the message is one of T and was made or read with the knowledge of it; else nullptr.
    template <class T>
    [[nodiscard]] const T* get_if() const noexcept {
        return custom_ == &custom_type_of<T> ? static_cast<const T*>(value_.get()) : nullptr;
    }
    /// A JSON object with all members but role and timestamp, unknown ones included.
    [[nodiscard]] const text& members() const noexcept { return type_ == type::custom ? extra_ : none; }

    friend bool operator==(const agent_message& a, const agent_message& b) noexcept;

private:
    friend class detail::answer_builder;
    static const text none;

    explicit agent_message(type t) noexcept : type_(t) {}

    type type_ = type::user;
    agent_stop stop_ = agent_stop::stop;
    bool is_error_ = false;
    std::int64_t timestamp_ = 0;
    content_list content_;
    text id_;    // of the call; the role of a custom message
    text name_;  // of the tool
    text extra_; // error, details or members
    token_counts usage_;
    std::shared_ptr<const void> value_;
    const custom_type* custom_ = nullptr;
};

[[nodiscard]] std::string_view to_string(agent_stop s) noexcept;
[[nodiscard]] std::string_view to_string(content_block::type t) noexcept;

} // namespace thalweg
