// SPDX-License-Identifier: BSL-1.0

#pragma once

// Who takes part in bench-merge. Each function exists for `heap_message` and `inline_message`; a contender
// moves its messages from `producers` producers to one consumer that checks them with `order_check`.

#include "harness.hpp"
#include "messages.hpp"

namespace thalweg::bench {

enum class pace {
    budget64,  // a producer waits while 64 messages stand before the consumer
    unbounded, // it never waits, but lets others run after 64 messages, as when one read brings many deltas
    one_per_wake, // it lets others run after each message, as on a slow network
};

// Messages between two yields; 0: never.
constexpr std::uint64_t yields_after(pace mode) noexcept {
    switch (mode) {
    case pace::unbounded: return 64;
    case pace::one_per_wake: return 1;
    case pace::budget64: break;
    }
    return 0;
}

// One thread.
template <class Message>
contender floor_contender(unsigned producers, pace mode);
// By peek(), next() and next_batch().
template <class Message>
std::vector<contender> thalweg_merges(unsigned producers, pace mode);
template <class Message>
contender asio_as_in_examples(unsigned producers, pace mode);
template <class Message>
contender asio_best_use(unsigned producers, pace mode);
// No coroutine and no waiting: only what the container, the lock and the notification cost.
template <class Message>
contender mutex_queue_one_thread(unsigned producers, pace mode);

// Producers share at most this many threads.
inline constexpr unsigned most_threads = 4;

// Producers on threads of their own.
template <class Message>
std::vector<contender> thalweg_remotes(unsigned producers);
template <class Message>
contender mutex_queue(unsigned producers);
// The consumer takes all that is there at once.
template <class Message>
contender mutex_queue_swapping(unsigned producers);
// Producers wait while 64 messages stand in the queue.
template <class Message>
contender mutex_queue_bounded(unsigned producers);

// Heap bytes per producer that has been set up and waits for its source.
idle_memory idle_floor(unsigned producers);
idle_memory idle_thalweg(unsigned producers);
idle_memory idle_asio(unsigned producers);

std::string asio_version();

} // namespace thalweg::bench
