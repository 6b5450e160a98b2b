// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who asked a coroutine to stop, and why. The request itself is a std::stop_token that every coroutine
// inherits from the one that awaits or spawned it; beside it stands a typed reason, because a tool, a trace
// and a person need to tell an interrupt from a time-out (H-26).
//
// Thread rule: request() and construction on the loop's thread only, since waiting coroutines are queued by
// it. A token that was handed out may be *read* anywhere. A stop that comes from another thread enters
// through loop::post() or a `stop_link`.

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>

namespace thalweg {

enum class cancel_reason : std::uint8_t {
    none,     ///< nobody asked
    user,     ///< a person's interrupt, or the program's
    timeout,  ///< a deadline ran out
    parent,   ///< the owner ended, was dropped or was stopped
    shutdown, ///< the program is going down
};

/// A short lower-case English word, for traces and messages.
[[nodiscard]] constexpr const char* to_string(cancel_reason r) noexcept {
    switch (r) {
    case cancel_reason::none: return "none";
    case cancel_reason::user: return "user";
    case cancel_reason::timeout: return "timeout";
    case cancel_reason::parent: return "parent";
    case cancel_reason::shutdown: return "shutdown";
    }
    return "unknown";
}

/// Makes stop requests. Neither copied nor moved: contexts point to it, so it outlives what runs under it.
class cancel_source {
public:
    cancel_source() = default;

    cancel_source(const cancel_source&) = delete;
    cancel_source& operator=(const cancel_source&) = delete;

    /// From now on fires, with the same reason, when `parent` does (at once if it has). `parent` must outlive
    /// this one. Call at most once.
    void follow(const cancel_source& parent) { link_.emplace(parent.token(), forward{this, &parent}); }

    /// Takes follow() back.
    void unfollow() noexcept { link_.reset(); }

    /// The first request wins and gives true; later ones change nothing. Waiting coroutines are queued, not
    /// resumed.
    bool request(cancel_reason why) {
        auto expected = cancel_reason::none;
        if (!reason_.compare_exchange_strong(expected, why)) return false;
        source_.request_stop();
        return true;
    }

    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
    [[nodiscard]] bool requested() const noexcept {
        return reason_.load(std::memory_order_relaxed) != cancel_reason::none;
    }
    [[nodiscard]] cancel_reason reason() const noexcept { return reason_.load(); }

private:
    struct forward {
        cancel_source* to;
        const cancel_source* from;
        void operator()() const { to->request(from->reason()); }
    };

    std::atomic<cancel_reason> reason_{cancel_reason::none};
    std::stop_source source_;
    std::optional<std::stop_callback<forward>> link_;
};

} // namespace thalweg
