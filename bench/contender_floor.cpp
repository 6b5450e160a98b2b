// SPDX-License-Identifier: BSL-1.0

#include "contenders.hpp"
#include "floor.hpp"

namespace thalweg::bench {
namespace {

template <class Message, std::uint64_t YieldsAfter>
floor::actor produce(floor::merge<Message>& queue, floor::ready_list& ready, std::uint32_t producer,
                     std::uint64_t messages) {
    for (std::uint64_t sequence = 0; sequence < messages; ++sequence) {
        if (queue.full()) co_await queue.room();
        queue.emplace(producer, sequence);
        if constexpr (YieldsAfter != 0)
            if ((sequence + 1) % YieldsAfter == 0) co_await floor::yield(ready);
    }
    queue.finish();
}

template <class Message>
floor::actor consume(floor::merge<Message>& queue, order_check& check) {
    while (Message* message = co_await queue.next()) {
        check.see(*message);
        queue.pop();
    }
}

template <class Message, pace Mode>
measurement run_floor(unsigned producers, std::uint64_t messages) {
    floor::ready_list ready(2 * producers + 2);
    floor::merge<Message> queue(ready, producers, Mode == pace::budget64);
    order_check check(producers);
    std::vector<floor::actor> actors;
    actors.reserve(producers + 1);
    actors.push_back(consume(queue, check));
    for (unsigned producer = 0; producer < producers; ++producer)
        actors.push_back(produce<Message, yields_after(Mode)>(queue, ready, producer,
                                                              share_of(messages, producers, producer)));
    for (const floor::actor& each : actors)
        ready.push(each.handle());

    const meter time;
    ready.run();
    const measurement taken = time.stop(messages, static_cast<double>(queue.wakeups()));
    check.finish(messages);
    return taken;
}

} // namespace

template <class Message>
contender floor_contender(unsigned producers, pace mode) {
    auto* run = mode == pace::budget64    ? &run_floor<Message, pace::budget64>
                : mode == pace::unbounded ? &run_floor<Message, pace::unbounded>
                                          : &run_floor<Message, pace::one_per_wake>;
    return {.name = "floor",
            .run = [run, producers](std::uint64_t messages) { return run(producers, messages); }};
}

template contender floor_contender<heap_message>(unsigned, pace);
template contender floor_contender<inline_message>(unsigned, pace);

idle_memory idle_floor(unsigned producers) {
    floor::ready_list ready(producers + 1);
    floor::merge<inline_message> queue(ready, producers, true);
    std::vector<floor::actor> actors;
    actors.reserve(producers);
    const std::size_t before = heap_bytes();
    for (unsigned producer = 0; producer < producers; ++producer)
        actors.push_back(
            produce<inline_message, 0>(queue, ready, producer, 1)); // suspended before its first line
    return {.contender = "floor",
            .producers = producers,
            .bytes = static_cast<double>(heap_bytes() - before) / producers};
}

} // namespace thalweg::bench
