// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the HTTP tests share: requests to the scripted server and whole answers as plain values.

#include "support/catch.hpp"
#include "support/http_server.hpp"

#include <thalweg/async/asio_interop.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/net/http.hpp>
#include <thalweg/net/http_events.hpp>

#include <asio/steady_timer.hpp>

#include <string>
#include <vector>

namespace thalweg::testing {

inline http::request get(std::string url) {
    return {.method = "GET", .url = std::move(url)};
}

inline http::request post(std::string url, std::string body = "{}") {
    return {
        .url = std::move(url), .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

/// An answer read to its end.
struct whole_answer {
    http::response_head head;
    std::string body;
    std::vector<std::size_t> reads; ///< size of each piece
    http::outcome outcome;
};

inline task<whole_answer> fetch(http::client& on, http::request what) {
    whole_answer answer;
    http::exchange running = on.send(std::move(what));
    const http::response_head* head = co_await running.head();
    if (head != nullptr) answer.head = *head;
    bool more = true;
    while (more) {
        const std::string_view bytes = co_await running.read();
        answer.body += bytes;
        more = !bytes.empty();
        if (more) answer.reads.push_back(bytes.size());
    }
    answer.outcome = running.result();
    co_return answer;
}

/// An event stream read to its end.
struct whole_events {
    std::vector<std::string> data;
    http::events_outcome outcome;
};

inline task<whole_events> fetch_events(http::client& on, http::request what, sse_limits limits = {}) {
    whole_events answer;
    auto events = http::events(on, std::move(what), limits);
    while (auto event = co_await events.next())
        answer.data.emplace_back(event->data);
    answer.outcome = std::move(events.result());
    co_return answer;
}

/// Lets the loop look at its sockets `count` times. (yield() alone gives way to coroutines only.)
inline task<void> socket_turns(int count) {
    const context here = co_await this_coroutine();
    asio::steady_timer now(here.loop().io());
    for (int i = 0; i < count; ++i) {
        now.expires_after(std::chrono::nanoseconds(0));
        co_await now.async_wait(use_task);
    }
}

/// Reads until as much was waiting as an exchange takes from its socket.
inline task<void> read_until_full(http::exchange& from) {
    std::string_view bytes = co_await from.read();
    for (int turns = 16; bytes.size() < std::size_t{256} << 10; turns *= 2) {
        REQUIRE_FALSE(bytes.empty());
        co_await socket_turns(turns);
        bytes = co_await from.read();
    }
}

} // namespace thalweg::testing
