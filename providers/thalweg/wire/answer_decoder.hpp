// SPDX-License-Identifier: BSL-1.0

#pragma once

// The bytes of a model's answer become deltas: one object per answer, fed with the payloads of events in
// order. It knows no HTTP and no coroutine, so it can be tested, measured and fuzzed with data.
//
// What all protocols have in common is done here: blanks and keep-alives, broken UTF-8, `[DONE]`, errors in
// the stream, answers that come whole instead of streamed, bare JSON lines, the first decisive thing wins
// (H-12, H-13). A protocol adds four things: parse() reads one payload into members of its own, take() says
// what it means, has_end_marker() whether the answer is whole, and complete() what had to wait for that.
//
// Text that leaves is valid UTF-8 (H-14). No thread rule; nothing is shared.

#include <thalweg/protocol/delta.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/wire/provider_error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::wire {

enum class answer_status : std::uint8_t {
    completed,  ///< its own end marker came
    failed,     ///< it reported an error
    malformed,  ///< it cannot be read
    unfinished, ///< none of these
};

/// What an answer said about its own end, transport aside.
struct answer_ending {
    answer_status status = answer_status::unfinished;
    thalweg::finish why = thalweg::finish::end;
    text raw_stop_reason;                ///< the provider's own word; empty if none came
    std::optional<provider_error> error; ///< of a failed one
    std::string complaint;  ///< of a malformed one: a sentence with the first bytes of what is wrong, quoted
    std::string end_marker; ///< of an unfinished one: what did not come, for a sentence about it
    std::optional<token_counts> usage; ///< as far as it was reported
    bool permanent = false;            ///< of a failed one: the same request can never succeed
};

/// What came of reading one payload.
enum class verdict : std::uint8_t {
    good,
    bad_utf8,  ///< nothing was taken; it comes again with U+FFFD in place of what is broken
    not_json,  ///< or no object
    bad_shape, ///< a member that is known has a type that it cannot have; bad_shape() names it
};

class answer_decoder {
public:
    virtual ~answer_decoder() = default;

    /// Reads one event: `data` as the framing gives it, `type` its event name or empty. Appends to `out`.
    /// Precondition: sse_parser::padding readable bytes follow `data`.
    void event(std::string_view data, std::string_view type, std::vector<delta>& out);

    /// Reads a whole JSON body: the answer of a server that does not stream, or an error. Of any memory.
    void body(std::string_view json, std::vector<delta>& out);

    /// Reads bare JSON lines from between the events, after the last event: they count if they hold an error,
    /// or if nothing else came and they are an answer.
    void stray_lines(std::string_view lines, std::vector<delta>& out);

    /// Nothing that may still come changes the answer.
    [[nodiscard]] bool is_decided() const noexcept { return closed_ || failed_ || malformed_; }
    /// What came cannot be understood; reading on is of no use.
    [[nodiscard]] bool is_unreadable() const noexcept { return malformed_; }

    /// Ends the answer; call it once, last. A completed one gets the deltas that had to wait for its end, and
    /// its usage. Of any other, what waited is dropped: it never was whole.
    [[nodiscard]] answer_ending finish(std::vector<delta>& out);

protected:
    answer_decoder() = default;
    answer_decoder(answer_decoder&&) = default;
    answer_decoder& operator=(answer_decoder&&) = default;

    // For a protocol to say
    // -----------------------------------------------------------------------------------------------------

    /// Reads one payload (no blanks around it, never empty) and keeps what take() needs. Says nothing yet.
    [[nodiscard]] virtual verdict parse(std::string_view payload) = 0;
    /// Acts on what parse() has just read from `payload`; `type` is the event's name or empty.
    virtual void take(std::string_view payload, std::string_view type, std::vector<delta>& out) = 0;
    /// The sentence of verdict::bad_shape.
    [[nodiscard]] virtual std::string_view bad_shape() const { return {}; }

    /// Whether events of this name belong to the protocol, so that one that cannot be read spoils the answer.
    /// Others may carry what they like (H-13).
    [[nodiscard]] virtual bool knows(std::string_view type) const;

    /// The protocol's own sign of completion was seen.
    [[nodiscard]] virtual bool has_end_marker() const = 0;
    /// What that sign is, for people: "a finish reason and without [DONE]".
    [[nodiscard]] virtual std::string_view end_marker() const = 0;

    /// The payload was `[DONE]`. Where the protocol has it, it closes the answer (close()).
    virtual void take_done() {}
    /// A whole body was read without a complaint, and without an end marker so far: whether it was an answer.
    [[nodiscard]] virtual bool is_whole_body() const { return false; }

    /// All was read and nothing failed; the last moment to fail() or complain() about the answer as a whole.
    virtual void conclude() {}
    /// The answer is whole: says what had to wait. May complain().
    virtual void complete(std::vector<delta>& out) = 0;
    /// Why it stopped; asked after complete().
    [[nodiscard]] virtual thalweg::finish why() const = 0;
    [[nodiscard]] virtual std::string_view raw_stop_reason() const = 0;

    // For a protocol to use
    // -----------------------------------------------------------------------------------------------------

    /// The answer reports an error; `payload` is quoted where `error` is empty. The first one counts.
    void fail(std::optional<provider_error> error, std::string_view payload);
    /// The same, for what no repetition mends: a blocked prompt.
    void fail_for_good(provider_error error);
    /// The answer cannot be understood: a sentence; `payload`, unless empty, is quoted.
    void complain(std::string_view why, std::string_view payload);
    /// The payload is not JSON, or no object: says where.
    void complain_unreadable(std::string_view payload);
    /// Nothing behind this belongs to the answer.
    void close() noexcept { closed_ = true; }
    /// Something of an answer came: from now on bare lines cannot be the answer themselves.
    void mark_begun() noexcept { begun_ = true; }
    [[nodiscard]] bool is_begun() const noexcept { return begun_; }

    std::optional<token_counts> usage; ///< what was reported last about the whole request (H-16)

private:
    void read(std::string_view payload, std::string_view type, std::vector<delta>& out);

    std::string padded_; // a payload that had to be copied
    std::optional<provider_error> error_;
    std::string complaint_;
    bool begun_ = false;
    bool closed_ = false;
    bool failed_ = false;
    bool malformed_ = false;
    bool permanent_ = false;
};

/// "it begins with " and the first bytes of `payload` as a JSON string, at most 512.
[[nodiscard]] std::string quoted_start(std::string_view payload);

/// Whether `word` is among `words`.
[[nodiscard]] bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

} // namespace thalweg::wire
