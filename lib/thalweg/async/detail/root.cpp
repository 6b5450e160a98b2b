// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/detail/root.hpp>

namespace thalweg::detail {

void root_owner::adopt(std::coroutine_handle<root_promise> frame, const context& ctx) {
    frame.promise().ctx = &ctx;
    frame.promise().link(*this);
    frame.resume();
}

void root_owner::destroy_all() noexcept {
    while (first_ != nullptr) {
        root_promise& doomed = *first_;
        doomed.unlink();
        std::coroutine_handle<root_promise>::from_promise(doomed).destroy();
    }
}

void root_promise::link(root_owner& to) noexcept {
    owner = &to;
    next = to.first_;
    if (next != nullptr) next->previous = this;
    to.first_ = this;
}

void root_promise::unlink() noexcept {
    (previous != nullptr ? previous->next : owner->first_) = next;
    if (next != nullptr) next->previous = previous;
}

void root_promise::leave(std::coroutine_handle<root_promise> self) noexcept {
    root_owner* told = owner;
    std::exception_ptr let_out = std::move(thrown);
    unlink();
    self.destroy();
    told->ended(std::move(let_out));
}

} // namespace thalweg::detail
