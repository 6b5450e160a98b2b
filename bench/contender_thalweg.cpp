// SPDX-License-Identifier: BSL-1.0

// The library's merge, used as a user would: producers are tasks in a scope, the consumer is the task that
// owns it.

#include "contenders.hpp"

#include <thalweg/async/loop.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <thread>

namespace thalweg::bench {
namespace {

// How the consumer takes its messages.
enum class taking { peek, next, batch };

template <class Message, std::uint64_t YieldsAfter>
task<> produce(typename merge<Message>::producer to, std::uint32_t producer, std::uint64_t messages) {
    co_await yield(); // all have started before the first message
    for (std::uint64_t sequence = 0; sequence < messages; ++sequence) {
        co_await to.emplace(producer, sequence);
        if constexpr (YieldsAfter != 0)
            if ((sequence + 1) % YieldsAfter == 0) co_await yield();
    }
}

template <class Message, taking Taking>
task<> consume(merge<Message>& point, order_check& check) {
    if constexpr (Taking == taking::peek) {
        while (Message* message = co_await point.peek())
            check.see(*message);
    } else if constexpr (Taking == taking::next) {
        while (auto message = co_await point.next())
            check.see(*message);
    } else {
        for (auto batch = co_await point.next_batch(); !batch.empty(); batch = co_await point.next_batch())
            for (const Message& message : batch)
                check.see(message);
    }
}

// An unbounded producer of the library lets others run after 64 messages by itself.
template <pace Mode>
constexpr std::uint64_t own_yields = Mode == pace::one_per_wake ? 1 : 0;

template <class Message, taking Taking, pace Mode>
task<measurement> run_merge(unsigned producers, std::uint64_t messages) {
    order_check check(producers);
    merge<Message> point;
    scope work(co_await this_coroutine());
    producer_options options;
    options.budget = Mode == pace::budget64 ? 64 : 0;
    for (unsigned producer = 0; producer < producers; ++producer)
        work.spawn(produce<Message, own_yields<Mode>>(point.attach(options), producer,
                                                      share_of(messages, producers, producer)));
    const meter time;
    co_await consume<Message, Taking>(point, check);
    const measurement taken = time.stop(messages);
    co_await work.join();
    check.finish(messages);
    co_return taken;
}

template <class Message, taking Taking>
task<measurement> run_threads(unsigned producers, std::uint64_t messages, std::size_t budget) {
    order_check check(producers);
    merge<Message> point;
    producer_options options;
    options.budget = budget;
    std::vector<typename merge<Message>::remote_producer> ends;
    ends.reserve(producers);
    for (unsigned producer = 0; producer < producers; ++producer)
        ends.push_back(point.attach_remote(options));
    const unsigned threads = std::min(producers, most_threads);
    const auto work = [&](unsigned thread) {
        const std::uint64_t most = share_of(messages, producers, thread);
        for (std::uint64_t sequence = 0; sequence < most; ++sequence)
            for (unsigned producer = thread; producer < producers; producer += threads)
                if (sequence < share_of(messages, producers, producer))
                    ends[producer].send(Message(producer, sequence));
        for (unsigned producer = thread; producer < producers; producer += threads)
            ends[producer].finish();
        fold_allocations();
    };

    const meter time(meter::clock::wall);
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
        running.emplace_back(work, thread);
    co_await consume<Message, Taking>(point, check);
    for (std::thread& each : running)
        each.join();
    const measurement taken = time.stop(messages, static_cast<double>(point.remote_wakes()));
    check.finish(messages);
    co_return taken;
}

template <class Message, taking Taking>
contender one_thread_contender(const char* name, unsigned producers, pace mode) {
    auto* run = mode == pace::budget64    ? &run_merge<Message, Taking, pace::budget64>
                : mode == pace::unbounded ? &run_merge<Message, Taking, pace::unbounded>
                                          : &run_merge<Message, Taking, pace::one_per_wake>;
    return {.name = name,
            .run =
                [run, producers](std::uint64_t messages) {
                    loop here;
                    return here.run(run(producers, messages));
                },
            .ours = true};
}

template <class Message>
contender threads_contender(const char* name, unsigned producers, std::size_t budget) {
    return {.name = name,
            .run =
                [producers, budget](std::uint64_t messages) {
                    loop here;
                    return here.run(run_threads<Message, taking::peek>(producers, messages, budget));
                },
            .ours = true,
            .fraction = 4};
}

} // namespace

template <class Message>
std::vector<contender> thalweg_merges(unsigned producers, pace mode) {
    std::vector<contender> all;
    all.push_back(one_thread_contender<Message, taking::peek>("thalweg", producers, mode));
    all.push_back(one_thread_contender<Message, taking::next>("thalweg (next)", producers, mode));
    all.push_back(one_thread_contender<Message, taking::batch>("thalweg (next_batch)", producers, mode));
    return all;
}

template <class Message>
std::vector<contender> thalweg_remotes(unsigned producers) {
    std::vector<contender> all;
    all.push_back(threads_contender<Message>("thalweg", producers, 0));
    all.push_back(threads_contender<Message>("thalweg (budget 64)", producers, 64));
    return all;
}

template std::vector<contender> thalweg_merges<heap_message>(unsigned, pace);
template std::vector<contender> thalweg_merges<inline_message>(unsigned, pace);
template std::vector<contender> thalweg_remotes<heap_message>(unsigned);
template std::vector<contender> thalweg_remotes<inline_message>(unsigned);

idle_memory idle_thalweg(unsigned producers) {
    loop here;
    const auto measure = [](unsigned count) -> task<double> {
        merge<inline_message> point;
        scope work(co_await this_coroutine());
        const std::size_t before = heap_bytes();
        for (unsigned producer = 0; producer < count; ++producer)
            work.spawn(produce<inline_message, 0>(point.attach(), producer, 1));
        const double bytes = static_cast<double>(heap_bytes() - before) / count;
        co_return bytes;
    };
    return {.contender = "thalweg", .producers = producers, .bytes = here.run(measure(producers))};
}

} // namespace thalweg::bench
