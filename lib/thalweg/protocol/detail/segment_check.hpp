// SPDX-License-Identifier: BSL-1.0

#pragma once

// The segment rules of the stream checker, for one producer: framing, concatenation, frame content, images.

#include <thalweg/protocol/detail/check_log.hpp>

namespace thalweg::detail {

class segment_check {
public:
    /// A frame of the producer. `needs_complete` is off for a forwarded summary.
    void on_frame(const message& m, check_log& log, bool needs_complete = true);

    /// A complete model message of the producer.
    void on_complete(const message& m, check_log& log);

    /// Anything else of the producer; nullptr = the run has ended.
    void on_other(const message* m, check_log& log);

    [[nodiscard]] bool is_open() const noexcept { return state_ == state::open; }
    /// True once a frame was seen, until the complete message.
    [[nodiscard]] bool is_pending() const noexcept { return state_ != state::closed; }

private:
    enum class state : unsigned char { closed, open, stopped };

    [[nodiscard]] bool is_of(const message& m) const noexcept;
    [[nodiscard]] bool may_stay_incomplete() const noexcept;
    [[nodiscard]] std::string name() const;
    void begin(const message& m, check_log& log);
    void extend(const message& m, check_log& log);
    void stop(const message& m, check_log& log, bool needs_complete);
    void compare(const message& complete, check_log& log) const;

    state state_ = state::closed;
    kind kind_ = kind::partial_text;
    stop_reason stop_ = stop_reason::none;
    text id_;
    text name_;
    std::string content_;
    std::vector<text> images_;
};

} // namespace thalweg::detail
