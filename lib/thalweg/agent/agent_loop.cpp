// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_loop.hpp>

#include <thalweg/agent/agent_view.hpp>
#include <thalweg/agent/detail/agent_conductor.hpp>

#include <algorithm>

namespace thalweg {

std::string agent_outcome::answer() const {
    const auto last = std::find_if(messages_.rbegin(), messages_.rend(), [](const agent_message& m) {
        return m.kind() == agent_message::type::assistant;
    });
    return last == messages_.rend() ? std::string() : last->content().joined_text();
}

std::vector<agent_message> convert_standard(std::vector<agent_message> messages) {
    std::erase_if(messages, [](const agent_message& m) { return m.kind() == agent_message::type::custom; });
    return messages;
}

stream<agent_step, agent_outcome> agent_steps(provider_ref provider, environment_ref tools, agent_task task,
                                              std::shared_ptr<const agent_options> options) {
    const context here = co_await this_coroutine();
    if (task.prompts.empty()) {
        if (task.transcript.empty()) {
            co_return agent_outcome(agent_errc::empty,
                                    "there is nothing to continue from: no prompt and no transcript");
        }
        if (task.transcript.back().kind() == agent_message::type::assistant) {
            co_return agent_outcome(
                agent_errc::assistant_tail,
                "the transcript ends with a message of the model; continue with a prompt");
        }
    }
    agent_view view(task.customs);
    detail::agent_conductor conductor(provider, tools, std::move(task), std::move(options), here);
    scope producers(conductor.context());
    producers.spawn(conductor.conduct());
    for (;;) {
        const std::span<message> batch = co_await conductor.point().next_batch();
        if (batch.empty()) break;
        for (message& m : batch) {
            if (conductor.is_mark(m)) {
                conductor.reach_mark();
                continue;
            }
            if (m.is_trace_only()) continue;
            const std::span<const agent_event> events = view.feed(m);
            for (const agent_event& e : events)
                conductor.note(e);
            co_yield agent_step(std::move(m), events);
        }
    }
    co_await producers.join();
    co_return conductor.outcome();
}

stream<agent_event, agent_outcome> agent_events(stream<agent_step, agent_outcome> steps) {
    for (;;) {
        const agent_step* step = co_await steps.peek();
        if (step == nullptr) break;
        for (const agent_event& e : step->events)
            co_yield e;
    }
    co_return std::move(steps.result());
}

} // namespace thalweg
