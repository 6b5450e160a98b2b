// SPDX-License-Identifier: BSL-1.0

#pragma once

// Frames the output of one tool call (R-ENV-01…0C): one segment, limits counted in code points, invalid UTF-8
// made valid visibly, notes at the end, never empty. No I/O and no coroutine; tested with data.

#include <thalweg/protocol/message.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

class output_framer {
public:
    /// `limit`: code points of content that are passed on; zero or less = all.
    output_framer(text tool_call_id, text provider_id, std::int64_t limit)
        : id_(std::move(tool_call_id)), provider_id_(std::move(provider_id)), limit_(limit) {}

    /// The start frame, if it has not been made yet.
    void start();
    /// A piece of output as the tool gave it; cut inside a character or invalid is fine.
    void add(text piece);
    /// The same for what comes with the result: it is no progress (message::as_closing()).
    void add_last(text piece) {
        is_closing_ = true;
        add(std::move(piece));
    }
    /// Closes the segment: `notes` in order (empty ones are skipped), the stop frame, the complete output.
    /// Images go along only with `completed` (R-ENV-0B).
    void finish(stop_reason status, const std::vector<std::string>& notes, std::vector<text> images,
                text details_json = {});
    /// The complete output alone, without frames, if none has been opened; else the same as finish()
    /// (R-ENG-32).
    void finish_bare(std::string_view output);

    [[nodiscard]] bool is_finished() const noexcept { return finished_; }
    /// The content so far, UTF-8; what add() had to hold back is not in it.
    [[nodiscard]] const std::string& content() const noexcept { return content_; }
    /// Messages for the stream, in order, not yet stamped; the caller takes them out and clears.
    [[nodiscard]] std::vector<message>& pending() noexcept { return pending_; }

private:
    void pass(text valid);
    void delta(text piece);
    void complete(stop_reason status, std::vector<text> images, text details_json);

    text id_;
    text provider_id_;
    std::int64_t limit_;
    std::int64_t passed_ = 0; // code points
    bool started_ = false;
    bool truncated_ = false;
    bool finished_ = false;
    bool is_closing_ = false; // what is added now comes with the result
    std::string content_;
    utf8::repairer repair_;
    std::vector<message> pending_;
};

} // namespace thalweg
