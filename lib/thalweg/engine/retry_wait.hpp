// SPDX-License-Identifier: BSL-1.0

#pragma once

// The wait before a request is tried again. It ends by time, by a stop request, or because somebody wants to
// try now; the first of them counts (R-ENG-57). Thread rule: loop thread.

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/async/task.hpp>
#include <thalweg/engine/session_options.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace thalweg {

class retry_wait {
public:
    /// Waits for `d`. False: there is to be no retry, because of a stop request or give_up(). One wait at a
    /// time; this object outlives it.
    [[nodiscard]] task<bool> wait(std::chrono::milliseconds d) {
        const context here = co_await this_coroutine();
        if (is_given_up_) co_return false;
        pause now(*this, here);
        scope sleeping(here);
        sleeping.spawn(sleep(d), now.under);
        co_await sleeping.join();
        co_return !here.stop_requested() && !is_given_up_;
    }

    /// Ends the wait as if its time were over. False when none is going on.
    bool skip() { return early_ != nullptr && early_->request(cancel_reason::user); }

    /// Nobody waits for a retry any more: this wait and each later one is over at once.
    void give_up() {
        is_given_up_ = true;
        skip();
    }

private:
    // Also when the waiting coroutine is destroyed, nobody can skip its wait any more.
    struct pause {
        pause(retry_wait& of, const context& here) : owner(of), under(here.loop(), early) {
            early.follow(here.cancel());
            owner.early_ = &early;
        }
        pause(const pause&) = delete;
        ~pause() { owner.early_ = nullptr; }
        retry_wait& owner;
        cancel_source early;
        context under;
    };
    static task<void> sleep(std::chrono::milliseconds d) { co_await sleep_for(d); }

    cancel_source* early_ = nullptr;
    bool is_given_up_ = false;
};

/// The wait before retry `n` (from 1); `wish` is the provider's (R-ENG-51, D-05).
[[nodiscard]] inline std::chrono::milliseconds retry_delay(const retry_policy& policy, int n,
                                                           std::optional<std::chrono::milliseconds> wish) {
    auto wait = policy.base;
    for (int doubled = 1; doubled < n && wait < policy.ceiling; ++doubled)
        wait *= 2;
    return std::min(std::max(wait, wish.value_or(wait)), policy.ceiling);
}

} // namespace thalweg
