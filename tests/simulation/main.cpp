// SPDX-License-Identifier: BSL-1.0

// simulate [--seeds N] [--seed S] [--mutants]: plays random scenarios with every checker on.
//
// The last line is `N passed, N failed`. A failing seed is printed with the command that plays it again.

#include "simulation/scenario.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace thalweg::simulation;

struct settings {
    std::uint64_t seeds = 2'000;
    std::optional<std::uint64_t> only;
    std::uint64_t from = 1;
    bool mutants = false;
    bool table = true;
    std::optional<mutant> one_mutant;
};

constexpr std::string_view usage =
    "usage: simulate [--seeds N] [--seed S] [--from S] [--mutants] [--mutant NAME]\n"
    "\n"
    "  --seeds N      plays the scenarios of N seeds (2000)\n"
    "  --from S       the first of them (1)\n"
    "  --seed S       plays one, and says all that is wrong with it\n"
    "  --mutants      switches on one built-in fault of the engine after the other: each must be noticed\n"
    "                 within N seeds\n"
    "  --mutant NAME  the same with one of them; with --seed: in that scenario\n";

std::optional<std::uint64_t> number(std::string_view word) {
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stopped, failed] = std::from_chars(word.data(), end, value);
    if (failed != std::errc() || stopped != end) return std::nullopt;
    return value;
}

std::optional<mutant> mutant_named(std::string_view name) {
    for (std::size_t i = 1; i < static_cast<std::size_t>(mutant::count_); ++i) {
        if (to_string(static_cast<mutant>(i)) == name) return static_cast<mutant>(i);
    }
    return std::nullopt;
}

std::optional<settings> read_arguments(int count, char** words) {
    settings chosen;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--mutants") {
            chosen.mutants = true;
            continue;
        }
        if (i + 1 == count) return std::nullopt;
        const std::string_view value = words[++i];
        if (word == "--mutant") {
            chosen.one_mutant = mutant_named(value);
            if (!chosen.one_mutant) return std::nullopt;
            continue;
        }
        const auto n = number(value);
        if (!n) return std::nullopt;
        if (word == "--seeds")
            chosen.seeds = *n;
        else if (word == "--seed")
            chosen.only = *n;
        else if (word == "--from")
            chosen.from = *n;
        else
            return std::nullopt;
    }
    return chosen;
}

void print_failure(std::uint64_t seed, const verdict& v, mutant active = mutant::none) {
    const std::string with = active == mutant::none ? std::string()
                                                    : " --mutant " + std::string(to_string(active));
    std::printf("seed %llu failed; play it again: ./dev simulate --seed %llu%s\n",
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed), with.c_str());
    for (const std::string& sentence : v.complaints)
        std::printf("  %s\n", sentence.c_str());
}

int play_one(std::uint64_t seed, mutant active) {
    const verdict v = play(seed, active);
    if (v.complaints.empty()) {
        std::printf("seed %llu: nothing to complain about\n1 passed, 0 failed\n",
                    static_cast<unsigned long long>(seed));
        return 0;
    }
    print_failure(seed, v, active);
    std::printf("0 passed, 1 failed\n");
    return 1;
}

int play_many(const settings& chosen) {
    constexpr int most_printed = 10;
    coverage seen;
    std::uint64_t failed = 0;
    const std::clock_t begin = std::clock();
    for (std::uint64_t i = 0; i < chosen.seeds; ++i) {
        const verdict v = play(chosen.from + i);
        seen.add(v.seen);
        if (!v.complaints.empty() && ++failed <= most_printed) print_failure(chosen.from + i, v);
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%s%.0f scenarios per second of processor time\n%llu passed, %llu failed\n",
                seen.table().c_str(), static_cast<double>(chosen.seeds) / seconds,
                static_cast<unsigned long long>(chosen.seeds - failed),
                static_cast<unsigned long long>(failed));
    return failed == 0 ? 0 : 1;
}

/// True: noticed within the seeds.
bool is_noticed(mutant active, const settings& chosen) {
    for (std::uint64_t i = 0; i < chosen.seeds; ++i) {
        const std::uint64_t seed = chosen.from + i;
        const verdict v = play(seed, active);
        if (v.complaints.empty()) continue;
        if (!play(seed).complaints.empty()) continue; // it fails without the mutant, too
        std::printf("  %-24s noticed at seed %llu: %s\n", std::string(to_string(active)).c_str(),
                    static_cast<unsigned long long>(i + 1), v.complaints.front().substr(0, 150).c_str());
        return true;
    }
    std::printf("  %-24s NOT noticed in %llu seeds\n", std::string(to_string(active)).c_str(),
                static_cast<unsigned long long>(chosen.seeds));
    return false;
}

int play_mutants(const settings& chosen) {
    int noticed = 0;
    int missed = 0;
    for (std::size_t i = 1; i < static_cast<std::size_t>(mutant::count_); ++i) {
        const auto each = static_cast<mutant>(i);
        if (chosen.one_mutant && *chosen.one_mutant != each) continue;
        is_noticed(each, chosen) ? ++noticed : ++missed;
    }
    std::printf("%d passed, %d failed\n", noticed, missed);
    return missed == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    const auto chosen = read_arguments(count, words);
    if (!chosen) {
        std::fwrite(usage.data(), 1, usage.size(), stderr);
        return 2;
    }
    if (chosen->only) return play_one(*chosen->only, chosen->one_mutant.value_or(mutant::none));
    if (!chosen->mutants && !chosen->one_mutant) return play_many(*chosen);
    return play_mutants(*chosen);
}
