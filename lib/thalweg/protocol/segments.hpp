// SPDX-License-Identifier: BSL-1.0

#pragma once

// Puts the frames of partial messages together again, for renderers and other readers that want whole
// segments.
//
// Forgiving where the stream checker is strict (R-PRO-29): a renderer must show something sensible for a
// stream that was cut, replayed from its middle or written by another program. It reads partial messages only
// and ignores the complete message that follows a segment, so feed it every message of a stream.
//
// A plain value: one object from one thread at a time. Memory: the content of the segments that are open.

#include <thalweg/protocol/message.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace thalweg {

/// One segment as far as it is known. Its identity is origin, kind and tool_call_id (R-PRO-25).
class segment {
public:
    /// The kind of the complete message: text, thinking, tool_call or tool_call_output.
    [[nodiscard]] thalweg::kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::span<const text> origin() const noexcept { return origin_; }
    [[nodiscard]] const text& tool_call_id() const noexcept {
        return tool_call_id_;
    } ///< empty for text and thinking
    [[nodiscard]] const text& name() const noexcept { return name_; } ///< of a tool call, once known
    [[nodiscard]] const std::string& content() const noexcept { return content_; } ///< all deltas so far
    [[nodiscard]] std::span<const text> images() const noexcept { return images_; }
    /// The last one that a frame carried; none if no frame did.
    [[nodiscard]] stop_reason stop() const noexcept { return stop_; }

private:
    friend class segment_aggregator;
    explicit segment(const message& first);
    [[nodiscard]] bool is_of(const message& m) const noexcept;
    void add(const message& m);

    thalweg::kind kind_;
    stop_reason stop_ = stop_reason::none;
    text tool_call_id_;
    text name_;
    std::vector<text> origin_;
    std::string content_;
    std::vector<text> images_;
};

class segment_aggregator {
public:
    /// Takes the next message of a stream. Returns the segment that it ends, if any: by its stop frame, or
    /// because a new segment of the same identity starts. Anything but a partial message changes nothing.
    std::optional<segment> feed(const message& m);

    /// The segments that have begun and not ended, in the order in which they began. Valid until the next
    /// call of a member that is not const.
    [[nodiscard]] std::span<const segment> open() const noexcept { return open_; }

    /// Ends all open segments, as at the end of a stream, and returns them.
    [[nodiscard]] std::vector<segment> finish();

private:
    std::vector<segment> open_;
};

} // namespace thalweg
