// SPDX-License-Identifier: BSL-1.0

#include "harness.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace thalweg::bench {
namespace {

constexpr const char* help_text = R"(
  --rounds N          rounds, each contender once per round (7)
  --messages N        items of one turn of a fast contender (1000000)
  --producers N,...   only these numbers of producers
  --mode NAME,...     only these modes
  --table NAME,...    only these tables
  --only TEXT,...     only contenders whose name has TEXT in it; the first of a group always runs
  --json FILE         everything as JSON ("-" is stdout)
  --csv FILE          the results as CSV
  --list              name groups and contenders
  --once NAME         one turn of one contender, no rounds; for callgrind
  --help              this
)";

// A turn is repeated until it is at least this long, or the clock and the scheduler decide the result.
constexpr double shortest_turn = 5e6; // ns

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr, "bench: %s; --help lists the options\n", what.c_str());
    std::exit(2);
}

std::uint64_t number(std::string_view option, std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0)
        refuse(std::string(option) + " wants a number above 0, not '" + std::string(text) + "'");
    return value;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list;
    while (!text.empty()) {
        const auto comma = text.find(',');
        list.emplace_back(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return list;
}

template <class List, class Value>
bool among(const List& list, const Value& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

measurement turn(const contender& who, std::uint64_t items) {
    measurement sum = who.run(std::max<std::uint64_t>(items / who.fraction, 1));
    while (sum.nanoseconds < shortest_turn) {
        const measurement more = who.run(std::max<std::uint64_t>(items / who.fraction, 1));
        sum.items += more.items;
        sum.nanoseconds += more.nanoseconds;
        sum.allocations += more.allocations;
        sum.wakeups += more.wakeups;
    }
    return sum;
}

double per_item(const measurement& m) {
    return m.nanoseconds / static_cast<double>(m.items);
}

template <class Get>
double median_of(const std::vector<measurement>& turns, Get get) {
    std::vector<double> values;
    for (const measurement& m : turns)
        values.push_back(get(m) / static_cast<double>(m.items));
    return spread_of(std::move(values)).median;
}

// Times of `above` divided by those of `below`, round by round.
spread ratio_of(const std::vector<measurement>& above, const std::vector<measurement>& below) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < above.size(); ++round)
        ratios.push_back(per_item(above[round]) / per_item(below[round]));
    return spread_of(std::move(ratios));
}

void run_group(const group& which, const std::vector<const contender*>& who, const options& chosen,
               report& into) {
    std::vector<std::vector<measurement>> turns(who.size());
    for (unsigned round = 0; round < chosen.rounds; ++round) {
        // Nobody always runs after the same neighbor.
        for (std::size_t step = 0; step < who.size(); ++step) {
            const std::size_t at = (step + round) % who.size();
            turns[at].push_back(turn(*who[at], chosen.items));
        }
    }
    for (std::size_t at = 0; at < who.size(); ++at) {
        std::vector<double> times;
        for (const measurement& m : turns[at])
            times.push_back(per_item(m));
        into.results.push_back(
            {.table = which.table,
             .mode = which.mode,
             .producers = which.producers,
             .contender = who[at]->name,
             .nanoseconds = spread_of(std::move(times)),
             .ratio = ratio_of(turns[at], turns[0]),
             .allocations = median_of(turns[at], [](const measurement& m) { return double(m.allocations); }),
             .wakeups = median_of(turns[at], [](const measurement& m) { return m.wakeups; }),
             .megabytes_per_second = 0});
        result& row = into.results.back();
        row.megabytes_per_second = which.bytes_per_item > 0
                                       ? which.bytes_per_item / row.nanoseconds.median * 1e3
                                       : std::numeric_limits<double>::quiet_NaN();
    }
    for (std::size_t ours = 0; ours < who.size(); ++ours)
        for (std::size_t other = 0; who[ours]->ours && other < who.size(); ++other)
            if (!who[other]->ours)
                into.advantages.push_back({.table = which.table,
                                           .mode = which.mode,
                                           .producers = which.producers,
                                           .ours = who[ours]->name,
                                           .over = who[other]->name,
                                           .times = ratio_of(turns[other], turns[ours])});
}

} // namespace

spread spread_of(std::vector<double> values) {
    if (values.empty()) {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        return {.median = none, .min = none, .max = none};
    }
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {.median = median, .min = values.front(), .max = values.back()};
}

bool options::wants(const group& candidate) const {
    return among(tables, candidate.table) && among(modes, candidate.mode) &&
           among(producers, candidate.producers);
}

bool options::wants(const contender& candidate) const {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
               return candidate.name.find(part) != std::string::npos;
           });
}

options parse_options(int argc, char** argv, const char* about) {
    options chosen;
    for (int at = 1; at < argc; ++at) {
        const std::string_view name = argv[at];
        if (name == "--help") {
            std::printf("%s\n%s", about, help_text);
            std::exit(0);
        }
        if (name == "--list") {
            chosen.list = true;
            continue;
        }
        if (!name.starts_with("--")) {
            chosen.arguments.emplace_back(name);
            continue;
        }
        if (at + 1 == argc) refuse(std::string(name) + " is unknown or wants a value");
        const std::string_view value = argv[++at];
        if (name == "--rounds")
            chosen.rounds = static_cast<unsigned>(number(name, value));
        else if (name == "--messages")
            chosen.items = number(name, value);
        else if (name == "--mode")
            chosen.modes = words(value);
        else if (name == "--table")
            chosen.tables = words(value);
        else if (name == "--only")
            chosen.only = words(value);
        else if (name == "--json")
            chosen.json = value;
        else if (name == "--csv")
            chosen.csv = value;
        else if (name == "--once")
            chosen.once = value;
        else if (name == "--producers")
            for (const std::string& word : words(value))
                chosen.producers.push_back(static_cast<unsigned>(number(name, word)));
        else
            refuse("unknown option " + std::string(name));
    }
    return chosen;
}

void run_groups(const std::vector<group>& groups, const options& chosen, report& into) {
    into.rounds = chosen.rounds;
    for (const group& candidate : groups) {
        if (!chosen.wants(candidate)) continue;
        std::vector<const contender*> who;
        for (const contender& one : candidate.contenders)
            if (who.empty() || chosen.wants(one)) who.push_back(&one);
        std::fprintf(stderr, "%s %s", candidate.table.c_str(), candidate.mode.c_str());
        if (candidate.producers != 0) std::fprintf(stderr, ", %u producers", candidate.producers);
        std::fprintf(stderr, ": %zu contenders, %u rounds\n", who.size(), chosen.rounds);
        run_group(candidate, who, chosen, into);
    }
    if (into.results.empty()) refuse("no group is left to run (--list names them all)");
}

int run_once(const std::vector<group>& groups, const options& chosen) {
    const contender* who = nullptr;
    for (const group& candidate : groups)
        for (const contender& one : candidate.contenders)
            if (chosen.wants(candidate) && one.name == chosen.once) {
                if (who != nullptr) refuse("--once fits several groups: add --table, --mode, --producers");
                who = &one;
            }
    if (who == nullptr) refuse("--once fits no contender (--list names them all)");
    const measurement m = who->run(chosen.items);
    std::printf("items %llu allocations %llu\n", static_cast<unsigned long long>(m.items),
                static_cast<unsigned long long>(m.allocations));
    return 0;
}

void list_groups(const std::vector<group>& groups) {
    for (const group& one : groups)
        for (const contender& who : one.contenders)
            std::printf("%s %s %u: %s\n", one.table.c_str(), one.mode.c_str(), one.producers,
                        who.name.c_str());
}

} // namespace thalweg::bench
