// SPDX-License-Identifier: BSL-1.0

#include "support/http_server.hpp"

#include "support/http_connection.hpp"

#include <asio/post.hpp>

#include <array>
#include <cstdlib>
#include <thread>

namespace thalweg::testing {

std::string http_received::header(std::string_view name) const {
    for (const auto& [each, value] : headers)
        if (each == name) return value;
    return {};
}

std::vector<std::string> in_pieces(std::string_view text, std::size_t size) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size(); at += size)
        pieces.emplace_back(text.substr(at, size));
    return pieces;
}

http_reply event_stream(std::vector<std::string> pieces) {
    http_reply reply;
    reply.headers.emplace_back("Content-Type", "text/event-stream");
    reply.pieces = std::move(pieces);
    reply.framing = http_framing::chunked;
    return reply;
}

struct http_server::parts {
    explicit parts(script answer)
        : shared(std::move(answer)), acceptor(io, {asio::ip::address_v4::loopback(), 0}) {
        accept();
        thread = std::thread([this] { io.run(); });
    }
    parts(const parts&) = delete;
    parts& operator=(const parts&) = delete;
    ~parts() {
        io.stop();
        thread.join();
    }

    void accept() {
        acceptor.async_accept([this](std::error_code failed, asio::ip::tcp::socket socket) {
            if (failed) return;
            shared.change([](http_server_state& state) {
                ++state.connections;
                ++state.open;
            });
            auto connection = std::make_shared<http_connection>(std::move(socket), shared);
            std::erase_if(connections, [](const auto& each) { return each.expired(); });
            connections.push_back(connection);
            connection->read();
            accept();
        });
    }

    http_server_shared shared;
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor;
    std::vector<std::weak_ptr<http_connection>> connections;
    std::thread thread;
};

http_server::http_server(script answer) {
    setenv("no_proxy", "127.0.0.1", 1);
    parts_ = std::make_unique<parts>(std::move(answer));
}

http_server::http_server(http_reply always)
    : http_server(script([always = std::move(always)](const http_received&) { return always; })) {}

http_server::~http_server() = default;

std::uint16_t http_server::port() const noexcept {
    return parts_->acceptor.local_endpoint().port();
}

std::string http_server::url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
}

void http_server::release() {
    asio::post(parts_->io, [this] {
        for (const auto& each : parts_->connections)
            if (const auto connection = each.lock()) connection->release();
    });
}

std::vector<http_received> http_server::requests() const {
    return parts_->shared.read([](const http_server_state& state) { return state.requests; });
}

std::size_t http_server::connections() const {
    return parts_->shared.read([](const http_server_state& state) { return state.connections; });
}

std::size_t http_server::open() const {
    return parts_->shared.read([](const http_server_state& state) { return state.open; });
}

std::size_t http_server::answered() const {
    return parts_->shared.read([](const http_server_state& state) { return state.answered; });
}

std::size_t http_server::deserted() const {
    return parts_->shared.read([](const http_server_state& state) { return state.deserted; });
}

bool http_server::wait_until(const std::function<bool(const http_server&)>& reached) const {
    return parts_->shared.wait_until([&] { return reached(*this); });
}

} // namespace thalweg::testing
