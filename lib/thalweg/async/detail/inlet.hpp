// SPDX-License-Identifier: BSL-1.0

#pragma once

// Something that other threads put work into and a loop takes out of. To wake a loop that sleeps costs far
// more than one item does. So a loop without other work looks at its watched inlets for a moment; then it
// arms them, from which on the first thread that brings something wakes it, and sleeps.
//
// Thread rule: the loop's thread, but for wake_if_armed() and wakes().

#include <thalweg/async/detail/cross_thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace thalweg {
class loop;
}

namespace thalweg::detail {

/// Room for a message to the loop, so that none has to be allocated.
inline constexpr std::size_t inlet_message_bytes = 128;

/// A place in one of a loop's rings.
struct inlet_link {
    inlet_link* next = this;
    inlet_link* previous = this;

    inlet_link() = default;
    inlet_link(const inlet_link&) = delete;
    void unlink() noexcept {
        next->previous = previous;
        previous->next = next;
        next = previous = this;
    }
    void link_before(inlet_link& place) noexcept {
        unlink();
        next = &place;
        previous = place.previous;
        previous->next = place.previous = this;
    }
};

class inlet : private inlet_link, public std::enable_shared_from_this<inlet> {
public:
    inlet() = default;
    virtual ~inlet() = default;

    /// To be called after something was brought. Free while the loop is awake. Any thread.
    void wake_if_armed() noexcept {
        fence_.light();
        if (armed_.load(std::memory_order_relaxed)) [[unlikely]]
            wake();
    }
    /// How often a loop was woken. Any thread.
    [[nodiscard]] std::uint64_t wakes() const noexcept { return wakes_.load(std::memory_order_relaxed); }

protected:
    /// The loop is to call came() when there is something, and not to sleep before it has looked.
    void watch(loop& on);
    /// Until watch() is called again. One that is armed stays so: it wakes the loop once, perhaps in vain.
    void unwatch() noexcept;
    void disarm() noexcept {
        if (armed_.load(std::memory_order_relaxed)) armed_.store(false, std::memory_order_relaxed);
    }
    /// Not any more: leaves its loop for good.
    void forget() noexcept;

private:
    friend class thalweg::loop;
    class message;

    /// Whether came() is to be called. Looks only; called often.
    [[nodiscard]] virtual bool has_something() const noexcept = 0;
    /// Whether something can still come: the loop waits for it instead of reporting a deadlock.
    [[nodiscard]] virtual bool is_fed() const noexcept = 0;
    virtual void came() = 0;

    void arm();
    void wake() noexcept;
    void hold_loop() noexcept;
    void release_loop() noexcept;

    bool watched_ = false;
    bool holds_ = false;   // counts as the loop's external work
    loop* loop_ = nullptr; // written under wake_mutex_, on the loop's thread
    std::mutex wake_mutex_;
    std::atomic<std::uint64_t> wakes_{0};
    std::atomic<bool> posted_{false}; // the message to the loop is under way, in storage_
    alignas(std::max_align_t) std::byte storage_[inlet_message_bytes];

    // What every producer reads for each item, away from what the loop's thread writes each time it watches.
    alignas(64) std::atomic<bool> armed_{false};

protected:
    const asymmetric_fence fence_;
};

} // namespace thalweg::detail
