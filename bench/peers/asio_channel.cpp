// SPDX-License-Identifier: BSL-1.0

// Asio's experimental::channel, used in two ways: as its examples do, one asynchronous operation per message,
// and as well as it can be used, by trying first without an operation. The end of a producer is a message of
// its own, because close() of Asio 1.22 drops what is still buffered.

#include "../contenders.hpp"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/version.hpp>
#include <limits>
#include <utility>

namespace thalweg::bench {
namespace {

enum class use { examples, best };

template <class Message>
using channel = asio::experimental::channel<void(asio::error_code, Message)>;

template <class Message, use Use, std::uint64_t YieldsAfter>
asio::awaitable<void> produce(channel<Message>& queue, std::uint32_t producer, std::uint64_t messages) {
    asio::error_code fine;
    for (std::uint64_t sequence = 0; sequence < messages; ++sequence) {
        Message message(producer, sequence);
        bool sent = false;
        if constexpr (Use == use::best) sent = queue.try_send(fine, std::move(message)); // else untouched
        if (!sent) co_await queue.async_send(fine, std::move(message), asio::use_awaitable);
        if constexpr (YieldsAfter != 0)
            if ((sequence + 1) % YieldsAfter == 0)
                co_await asio::post(queue.get_executor(), asio::use_awaitable);
    }
    Message last = Message::end(producer);
    co_await queue.async_send(fine, std::move(last), asio::use_awaitable);
}

template <class Message, use Use>
asio::awaitable<void> consume(channel<Message>& queue, order_check& check, unsigned producers,
                              std::uint64_t& wakeups) {
    Message message;
    while (producers != 0) {
        bool received = false;
        if constexpr (Use == use::best)
            received = queue.try_receive([&](asio::error_code, Message next) { message = std::move(next); });
        if (!received) {
            message = co_await queue.async_receive(asio::use_awaitable);
            ++wakeups;
        }
        if (message.kind() == message_kind::end)
            --producers;
        else
            check.see(message);
    }
}

template <class Message, use Use, pace Mode>
measurement run_asio(unsigned producers, std::uint64_t messages) {
    asio::io_context context(1);
    constexpr std::size_t capacity = Mode == pace::budget64 ? 64 : std::numeric_limits<std::size_t>::max();
    channel<Message> queue(context, capacity);
    order_check check(producers);
    std::uint64_t wakeups = 0;
    asio::co_spawn(context, consume<Message, Use>(queue, check, producers, wakeups), asio::detached);
    for (unsigned producer = 0; producer < producers; ++producer)
        asio::co_spawn(context,
                       produce<Message, Use, yields_after(Mode)>(queue, producer,
                                                                 share_of(messages, producers, producer)),
                       asio::detached);

    const meter time;
    context.run();
    const measurement taken = time.stop(messages, static_cast<double>(wakeups));
    check.finish(messages);
    return taken;
}

template <class Message, use Use>
contender asio_contender(const char* name, unsigned producers, pace mode) {
    auto* run = mode == pace::budget64    ? &run_asio<Message, Use, pace::budget64>
                : mode == pace::unbounded ? &run_asio<Message, Use, pace::unbounded>
                                          : &run_asio<Message, Use, pace::one_per_wake>;
    return {.name = name,
            .run = [run, producers](std::uint64_t messages) { return run(producers, messages); },
            .fraction = 4};
}

} // namespace

template <class Message>
contender asio_as_in_examples(unsigned producers, pace mode) {
    return asio_contender<Message, use::examples>("asio channel (examples)", producers, mode);
}

template <class Message>
contender asio_best_use(unsigned producers, pace mode) {
    return asio_contender<Message, use::best>("asio channel (best use)", producers, mode);
}

template contender asio_as_in_examples<heap_message>(unsigned, pace);
template contender asio_as_in_examples<inline_message>(unsigned, pace);
template contender asio_best_use<heap_message>(unsigned, pace);
template contender asio_best_use<inline_message>(unsigned, pace);

idle_memory idle_asio(unsigned producers) {
    asio::io_context context(1);
    channel<inline_message> queue(context, 64);
    channel<inline_message> source(context, 0); // never brings anything
    const std::size_t before = heap_bytes();
    auto wait = [](channel<inline_message>& from, channel<inline_message>& to) -> asio::awaitable<void> {
        asio::error_code fine;
        inline_message message = co_await from.async_receive(asio::use_awaitable);
        co_await to.async_send(fine, std::move(message), asio::use_awaitable);
    };
    for (unsigned producer = 0; producer < producers; ++producer)
        asio::co_spawn(context, wait(source, queue), asio::detached);
    context.poll();
    return {.contender = "asio channel",
            .producers = producers,
            .bytes = static_cast<double>(heap_bytes() - before) / producers};
}

std::string asio_version() {
    return std::to_string(ASIO_VERSION / 100000) + "." + std::to_string(ASIO_VERSION / 100 % 1000) + "." +
           std::to_string(ASIO_VERSION % 100);
}

} // namespace thalweg::bench
