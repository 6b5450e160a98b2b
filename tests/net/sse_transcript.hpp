// SPDX-License-Identifier: BSL-1.0

#pragma once

// Everything an SSE parser says about one body, as one text: two ways of cutting a body into reads are equal
// when their transcripts are. The bytes of each read lie in an allocation of their exact size that is
// overwritten after the read, so that a view that outlives its promise is seen (by the text, and by the
// address sanitizer).

#include <thalweg/net/sse.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::testing {

class sse_transcript {
public:
    explicit sse_transcript(sse_limits limits = {}) : parser_{limits} {}

    void feed(std::string_view bytes) {
        std::vector<char> exact(bytes.begin(), bytes.end());
        parser_.feed({exact.data(), exact.size()});
        drain();
        std::fill(exact.begin(), exact.end(), '#');
    }

    std::string finish(body_end end) {
        parser_.finish(end);
        drain();
        if (!parser_.stray().empty()) text_ += "stray<" + parser_.stray() + ">";
        if (parser_.cut()) text_ += "cut";
        if (!parser_.error().empty()) text_ += "error<" + parser_.error() + ">";
        if (parser_.retry()) text_ += "retry<" + std::to_string(parser_.retry()->count()) + ">";
        return text_;
    }

private:
    void drain() {
        while (const auto* event = parser_.next()) {
            text_ += '[';
            if (!event->type.empty()) text_ += std::string{event->type} + "|";
            text_ += event->data;
            if (!event->id.empty()) text_ += "|id=" + std::string{event->id};
            text_ += ']';
        }
    }

    sse_parser parser_;
    std::string text_;
};

/// The body in reads of `size` bytes.
inline std::string transcript(std::string_view body, std::size_t size, body_end end = body_end::clean,
                              sse_limits limits = {}) {
    sse_transcript result{limits};
    for (std::size_t at = 0; at < body.size(); at += size)
        result.feed(body.substr(at, size));
    return result.finish(end);
}

/// The body in two reads, cut behind the first `at` bytes.
inline std::string transcript_of_two(std::string_view body, std::size_t at, body_end end = body_end::clean,
                                     sse_limits limits = {}) {
    sse_transcript result{limits};
    result.feed(body.substr(0, at));
    result.feed(body.substr(at));
    return result.finish(end);
}

} // namespace thalweg::testing
