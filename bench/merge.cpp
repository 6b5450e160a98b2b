// SPDX-License-Identifier: BSL-1.0

// bench-merge: what it costs to bring the messages of many producers into one order, beside the hand-written
// floor and what C++ programs use today.

#include "contenders.hpp"

namespace thalweg::bench {
namespace {

constexpr std::pair<const char*, pace> one_thread[] = {
    {"budget64", pace::budget64}, {"unbounded", pace::unbounded}, {"one_per_wake", pace::one_per_wake}};

// `Ours` is what the floor and the library carry, `Theirs` what everybody else does.
template <class Ours, class Theirs>
void add_table(std::vector<group>& groups, const char* table, const std::vector<unsigned>& producers) {
    for (const auto& [name, mode] : one_thread)
        for (const unsigned count : producers) {
            group one{.table = table, .mode = name, .producers = count, .contenders = {}};
            one.contenders.push_back(floor_contender<Ours>(count, mode));
            for (contender& each : thalweg_merges<Ours>(count, mode))
                one.contenders.push_back(std::move(each));
            one.contenders.push_back(mutex_queue_one_thread<Theirs>(count, mode));
            one.contenders.push_back(asio_best_use<Theirs>(count, mode));
            one.contenders.push_back(asio_as_in_examples<Theirs>(count, mode));
            groups.push_back(std::move(one));
        }
    for (const unsigned count : producers) {
        group one{.table = table, .mode = "threads", .producers = count, .contenders = {}};
        one.contenders.push_back(mutex_queue<Theirs>(count));
        for (contender& each : thalweg_remotes<Ours>(count))
            one.contenders.push_back(std::move(each));
        one.contenders.push_back(mutex_queue_swapping<Theirs>(count));
        one.contenders.push_back(mutex_queue_bounded<Theirs>(count));
        groups.push_back(std::move(one));
    }
}

// natural: each with the text it naturally has; heap: everybody with a std::string; equal: everybody inline.
std::vector<group> all_groups(const std::vector<unsigned>& producers) {
    std::vector<group> groups;
    add_table<inline_message, heap_message>(groups, "natural", producers);
    add_table<heap_message, heap_message>(groups, "heap", producers);
    add_table<inline_message, inline_message>(groups, "equal", producers);
    return groups;
}

} // namespace
} // namespace thalweg::bench

int main(int argc, char** argv) {
    using namespace thalweg::bench;
    const options chosen = parse_options(argc, argv,
                                         "bench-merge: many producers, one consumer, one order of messages");
    const std::vector<unsigned> producers = chosen.producers.empty()
                                                ? std::vector<unsigned>{1, 8, 64, 1024, 10000}
                                                : chosen.producers;
    const std::vector<group> groups = all_groups(producers);
    if (chosen.list) {
        list_groups(groups);
        return 0;
    }
    if (!chosen.once.empty()) return run_once(groups, chosen);

    report done;
    done.bench = "merge";
    done.item = "message";
    done.where = look_at_machine();
    done.where.libraries.emplace_back("asio", asio_version());
    done.idle = {idle_floor(10000), idle_thalweg(10000), idle_asio(10000)};
    run_groups(groups, chosen, done);
    print_table(done);
    return write_files(done, chosen) ? 0 : 1;
}
