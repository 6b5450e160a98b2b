// SPDX-License-Identifier: BSL-1.0

#pragma once

// The harness of the benches. On a shared machine times of two runs cannot be compared, so everything that is
// to be compared runs in turns within one run: each round lets every contender of a group run once, and what
// is reported is the median of the ratios taken within each round, with the smallest and the largest.
//
// A contender checks its own work and ends the program when it is wrong. Main thread only.

#include "allocations.hpp"
#include "machine.hpp"

#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace thalweg::bench {

// What one turn of a contender took.
struct measurement {
    std::uint64_t items = 0;
    double nanoseconds = 0;
    std::uint64_t allocations = 0;
    double wakeups = std::numeric_limits<double>::quiet_NaN(); // of the consumer; NaN: not counted
};

// Started after a contender has set itself up, stopped before it takes itself down. One thread is measured by
// the time it had a processor, which other programs disturb less; several by the clock on the wall.
class meter {
public:
    enum class clock { processor, wall };

    explicit meter(clock by = clock::processor) noexcept
        : by_(by), allocations_(allocations()), start_(now()) {}

    measurement stop(std::uint64_t items, double wakeups = std::numeric_limits<double>::quiet_NaN()) const {
        const double end = now();
        return {.items = items,
                .nanoseconds = end - start_,
                .allocations = allocations() - allocations_,
                .wakeups = wakeups};
    }

private:
    double now() const noexcept {
        timespec time{};
        clock_gettime(by_ == clock::processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }

    clock by_;
    std::uint64_t allocations_;
    double start_;
};

struct contender {
    std::string name;
    std::function<measurement(std::uint64_t items)> run;
    bool ours = false;     // compared with every contender that is not
    unsigned fraction = 1; // slow ones take one item in so many
};

// Contenders that answer the same question; the first is the one that ratios refer to.
struct group {
    std::string table;
    std::string mode;
    unsigned producers = 0; // 0: the bench has none
    std::vector<contender> contenders;
    double bytes_per_item = 0; // 0: the bench has no throughput in bytes
};

struct spread {
    double median = 0;
    double min = 0;
    double max = 0;
};

// NaN for an empty list.
spread spread_of(std::vector<double> values);

struct result {
    std::string table;
    std::string mode;
    unsigned producers = 0;
    std::string contender;
    spread nanoseconds; // per item
    spread ratio;       // to the first contender of the group
    double allocations = 0;
    double wakeups = 0;
    double megabytes_per_second = 0; // NaN where that means nothing
};

// How many times as long as `ours` the other one takes.
struct advantage {
    std::string table;
    std::string mode;
    unsigned producers = 0;
    std::string ours;
    std::string over;
    spread times;
};

struct idle_memory {
    std::string contender;
    unsigned producers = 0;
    double bytes = 0; // per producer
};

struct report {
    std::string bench;
    std::string item; // "message"
    unsigned rounds = 0;
    machine where;
    std::vector<result> results;
    std::vector<advantage> advantages;
    std::vector<idle_memory> idle;
};

struct options {
    unsigned rounds = 7;
    std::uint64_t items = 1'000'000;
    std::vector<std::string> only;      // parts of names; empty: all
    std::vector<std::string> tables;    // empty: all
    std::vector<std::string> modes;     // empty: all
    std::vector<unsigned> producers;    // empty: the bench's own
    std::vector<std::string> arguments; // what is left: files, where a bench takes any
    std::string json;
    std::string csv;
    std::string once; // one contender by its full name, one turn, no rounds: for callgrind
    bool list = false;

    bool wants(const group& candidate) const;
    bool wants(const contender& candidate) const;
};

// Prints help or the mistake and exits where that is all there is to do. `about` is the first line of the
// help, `item` what --messages counts.
options parse_options(int argc, char** argv, const char* about);

// Runs what `chosen` wants of `groups` and tells on stderr how far it is.
void run_groups(const std::vector<group>& groups, const options& chosen, report& into);

// --once: exactly one contender of one group, and one line with its counts on stdout. The exit code.
int run_once(const std::vector<group>& groups, const options& chosen);

// --list
void list_groups(const std::vector<group>& groups);

void print_table(const report& done);
// False, with a message on stderr, when a file cannot be written.
bool write_files(const report& done, const options& chosen);

} // namespace thalweg::bench
