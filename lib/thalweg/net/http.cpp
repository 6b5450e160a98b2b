// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/http.hpp>

#include <thalweg/net/http_driver.hpp>
#include <thalweg/net/http_transfer.hpp>

#include <asio/execution_context.hpp>
#include <asio/io_context.hpp>

#include <cassert>
#include <utility>

namespace thalweg::http {

namespace detail {

transfer_wait::~transfer_wait() {
    if (waiting_) transfer_->stop_waiting();
}

bool transfer_wait::suspend(const context& ctx, thalweg::detail::ready_node& node) {
    if (ctx.stop_requested()) transfer_->cancel(ctx.reason());
    const bool ready = until_ == until::head ? transfer_->has_head() : transfer_->has_bytes();
    if (ready || transfer_->ended()) return false;
    waiting_ = true;
    transfer_->wait(ctx.loop(), node, until_ == until::head);
    work_.emplace(ctx.loop());
    on_stop_.emplace(ctx.stop_token(), cancel_transfer{transfer_, &ctx});
    return true;
}

void transfer_wait::cancel_transfer::operator()() const noexcept {
    on->cancel(why->reason());
}

void transfer_wait::resumed() noexcept {
    on_stop_.reset();
    work_.reset();
    if (std::exchange(waiting_, false)) transfer_->stop_waiting();
}

const response_head* head_awaiter::await_resume() noexcept {
    resumed();
    return transfer_->has_head() ? &transfer_->result().head : nullptr;
}

std::string_view read_awaiter::await_resume() {
    resumed();
    return transfer_->take_bytes();
}

} // namespace detail

exchange::exchange(std::unique_ptr<detail::transfer> t) noexcept : transfer_(std::move(t)) {}
exchange::exchange(exchange&&) noexcept = default;
exchange& exchange::operator=(exchange&&) noexcept = default;
exchange::~exchange() = default;

const outcome& exchange::result() const noexcept {
    assert(transfer_->ended() && "result() before the end of the exchange");
    return transfer_->result();
}

bool exchange::has_head() const noexcept {
    return transfer_->has_head();
}

std::string_view exchange::label() const noexcept {
    return transfer_->label();
}

/// The shared client of an io_context.
class client_service final : public asio::execution_context::service {
public:
    using key_type = client_service;
    static inline asio::execution_context::id id;

    explicit client_service(asio::execution_context& owner)
        : service(owner), client_(static_cast<asio::io_context&>(owner)) {}
    [[nodiscard]] client& get() noexcept { return client_; }

private:
    void shutdown() noexcept override { client_.driver_->close(); }
    client client_;
};

client::client(loop& on) : client(on.io()) {}
client::client(asio::io_context& io) : driver_(std::make_shared<detail::driver>(io)) {}
client::~client() {
    driver_->close();
}

client& client::of(loop& on) {
    return asio::use_service<client_service>(static_cast<asio::execution_context&>(on.io())).get();
}

exchange client::send(request what) {
    auto started = std::make_unique<detail::transfer>(std::move(what));
    if (!started->ended()) driver_->add(*started);
    return exchange(std::move(started));
}

} // namespace thalweg::http
