// SPDX-License-Identifier: BSL-1.0

#pragma once

// The bytes of a Chat Completions answer become deltas: one object per answer, fed with event payloads in
// order. It knows no HTTP and no coroutine, so it can be tested, measured and fuzzed with data.
//
//     while (…) { decoder.event(data, type, deltas); …; deltas.clear(); }
//     auto said = decoder.finish(deltas);
//
// It reads all dialects of the protocol; what servers get wrong in ways that can be understood is understood,
// what cannot be decided makes the answer malformed. Text that leaves is valid UTF-8: surrogate halves are
// joined across deltas, what is broken becomes U+FFFD (H-14).
//
// Private to this room, the benches and the tests. No thread rule.

#include <thalweg/protocol/delta.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/chat_calls.hpp>
#include <thalweg/providers/chat_chunk.hpp>
#include <thalweg/providers/provider_error.hpp>
#include <thalweg/providers/reasoning_details.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers {

enum class chat_status : std::uint8_t {
    completed,  ///< its own end marker came: a finish reason or `[DONE]`
    failed,     ///< it reported an error
    malformed,  ///< it cannot be read
    unfinished, ///< none of these
};

/// What an answer said about its own end, transport aside.
struct chat_ending {
    chat_status status = chat_status::unfinished;
    thalweg::finish why = thalweg::finish::end;
    text raw_finish_reason;                      ///< the provider's own word; empty if none came
    std::optional<detail::provider_error> error; ///< of a failed one
    std::string complaint; ///< of a malformed one: a sentence with the first bytes of what is wrong, quoted
    std::optional<token_counts> usage; ///< as far as it was reported
};

class chat_decoder {
public:
    /// `model` goes into the fidelity of thinking, so that it is sent back to the same model only.
    explicit chat_decoder(std::string model = {});

    /// Reads one event: `data` as the event-stream parser gives it, `type` its event name or empty. Appends
    /// to `out`. Precondition: sse_parser::padding readable bytes follow `data`. Cost: no allocation for a
    /// short delta.
    void event(std::string_view data, std::string_view type, std::vector<delta>& out);

    /// Reads a whole JSON body: the answer of a server that does not stream, or an error. Of any memory.
    void body(std::string_view json, std::vector<delta>& out);

    /// Reads bare JSON lines from between the events, after the last event: they count if they hold an error,
    /// or if nothing else came and they are an answer.
    void stray_lines(std::string_view lines, std::vector<delta>& out);

    /// Nothing that may still come changes the answer: `[DONE]`, an error, or something unreadable was seen.
    [[nodiscard]] bool is_decided() const noexcept { return done_ || failed_ || malformed_; }
    /// What came cannot be understood; reading on is of no use.
    [[nodiscard]] bool is_unreadable() const noexcept { return malformed_; }
    /// The protocol's own sign of completion was seen.
    [[nodiscard]] bool has_end_marker() const noexcept { return done_ || !finish_reason_.empty(); }

    /// Ends the answer; call it once, last. A completed one gets the deltas that had to wait for its end:
    /// calls become final (D-01 `end`), usage is stated. Of any other, what waited is dropped: it never was a
    /// whole call.
    [[nodiscard]] chat_ending finish(std::vector<delta>& out);

private:
    enum class block : std::uint8_t { none, text, thinking, refusal };
    struct waiting_piece {
        block kind;
        std::string text;
    };

    void read(std::string_view payload, std::string_view type, std::vector<delta>& out);
    void take(std::string_view payload, std::vector<delta>& out);
    void take_details(std::vector<delta>& out, bool as_thinking);
    void say(block kind, const detail::raw_string& raw, std::vector<delta>& out);
    void emit(std::string_view text, std::vector<delta>& out);
    void open(block kind, std::vector<delta>& out);
    void close(std::vector<delta>& out);
    void add_thinking_fidelity(std::vector<delta>& out);
    void say_waiting(std::vector<delta>& out);
    void finish_blocks(std::vector<delta>& out);
    void fail(std::optional<detail::provider_error> error, std::string_view payload);
    void complain(std::string_view why, std::string_view payload);
    void complain_unreadable(std::string_view payload);
    [[nodiscard]] thalweg::finish why() const;

    std::string model_;
    detail::chunk_reader reader_;
    detail::chat_chunk chunk_;
    detail::call_list calls_;
    detail::reasoning_details details_;

    block open_ = block::none;
    detail::string_joiner joiner_;       // of the open block
    std::string scratch_;                // unescaped text on its way
    std::string padded_;                 // a payload that had to be copied
    std::vector<waiting_piece> waiting_; // text that came while a call was open
    std::string thinking_name_;          // the member that thinking stood in
    std::string finish_reason_;
    std::optional<token_counts> usage_;
    std::optional<detail::provider_error> error_;
    std::string complaint_;
    std::size_t waiting_bytes_ = 0;
    bool begun_ = false;
    bool said_ = false; // some text or call came
    bool called_ = false;
    bool done_ = false;
    bool failed_ = false;
    bool malformed_ = false;
};

/// "it begins with " and the first bytes of `payload` as a JSON string, at most 512.
[[nodiscard]] std::string quoted_start(std::string_view payload);

} // namespace thalweg::providers
