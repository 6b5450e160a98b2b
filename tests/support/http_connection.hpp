// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to http_server: one connection, and what all connections share. Runs on the server's thread.

#include "support/http_server.hpp"

#include <asio/ip/tcp.hpp>
#include <asio/streambuf.hpp>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace thalweg::testing {

struct http_server_state {
    std::vector<http_received> requests;
    std::size_t connections = 0;
    std::size_t open = 0;
    std::size_t answered = 0;
    std::size_t deserted = 0;
};

/// The script and the counters. Counters may be read from any thread.
class http_server_shared {
public:
    explicit http_server_shared(http_server::script answer) : answer_(std::move(answer)) {}

    [[nodiscard]] http_reply answer(const http_received& to) const { return answer_(to); }

    template <class Change>
    void change(Change make) {
        const std::lock_guard lock(mutex_);
        make(state_);
        changed_.notify_all();
    }
    template <class Read>
    [[nodiscard]] auto read(Read get) const {
        const std::lock_guard lock(mutex_);
        return get(state_);
    }
    /// `reached` takes the lock itself, by read().
    [[nodiscard]] bool wait_until(const std::function<bool()>& reached) const {
        std::unique_lock lock(mutex_);
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        return changed_.wait_until(lock, give_up, reached);
    }

private:
    http_server::script answer_;
    mutable std::recursive_mutex mutex_;
    mutable std::condition_variable_any changed_;
    http_server_state state_;
};

class http_connection : public std::enable_shared_from_this<http_connection> {
public:
    http_connection(asio::ip::tcp::socket socket, http_server_shared& shared);

    /// Reads until the client leaves; requests are answered one after the other.
    void read();
    /// Lets a held piece go.
    void release();

private:
    void answer_next();
    void begin(http_reply reply);
    [[nodiscard]] bool take_request(http_received& into);
    void write_piece();
    void pace_piece();
    void send(std::string bytes, bool last);
    void finish();
    void leave();
    [[nodiscard]] std::size_t unread_by_client();

    asio::ip::tcp::socket socket_;
    http_server_shared& shared_;
    std::array<char, 16384> chunk_{};
    std::string received_;

    bool answering_ = false;
    bool held_ = false;
    std::size_t released_ = 0;
    std::size_t next_piece_ = 0;
    http_reply reply_;
    std::string outgoing_;
    std::chrono::steady_clock::time_point paced_since_{};
    int client_socket_ = -1;
};

} // namespace thalweg::testing
