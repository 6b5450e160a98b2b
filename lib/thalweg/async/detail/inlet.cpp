// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/detail/inlet.hpp>

#include <thalweg/async/loop.hpp>

#include <asio/execution.hpp>
#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace thalweg::detail {

namespace {

/// Gives an Asio operation the storage that is kept for it.
template <class T>
struct kept_storage_allocator {
    using value_type = T;

    explicit kept_storage_allocator(std::byte* where) noexcept : storage(where) {}
    template <class U>
    explicit(false) kept_storage_allocator(const kept_storage_allocator<U>& other) noexcept
        : storage(other.storage) {}

    [[nodiscard]] T* allocate(std::size_t) noexcept {
        static_assert(sizeof(T) <= inlet_message_bytes && alignof(T) <= alignof(std::max_align_t));
        return reinterpret_cast<T*>(storage);
    }
    void deallocate(T*, std::size_t) noexcept {}
    friend bool operator==(const kept_storage_allocator& a, const kept_storage_allocator& b) noexcept {
        return a.storage == b.storage;
    }

    std::byte* storage;
};

} // namespace

/// What goes to the loop's thread. It may be dropped there unread, with the io_context.
class inlet::message {
public:
    explicit message(std::shared_ptr<inlet> from) noexcept : from_(std::move(from)) {}
    message(message&&) noexcept = default;
    ~message() {
        if (from_ != nullptr) from_->posted_.store(false, std::memory_order_release);
    }
    void operator()() {
        const std::shared_ptr<inlet> from = std::move(from_);
        from->posted_.store(false, std::memory_order_release);
        from->release_loop();
        if (from->watched_) from->came();
    }

private:
    std::shared_ptr<inlet> from_;
};

void inlet::watch(loop& on) {
    if (loop_ != &on) {
        forget();
        const std::lock_guard lock(wake_mutex_);
        loop_ = &on;
    }
    watched_ = true;
    if (armed_.load(std::memory_order_relaxed)) {
        hold_loop();
        return;
    }
    link_before(on.looked_at_);
    if (!on.draining_) on.request_drain();
}

void inlet::unwatch() noexcept {
    watched_ = false;
    release_loop();
    if (loop_ != nullptr) link_before(loop_->at_rest_);
}

void inlet::forget() noexcept {
    unwatch();
    unlink();
    armed_.store(false, std::memory_order_relaxed);
    const std::lock_guard lock(wake_mutex_);
    loop_ = nullptr;
}

void inlet::arm() {
    link_before(loop_->at_rest_);
    armed_.store(true, std::memory_order_relaxed);
    fence_.heavy();
    if (has_something()) {
        armed_.store(false, std::memory_order_relaxed);
        came();
    } else {
        hold_loop();
    }
}

void inlet::hold_loop() noexcept {
    if (holds_ || !is_fed()) return;
    holds_ = true;
    loop_->work_started();
}

void inlet::release_loop() noexcept {
    if (std::exchange(holds_, false)) loop_->work_finished();
}

void inlet::wake() noexcept {
    if (!armed_.exchange(false)) return;
    const std::lock_guard lock(wake_mutex_);
    if (loop_ == nullptr || posted_.exchange(true)) return;
    wakes_.fetch_add(1, std::memory_order_relaxed);
    const kept_storage_allocator<std::byte> here(storage_);
    const auto to = asio::require(loop_->io_->get_executor(), asio::execution::blocking.never,
                                  asio::execution::allocator(here));
    asio::execution::execute(to, message(shared_from_this()));
}

} // namespace thalweg::detail
