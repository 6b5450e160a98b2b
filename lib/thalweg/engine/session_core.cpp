// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/session_core.hpp>

#include <thalweg/async/scope.hpp>
#include <thalweg/engine/run_conductor.hpp>

#include <algorithm>
#include <iterator>

namespace thalweg {

stream<message, run_outcome> session_core::run(std::vector<message> input, run_options options) {
    if (is_running()) {
        co_return run_outcome(run_outcome::end::busy, "another run of this session is going on; wait for its end, or "
                                                      "interrupt it first");
    }
    const context here = co_await this_coroutine();
    run_conductor conductor(*this, options, here);
    for (message& m : input) {
        if (!m.has_timestamp()) m.stamp(here.loop().wall_ms());
    }
    std::vector<message> records = opening_records(input, here.loop());
    co_await record(records);
    if (!records.empty() && records.back().kind() == kind::tool_list_ready) co_yield std::move(records.back());

    scope work(here);
    work.spawn(conductor.conduct(take_input(std::move(input))), conductor.context());
    for (;;) {
        const std::span<message> batch = co_await conductor.point().next_batch();
        if (batch.empty()) break;
        if (options_.trace != nullptr) co_await record(batch);
        for (message& m : batch) co_yield std::move(m);
    }
    co_await work.join();
    co_return std::move(conductor.outcome());
}

bool session_core::interrupt(cancel_reason why) { return running_ != nullptr && running_->interrupt(why); }

/// What is recorded before the first request, in order (R-ENG-06, R-ENG-90): the session's head, the input, the tools.
std::vector<message> session_core::opening_records(const std::vector<message>& input, loop& on) {
    tools_ = environment_.tools();
    std::vector<message> records;
    const bool first = !std::exchange(opened_, true);
    if (first && options_.meta) records.push_back(message::session_meta(*options_.meta));
    records.insert(records.end(), input.begin(), input.end());
    if (first && options_.meta) records.push_back(message::event(tool_list_ready{tools_}));
    for (message& m : records) {
        if (!m.has_timestamp()) m.stamp(on.wall_ms());
    }
    return records;
}

std::vector<message> session_core::take_input(std::vector<message> input) {
    std::vector<message> all = std::exchange(carry_over_, {});
    all.insert(all.end(), std::move_iterator(input.begin()), std::move_iterator(input.end()));
    return all;
}

/// A trace that cannot be written never stops a run; it is said once and counted (D-24).
task<void> session_core::record(std::span<const message> messages) {
    if (options_.trace == nullptr) co_return;
    const auto recordable = std::count_if(messages.begin(), messages.end(),
                                          [](const message& m) { return m.is_recordable(); });
    if (recordable == 0) co_return;
    const auto written = co_await options_.trace->write(messages);
    if (written) co_return;
    const bool already_said = records_lost_ > 0;
    records_lost_ += recordable;
    if (!already_said) {
        fault_ = trace_fault{text(options_.trace->path()), text(written.error().message()), records_lost_};
    } else if (fault_) {
        fault_->lost = records_lost_;
    }
}

} // namespace thalweg
