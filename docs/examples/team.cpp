// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent.hpp>
#include <thalweg/agent/compose.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <chrono>
#include <iostream>

using namespace thalweg;
using namespace std::chrono_literals;
using environments::no_tools;
using providers::answer;

task<int> work() {
    // Scripted, so that the program needs no key; any provider will do.
    providers::scripted library{
        answer().wait(20ms).text("Rivers erode ", "their outer bank.").with_gap(40ms)};
    providers::scripted doubts{answer().wait(40ms).text("Which river? ", "Under which flow?").with_gap(40ms)};
    providers::scripted pen{answer().text("A thalweg wanders because water digs where it is fast.")};

    agent researcher(std::ref(library), no_tools(), {.system = "Find facts.", .id = "researcher"});
    agent critic(std::ref(doubts), no_tools(), {.system = "Doubt them.", .id = "critic"});
    agent writer(std::ref(pen), no_tools(), {.system = "Write it up.", .id = "writer"});

    auto team = sequence(parallel(researcher, critic), writer);
    auto run = team.run("Why do thalwegs wander?");
    while (auto m = co_await run.next()) { // every member's messages, live, with their origin
        if (m->kind() == kind::partial_text && m->frame() == frame::delta)
            std::cout << m->origin().front().view() << ": " << m->content().view() << '\n';
    }
    for (const part& each : run.result().parts())
        std::cout << each.name().view() << (each.ok() ? " answered\n" : " failed\n");
    std::cout << run.result().answer() << '\n';
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return run_main(work);
}
