// SPDX-License-Identifier: BSL-1.0

#include "support/http_connection.hpp"

#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace thalweg::testing {

namespace {

std::string hexadecimal(std::size_t number) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), digits[number % 16]);
        number /= 16;
    } while (number != 0);
    return text;
}

std::size_t body_size(const http_reply& reply) {
    std::size_t size = 0;
    for (const auto& each : reply.pieces)
        size += each.size();
    return size;
}

std::string head_of(const http_reply& reply) {
    if (!reply.raw_head.empty()) return reply.raw_head;
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Scripted\r\n";
    for (const auto& [name, value] : reply.headers)
        head += name + ": " + value + "\r\n";
    if (reply.framing == http_framing::content_length)
        head += "Content-Length: " + std::to_string(body_size(reply) + reply.length_off_by) + "\r\n";
    if (reply.framing == http_framing::chunked) head += "Transfer-Encoding: chunked\r\n";
    if (reply.framing == http_framing::until_close) head += "Connection: close\r\n";
    return head + "\r\n";
}

std::pair<std::string, std::string> header_of(std::string_view line) {
    const auto colon = line.find(':');
    std::string name(line.substr(0, colon));
    for (char& c : name)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ')
        value.remove_prefix(1);
    return {name, std::string(value)};
}

} // namespace

http_connection::http_connection(asio::ip::tcp::socket socket, http_server_shared& shared)
    : socket_(std::move(socket)), shared_(shared) {
    socket_.set_option(asio::ip::tcp::no_delay(true));
}

void http_connection::read() {
    socket_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](std::error_code failed, std::size_t n) {
                                if (failed) return self->leave();
                                self->received_.append(self->chunk_.data(), n);
                                self->answer_next();
                                self->read();
                            });
}

void http_connection::answer_next() {
    http_received request;
    if (answering_ || received_.empty()) return;
    if (std::isalpha(static_cast<unsigned char>(received_.front())) == 0) {
        begin({.status = 400, .framing = http_framing::until_close}); // TLS, for one
    } else if (take_request(request)) {
        shared_.change([&](http_server_state& state) { state.requests.push_back(request); });
        begin(shared_.answer(request));
    }
}

void http_connection::begin(http_reply reply) {
    answering_ = true;
    reply_ = std::move(reply);
    next_piece_ = released_ = 0;
    if (reply_.silent) return finish();
    outgoing_ = head_of(reply_);
    asio::async_write(socket_, asio::buffer(outgoing_),
                      [self = shared_from_this()](std::error_code failed, std::size_t) {
                          if (!failed) self->write_piece();
                      });
}

// Takes one whole request out of what was received.
bool http_connection::take_request(http_received& into) {
    const auto head_end = received_.find("\r\n\r\n");
    if (head_end == std::string::npos) return false;
    const std::string_view head = std::string_view(received_).substr(0, head_end);
    auto line_end = std::min(head.find("\r\n"), head.size());
    const auto first = head.substr(0, line_end);
    const auto blank = first.find(' ');
    into.method = first.substr(0, blank);
    into.target = first.substr(blank + 1, first.rfind(' ') - blank - 1);
    while (line_end < head.size()) {
        const auto start = line_end + 2;
        line_end = std::min(head.find("\r\n", start), head.size());
        into.headers.push_back(header_of(head.substr(start, line_end - start)));
    }
    const auto length = into.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    if (received_.size() < head_end + 4 + size) return false;
    into.body = received_.substr(head_end + 4, size);
    received_.erase(0, head_end + 4 + size);
    return true;
}

void http_connection::write_piece() {
    if (next_piece_ == reply_.pieces.size()) return finish();
    paced_since_ = std::chrono::steady_clock::now();
    held_ = next_piece_ > 0 && reply_.pace == http_pace::when_released && released_ == 0;
    if (held_) return;
    if (next_piece_ > 0 && released_ > 0) --released_;
    pace_piece();
}

void http_connection::release() {
    if (std::exchange(held_, false))
        pace_piece();
    else
        ++released_;
}

void http_connection::pace_piece() {
    const auto waited = std::chrono::steady_clock::now() - paced_since_;
    if (reply_.pace == http_pace::when_read && waited < std::chrono::seconds(2) && unread_by_client() > 0) {
        std::this_thread::yield();
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->pace_piece(); });
        return;
    }
    const auto& piece = reply_.pieces[next_piece_++];
    if (reply_.framing != http_framing::chunked)
        send(piece, false);
    else if (!piece.empty())
        send(hexadecimal(piece.size()) + "\r\n" + piece + "\r\n", false);
    else
        write_piece();
}

void http_connection::send(std::string bytes, bool last) {
    outgoing_ = std::move(bytes);
    asio::async_write(socket_, asio::buffer(outgoing_),
                      [self = shared_from_this(), last](std::error_code failed, std::size_t) {
                          if (failed) return;
                          if (!last) return self->write_piece();
                          self->answering_ = false;
                          self->shared_.change([](http_server_state& state) { ++state.answered; });
                          self->answer_next();
                      });
}

void http_connection::finish() {
    std::error_code ignored;
    switch (reply_.ending) {
    case http_ending::hang: return;
    case http_ending::reset:
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
        answering_ = false;
        socket_.close(ignored);
        return;
    case http_ending::complete:
        if (reply_.framing != http_framing::until_close)
            return send(reply_.framing == http_framing::chunked ? "0\r\n\r\n" : "", true);
        [[fallthrough]];
    case http_ending::close:
        answering_ = false;
        socket_.shutdown(asio::socket_base::shutdown_both, ignored);
        socket_.close(ignored);
        return;
    }
}

void http_connection::leave() {
    shared_.change([this](http_server_state& state) {
        --state.open;
        if (answering_) ++state.deserted;
    });
    answering_ = false;
    std::error_code ignored;
    socket_.close(ignored);
}

// How many bytes lie unread in the client's socket, if the client is in this process.
std::size_t http_connection::unread_by_client() {
    std::error_code failed;
    const auto client = socket_.remote_endpoint(failed);
    if (failed) return 0;
    const auto is_client = [&client](int descriptor) {
        asio::ip::tcp::endpoint local;
        auto size = static_cast<socklen_t>(local.capacity());
        return getsockname(descriptor, local.data(), &size) == 0 && local == client;
    };
    if (client_socket_ < 0 || !is_client(client_socket_)) {
        client_socket_ = -1;
        for (int each = 3; each < 4096 && client_socket_ < 0; ++each)
            if (is_client(each)) client_socket_ = each;
    }
    int unread = 0;
    if (client_socket_ < 0 || ioctl(client_socket_, FIONREAD, &unread) != 0) return 0;
    return static_cast<std::size_t>(unread);
}

} // namespace thalweg::testing
