// SPDX-License-Identifier: BSL-1.0

#pragma once

// A small HTTP/1.1 server on 127.0.0.1 that answers from a script and does on purpose what servers do wrong:
// cuts the body into given pieces, promises other lengths, falls silent, closes early. It runs on a thread of
// its own, so it works beside any loop, also one with virtual time.
//
// All members may be called from any thread. The constructor takes 127.0.0.1 out of the proxies of the
// environment.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::testing {

struct http_received {
    std::string method;
    std::string target;
    std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case
    std::string body;

    /// The value of a header (name in lower case), empty if absent.
    [[nodiscard]] std::string header(std::string_view name) const;
};

/// How the length of a body is announced.
enum class http_framing : std::uint8_t { content_length, chunked, until_close };

/// What follows the last piece.
enum class http_ending : std::uint8_t {
    complete, ///< the body is finished as announced; the connection stays open
    close,    ///< the connection is closed, whatever was announced
    reset,    ///< the connection is reset
    hang,     ///< nothing, until the client leaves
};

/// When a piece behind the first is sent.
enum class http_pace : std::uint8_t {
    at_once,
    /// When the client's process (this one) has read all that was sent: each piece is a read of its own.
    when_read,
    /// On the next http_server::release().
    when_released,
};

struct http_reply {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers; ///< beside those of the framing
    std::vector<std::string> pieces;                          ///< the body; each is flushed on its own
    http_framing framing = http_framing::content_length;
    std::size_t length_off_by = 0; ///< added to the true Content-Length
    http_ending ending = http_ending::complete;
    http_pace pace = http_pace::at_once;
    bool silent = false;  ///< no status line, no headers, no pieces: only the ending
    std::string raw_head; ///< replaces status line and headers if not empty; ends with an empty line
};

/// `text` in pieces of `size` bytes.
[[nodiscard]] std::vector<std::string> in_pieces(std::string_view text, std::size_t size);

/// An event stream with status 200, chunked.
[[nodiscard]] http_reply event_stream(std::vector<std::string> pieces);

class http_server {
public:
    using script = std::function<http_reply(const http_received&)>;

    /// Answers every request with what `answer` (called on the server's thread, one call at a time) makes of
    /// it.
    explicit http_server(script answer);
    explicit http_server(http_reply always);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    ~http_server();

    [[nodiscard]] std::uint16_t port() const noexcept;
    /// "http://127.0.0.1:PORT" + path
    [[nodiscard]] std::string url(std::string_view path = "/") const;

    /// Lets the next held piece of every connection go, also one that is not held yet.
    void release();

    [[nodiscard]] std::vector<http_received> requests() const;
    /// Connections accepted so far.
    [[nodiscard]] std::size_t connections() const;
    /// Of them, still open.
    [[nodiscard]] std::size_t open() const;
    /// Answers that were handed to the system whole.
    [[nodiscard]] std::size_t answered() const;
    /// Answers whose client closed the connection before their end.
    [[nodiscard]] std::size_t deserted() const;

    /// Waits until `reached(*this)`, asked anew after everything that happens here. Blocks the calling
    /// thread, at most ten seconds; gives what `reached` said last.
    [[nodiscard]] bool wait_until(const std::function<bool(const http_server&)>& reached) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace thalweg::testing
