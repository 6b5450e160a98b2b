// SPDX-License-Identifier: BSL-1.0

#pragma once

// The calls of one answer, from the end of the answer to the end of the turn (R-EVT-102, state tools): which
// events their facts give, and what stands in for facts that never came, so that every start has its end and
// every call its result. For the sources of this room only.

#include <thalweg/agent/detail/answer_builder.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace thalweg::detail {

class call_batch {
public:
    /// The batch of a finished answer. Of a broken one no call was to run: what has run all the same is shown
    /// without a result message (C2), and the others get results made up (C14).
    void begin(std::span<const answer_builder::call> calls, agent_stop stop);

    /// A fact about a call. Facts about unknown calls, and progress behind a call's end, give nothing (C21).
    void on_fact(const message& m, event_slots& out);
    /// The turn ends: what is missing is made up.
    void close(std::int64_t timestamp, event_slots& out);

    [[nodiscard]] bool is_empty() const noexcept { return records_.empty(); }
    /// A body has begun and not ended.
    [[nodiscard]] bool is_running() const noexcept { return running_ > 0; }
    /// The result messages so far, in order.
    [[nodiscard]] const std::vector<agent_message>& results() const noexcept { return results_; }

private:
    struct record {
        text id;
        text name;
        text arguments;
        bool is_cut = false;
        bool has_started = false;
        bool has_run = false;
        bool has_ended = false;
        bool is_settled = false;
        bool is_error = false;
        tool_output output;
        std::unique_ptr<growing_text> streamed; // since the first delta
    };

    [[nodiscard]] record* find(const text& id);
    void start(record& call, const text& label, event_slots& out);
    void begin_body(record& call) noexcept;
    void update(record& call, tool_output shown, event_slots& out);
    void on_delta(record& call, const message& m, event_slots& out);
    void end(record& call, tool_output result, bool is_error, event_slots& out);
    void settle(record& call, std::int64_t timestamp, event_slots& out);
    [[nodiscard]] std::string_view placeholder(const record& call) const noexcept;

    std::deque<record> records_;
    std::unordered_map<text, record*> by_id_;
    record* last_ = nullptr; // found
    std::size_t running_ = 0;
    agent_stop stop_ = agent_stop::stop;
    std::vector<agent_message> results_;
};

} // namespace thalweg::detail
