// SPDX-License-Identifier: BSL-1.0

#pragma once

// One remote producer's private side of the inbox: credit in blocks of half the budget, as in merge_core. For
// one thread at a time.

#include <thalweg/async/detail/remote_inbox.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace thalweg::detail {

template <class T>
class remote_lane {
public:
    remote_lane() noexcept = default;
    remote_lane(std::shared_ptr<remote_inbox<T>> inbox, std::size_t budget)
        : inbox_(std::move(inbox)), budget_(budget == 0 ? std::numeric_limits<std::size_t>::max() : budget) {
        inbox_->enter();
        open_block(budget_ - budget_ / 2);
    }
    remote_lane(remote_lane&& other) noexcept = default;
    remote_lane& operator=(remote_lane&& other) noexcept = default;

    bool send(T&& item) {
        if (inbox_ == nullptr || (credit_ == 0 && !refill_or_wait())) return false;
        const auto ticket = inbox_->take_ticket(known_room_);
        if (!ticket) return false;
        put(*ticket, std::move(item));
        return true;
    }
    bool try_send(T&& item) {
        if (inbox_ == nullptr || (credit_ == 0 && !refill())) return false;
        const auto ticket = inbox_->try_take_ticket();
        if (!ticket) return false;
        put(*ticket, std::move(item));
        return true;
    }
    void finish() noexcept {
        if (inbox_ == nullptr) return;
        inbox_->leave();
        inbox_.reset();
    }
    [[nodiscard]] bool is_closed() const noexcept { return inbox_ == nullptr || inbox_->is_closed(); }

private:
    void put(std::uint64_t ticket, T&& item) {
        --credit_;
        block_end_ = ticket + 1;
        inbox_->publish(ticket, std::move(item));
    }
    /// All of the current block is consumed, or all of the one before.
    [[nodiscard]] std::size_t next_block() const noexcept {
        const std::uint64_t consumed = inbox_->consumed();
        if (consumed >= block_end_) return budget_ - budget_ / 2;
        return consumed >= earlier_end_ ? budget_ - block_ : 0;
    }
    [[nodiscard]] bool refill() noexcept {
        const std::size_t size = next_block();
        if (size != 0) open_block(size);
        return size != 0;
    }
    [[nodiscard, gnu::noinline]] bool refill_or_wait() {
        if (refill()) return true;
        inbox_->wait_for_credit([this] { return inbox_->is_closed() || next_block() != 0; });
        return !inbox_->is_closed() && refill();
    }
    void open_block(std::size_t size) noexcept {
        earlier_end_ = block_end_;
        block_ = credit_ = size;
    }

    std::shared_ptr<remote_inbox<T>> inbox_;
    std::size_t budget_ = 0;
    std::size_t credit_ = 0; // items left in the current block
    std::size_t block_ = 0;
    std::uint64_t block_end_ = 0;
    std::uint64_t earlier_end_ = 0;
    std::uint64_t known_room_ = 0; // tickets below have room
};

} // namespace thalweg::detail
