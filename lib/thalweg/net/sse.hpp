// SPDX-License-Identifier: BSL-1.0

#pragma once

// A parser for server-sent events (the `text/event-stream` body of a model provider). It exists because
// network reads end anywhere: inside a field name, between CR and LF, inside a multi-byte character. Whatever
// way the bytes of one body are cut into reads, this parser gives the same events, the same stray text and
// the same error (H-10).
//
// It follows the WHATWG event-stream grammar as far as a client of model APIs needs it (H-11), with two
// additions for servers that break it: a last block without its blank line is delivered when it is visibly
// whole, and bare JSON between the events is kept aside instead of being lost.
//
// What may go wrong: a line or an event above its limit. Then `error()` says so and no further event is
// given; the answer is malformed. Bytes are not decoded: invalid UTF-8 passes through and is the reader's to
// deal with.
//
// Not thread-safe; one parser reads one body. No I/O.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg {

/// Bounds of one parser, in bytes. What exceeds `line` or `event` makes the body malformed; stray JSON beyond
/// `stray` is ignored.
struct sse_limits {
    std::size_t line = std::size_t{16} << 20;  ///< one line without its line end
    std::size_t event = std::size_t{16} << 20; ///< the joined data of one event
    std::size_t stray = std::size_t{64} << 10; ///< all bare JSON lines together
};

/// One event. All three are views that live until the next `next()` or `feed()` of their parser.
struct sse_event {
    std::string_view data; ///< the data lines joined by LF, without a last LF; may be empty
    std::string_view type; ///< the `event` field; empty where the block had none
    std::string_view id;   ///< the last `id` seen in the stream; it persists over events
};

/// How a body ended, for `sse_parser::finish`.
enum class body_end : std::uint8_t {
    clean,  ///< the server finished the body as HTTP promises
    broken, ///< the transport failed, or the reader left
};

/// Pull parser. The loop that uses it:
///
///     parser.feed(bytes);
///     while (const sse_event* event = parser.next()) use(event->data);
///
/// and once after the last bytes: `parser.finish(body_end::clean)`, then `next()` until it is null.
class sse_parser {
public:
    /// Readable bytes behind every `sse_event::data`, provided that whatever is fed has at least as many
    /// readable bytes (of any content) behind its end. Lets a JSON parser that reads in blocks work in place
    /// (H-58). Bytes fed without such a tail are fine too, then this promise does not hold.
    static constexpr std::size_t padding = 64;

    explicit sse_parser(sse_limits limits = {});

    /// Gives the parser the next bytes of the body. An event that lies whole inside them is delivered as a
    /// view into them, so they must stay unchanged until `next()` has returned null; only what is still
    /// unfinished by then is copied. Precondition: `next()` has returned null since the last `feed` (or
    /// nothing was fed yet).
    void feed(std::string_view bytes);

    /// The next whole event, or null when the bytes are used up or the parser has failed.
    const sse_event* next();

    /// Ends the body. After a clean end a pending block is delivered by the next `next()` if its last line
    /// was terminated, or if its data is visibly whole (`[DONE]` or one JSON value); otherwise it is dropped
    /// and `cut()` is true. After a broken end nothing pending is delivered. Precondition: as for `feed`.
    /// Call it once.
    void finish(body_end end);

    /// Why the parser gave up; empty as long as it has not.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

    /// True after `finish` when the body stopped inside something that was therefore lost.
    [[nodiscard]] bool cut() const noexcept { return cut_; }

    /// Lines that are no field but look like JSON, each with a LF, in order: some servers report an error
    /// that way in the middle of a stream with status 200. Meaningful only if no end marker of the protocol
    /// came.
    [[nodiscard]] const std::string& stray() const noexcept { return stray_; }

    /// The last valid `retry` field: how long the server wants to be left alone before a reconnection.
    [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

private:
    enum class line_kind : std::uint8_t { field, comment, stray_json, ignored };

    void skip_byte_order_mark();
    bool take_whole_line(std::size_t line_end);
    line_kind take_line(std::string_view line, bool buffered);
    void take_data(std::string_view value, bool buffered);
    void take_retry(std::string_view value);
    bool take_stray(std::string_view line);
    void stash_rest();
    void keep_views();
    const sse_event* dispatch();
    void clear_block();
    void fail_line_too_long();
    void fail_event_too_big();
    [[nodiscard]] std::size_t find(char c) const;

    sse_limits limits_;

    // The bytes of the current feed; line ends are looked for ahead and remembered, so that no byte is
    // scanned twice for the same one.
    std::string_view bytes_;
    std::size_t position_ = 0;
    std::size_t next_lf_ = 0;
    std::size_t next_cr_ = 0;
    std::uint64_t fed_before_ = 0;

    std::string line_; // the unfinished line of earlier feeds
    std::uint64_t line_at_ = 0;

    // The block under construction. Data and type are views into the current feed until it ends.
    bool has_data_ = false;
    bool data_buffered_ = false;
    bool type_buffered_ = false;
    bool delivered_ = false;
    std::size_t data_offset_ = 0;
    std::string_view data_view_;
    std::string_view type_view_;
    std::string data_;
    std::string type_;

    std::string last_id_;
    std::string stray_;
    std::string error_;
    std::optional<std::chrono::milliseconds> retry_;
    sse_event event_;

    std::uint8_t mark_ = 0; // bytes of the byte order mark seen; 3: past the start
    bool swallow_lf_ = false;
    bool last_block_ready_ = false;
    bool cut_ = false;
};

} // namespace thalweg
