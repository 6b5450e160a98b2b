// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where a bench ran: what a reader of its figures must know before comparing them with anything.

#include <string>
#include <utility>
#include <vector>

namespace thalweg::bench {

struct machine {
    std::string cpu;
    unsigned cores = 0;
    std::string kernel;
    std::string compiler;
    std::string flags;
    std::vector<std::pair<std::string, std::string>> libraries; // name, version
    double load = 0;                                            // runnable processes, mean of the last minute

    // One cache line from core to core, one way, in ns; 0 with a single core. Above `slow_ping_pong` the host
    // has moved the cores apart or somebody else keeps them busy: times of that run say little.
    double ping_pong = 0;
    static constexpr double slow_ping_pong = 300;

    bool times_are_reliable() const noexcept { return ping_pong <= slow_ping_pong; }
};

// Takes some ten milliseconds, for the ping-pong.
machine look_at_machine();

} // namespace thalweg::bench
