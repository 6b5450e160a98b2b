// SPDX-License-Identifier: BSL-1.0

#pragma once

// Messages that wait for a polling point (R-EVT-47). Loop thread.

#include <thalweg/agent/agent_options.hpp>

#include <deque>
#include <iterator>
#include <utility>
#include <vector>

namespace thalweg {

/// Only what the user or the program says can be put in; answers and results are for the run to make.
[[nodiscard]] inline bool is_input(const agent_message& m) noexcept {
    return m.kind() == agent_message::type::user || m.kind() == agent_message::type::custom;
}

class agent_queue {
public:
    explicit agent_queue(queue_mode mode) noexcept : mode_(mode) {}

    void push(agent_message m) { waiting_.push_back(std::move(m)); }
    void clear() noexcept { waiting_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

    /// What one poll gives.
    [[nodiscard]] std::vector<agent_message> take() {
        std::vector<agent_message> taken;
        while (!waiting_.empty() && (mode_ == queue_mode::all || taken.empty())) {
            taken.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        return taken;
    }

private:
    queue_mode mode_;
    std::deque<agent_message> waiting_;
};

} // namespace thalweg
