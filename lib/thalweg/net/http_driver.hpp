// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. Runs curl's multi interface on an io_context: sockets are watched and one timer is
// kept for curl and for the limits of all transfers. The only place from which curl is called while transfers
// run.
//
// curl's callbacks record and return. No user code runs inside any member: readers are put on the ready
// queue.

#include <thalweg/net/http_transfer.hpp>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace thalweg::http::detail {

class driver : public std::enable_shared_from_this<driver> {
public:
    explicit driver(asio::io_context& io);
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;
    ~driver();

    /// Starts the transfer; it must be removed before it dies, unless it has ended.
    void add(transfer& what);
    /// Takes the transfer off and closes what it used. Safe while others run.
    void remove(transfer& what) noexcept;
    /// The reader of a paused transfer has made room.
    void resume(transfer& what);
    /// A transfer's next limit may now lie before the one the timer waits for.
    void note_limit(transfer::clock::time_point at) noexcept;
    /// Ends every transfer and forgets every handler that is still under way.
    void close() noexcept;

private:
    using clock = transfer::clock;
    struct watch;
    struct free_multi {
        void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
    };

    static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept;
    static int on_timer(CURLM*, long milliseconds, void* self) noexcept;

    void watch_socket(curl_socket_t socket, int what);
    void arm(const std::shared_ptr<watch>& what);
    void arm(const std::shared_ptr<watch>& what, int direction, bool& armed);
    void socket_ready(curl_socket_t socket, int direction);
    void post_step();
    void step();
    void settle();
    void collect_finished();
    void set_timer();
    void timer_fired();
    void check_limits();
    void forget(transfer& what) noexcept;

    asio::io_context& io_;
    std::unique_ptr<CURLM, free_multi> multi_;
    std::vector<transfer*> transfers_;
    std::vector<transfer*> to_resume_;
    std::unordered_map<curl_socket_t, std::shared_ptr<watch>> watches_;
    asio::steady_timer timer_;
    std::optional<clock::time_point> timer_at_;
    std::optional<clock::time_point> curl_due_;
    std::optional<clock::time_point> limit_due_;
    bool step_posted_ = false;
};

} // namespace thalweg::http::detail
