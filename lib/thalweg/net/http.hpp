// SPDX-License-Identifier: BSL-1.0

#pragma once

// HTTP requests whose answers are read as they arrive. One client serves one loop, without a thread of its
// own, and reuses connections; HTTP/2 is used where the server offers it over TLS.
//
//     auto exchange = client::of(loop).send(std::move(request));
//     const auto* head = co_await exchange.head();
//     while (true) {
//         auto bytes = co_await exchange.read();
//         if (bytes.empty()) break;
//         …
//     }
//     exchange.result().kind
//
// Proxies come from the environment (http_proxy, https_proxy, all_proxy, no_proxy; upper case too, but for
// HTTP_PROXY, which a web server's client could set). So do certificate authorities: CURL_CA_BUNDLE, else
// SSL_CERT_FILE, and SSL_CERT_DIR. All are read anew for each request.
//
// Memory: at most 256 KiB of an answer wait in the exchange, and as much again lies with the reader; beyond
// that the socket is left alone until the reader comes back. With HTTP/2 a server may send some MiB more into
// curl's window.
//
// What may go wrong is in `outcome`; nothing throws. Thread rule: loop thread only.

#include <thalweg/async/context.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/net/http_outcome.hpp>

#include <coroutine>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace thalweg::http {

namespace detail {

class driver;
class transfer;

/// The waiting part of head() and read(). Suspends until there is something to say; a stop request ends the
/// exchange.
class transfer_wait {
public:
    transfer_wait(const transfer_wait&) = delete;
    transfer_wait& operator=(const transfer_wait&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) {
        return suspend(*self.promise().ctx, self.promise().ready);
    }

protected:
    enum class until : std::uint8_t { head, bytes };
    transfer_wait(transfer& on, until what) noexcept : transfer_(&on), until_(what) {}
    ~transfer_wait();
    void resumed() noexcept;

    transfer* transfer_;

private:
    struct cancel_transfer {
        transfer* on;
        const context* why;
        void operator()() const noexcept;
    };
    bool suspend(const context& ctx, thalweg::detail::ready_node& node);

    until until_;
    bool waiting_ = false;
    std::optional<std::stop_callback<cancel_transfer>> on_stop_;
    std::optional<loop::external_work> work_;
};

class head_awaiter : public transfer_wait {
public:
    explicit head_awaiter(transfer& on) noexcept : transfer_wait(on, until::head) {}
    const response_head* await_resume() noexcept;
};

class read_awaiter : public transfer_wait {
public:
    explicit read_awaiter(transfer& on) noexcept : transfer_wait(on, until::bytes) {}
    std::string_view await_resume();
};

} // namespace detail

/// A request that was sent, and its answer. Destroying it before the end closes the connection at once
/// (HTTP/2: the stream), and nothing of it goes on. One coroutine reads it at a time.
class exchange {
public:
    exchange(exchange&&) noexcept;
    exchange& operator=(exchange&&) noexcept;
    ~exchange();

    /// Suspends until status and headers are there; gives null if the exchange ended without them.
    /// Lifetime: the head lives as long as the exchange. Cancel: a stop request ends the exchange.
    [[nodiscard]] detail::head_awaiter head() noexcept { return detail::head_awaiter(*transfer_); }

    /// Suspends until more of the body is there; gives all of it that has arrived. Empty: the body has ended,
    /// well or not, see result(). The bytes are valid until the next read(), and sse_parser::padding readable
    /// bytes follow them. Cancel: a stop request ends the exchange; bytes not yet read are dropped then.
    [[nodiscard]] detail::read_awaiter read() noexcept { return detail::read_awaiter(*transfer_); }

    /// Whether head() would give a head without suspending.
    [[nodiscard]] bool has_head() const noexcept;

    /// How it ended. Precondition: head() gave null or read() gave nothing.
    [[nodiscard]] const outcome& result() const noexcept;

    /// "METHOD URL" as it stands in messages: without user, password and query.
    [[nodiscard]] std::string_view label() const noexcept;

private:
    friend class client;
    explicit exchange(std::unique_ptr<detail::transfer> t) noexcept;
    std::unique_ptr<detail::transfer> transfer_;
};

/// Connections to servers, shared by all exchanges of one loop.
class client {
public:
    /// A client with connections of its own. The loop outlives it. Exchanges that outlive the client are
    /// cancelled.
    explicit client(loop& on);
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client();

    /// The client that everything on this loop may share; made on first use, lives as long as the loop's
    /// io_context.
    [[nodiscard]] static client& of(loop& on);

    /// Starts a request on the next turn of the loop. Never suspends and never fails here: what is wrong with
    /// the request is in the outcome.
    [[nodiscard]] exchange send(request what);

private:
    friend class client_service;
    explicit client(asio::io_context& io);
    std::shared_ptr<detail::driver> driver_;
};

} // namespace thalweg::http
