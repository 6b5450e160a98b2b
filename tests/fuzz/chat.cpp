// SPDX-License-Identifier: BSL-1.0

// Any body must be decoded without harm, and to the same end however it is cut into reads: body, event-stream
// parser, chat decoder. The first input byte chooses the cuts; the rest is the body.

#include "providers/chat_transcript.hpp"

#include <thalweg/net/sse.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

using namespace thalweg;

class answer {
public:
    void feed(std::string_view bytes) {
        std::vector<char> padded(bytes.size() + sse_parser::padding, '\\');
        if (!bytes.empty()) std::memcpy(padded.data(), bytes.data(), bytes.size());
        parser_.feed({padded.data(), bytes.size()});
        drain();
    }

    std::string finish() {
        parser_.finish(body_end::clean);
        drain();
        decoded_.stray(parser_.stray());
        std::string all = decoded_.finish();
        const auto& ending = decoded_.ending();
        all.append(ending.raw_finish_reason.view()).append(ending.complaint);
        if (ending.error) all += ending.error->sentence();
        return all;
    }

private:
    void drain() {
        while (const sse_event* event = parser_.next())
            decoded_.event(event->data, event->type);
    }

    sse_parser parser_;
    testing::chat_transcript decoded_;
};

std::string in_pieces(std::string_view body, std::uint32_t state) {
    answer one;
    while (!body.empty()) {
        state = state * 1664525U + 1013904223U;
        const auto piece = body.substr(0, state >> 27U);
        one.feed(piece);
        body.remove_prefix(piece.size());
    }
    return one.finish();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view body{reinterpret_cast<const char*>(input) + 1, size - 1};
    answer whole;
    whole.feed(body);
    const std::string expected = whole.finish();
    if (in_pieces(body, input[0]) != expected) std::abort();
    testing::chat_transcript as_body;
    as_body.body(body);
    static_cast<void>(as_body.finish());
    return 0;
}
