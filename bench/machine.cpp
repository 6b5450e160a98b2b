// SPDX-License-Identifier: BSL-1.0

#include "machine.hpp"

#include <atomic>
#include <chrono>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <sys/utsname.h>
#include <thread>

#ifndef THALWEG_BENCH_FLAGS
#define THALWEG_BENCH_FLAGS ""
#endif

namespace thalweg::bench {
namespace {

std::string cpu_name() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

std::string kernel_name() {
    utsname name{};
    if (uname(&name) != 0) return "unknown";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string compiler_name() {
#if defined(__clang__)
    return std::string("clang ") + __clang_version__;
#else
    return std::string("g++ ") + __VERSION__;
#endif
}

std::string standard_library() {
#if defined(_GLIBCXX_RELEASE)
    return std::to_string(_GLIBCXX_RELEASE) + " (" + std::to_string(__GLIBCXX__) + ")";
#else
    return "unknown";
#endif
}

double load_now() {
    double load = 0;
    std::ifstream("/proc/loadavg") >> load;
    return load;
}

void pin(pthread_t thread, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(thread, sizeof set, &set); // a refusal shows in the figure
}

// Two allowed cores, or fewer entries.
std::vector<int> two_cores() {
    std::vector<int> cores;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
    for (int cpu = 0; cpu < CPU_SETSIZE && cores.size() < 2; ++cpu)
        if (CPU_ISSET(cpu, &allowed)) cores.push_back(cpu);
    return cores;
}

// The best of a few attempts: it describes the machine, not the moment at which the scheduler looked away.
double ping_pong_ns() {
    constexpr int trips = 10000;
    constexpr int attempts = 5;
    const std::vector<int> cores = two_cores();
    if (cores.size() < 2) return 0;

    double best = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::atomic<int> ball{0};
        std::atomic<bool> there{false};
        std::thread other([&] {
            pin(pthread_self(), cores[1]);
            there.store(true);
            for (int trip = 0; trip < trips; ++trip) {
                while (ball.load(std::memory_order_acquire) != 2 * trip + 1) {}
                ball.store(2 * trip + 2, std::memory_order_release);
            }
        });
        double elapsed = 0;
        std::thread one([&] {
            pin(pthread_self(), cores[0]);
            while (!there.load()) {}
            const auto start = std::chrono::steady_clock::now();
            for (int trip = 0; trip < trips; ++trip) {
                ball.store(2 * trip + 1, std::memory_order_release);
                while (ball.load(std::memory_order_acquire) != 2 * trip + 2) {}
            }
            elapsed = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start)
                          .count();
        });
        one.join();
        other.join();
        const double one_way = elapsed / (2.0 * trips);
        if (attempt == 0 || one_way < best) best = one_way;
    }
    return best;
}

} // namespace

machine look_at_machine() {
    machine here;
    here.load = load_now(); // before the ping-pong adds to it
    here.cpu = cpu_name();
    here.cores = std::thread::hardware_concurrency();
    here.kernel = kernel_name();
    here.compiler = compiler_name();
    here.flags = THALWEG_BENCH_FLAGS;
    here.libraries.emplace_back("libstdc++", standard_library());
    here.ping_pong = ping_pong_ns();
    return here;
}

} // namespace thalweg::bench
