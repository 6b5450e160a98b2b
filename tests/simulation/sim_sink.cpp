// SPDX-License-Identifier: BSL-1.0

#include "simulation/sim_sink.hpp"

#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <coroutine>
#include <system_error>
#include <utility>

namespace thalweg::simulation {

using namespace std::chrono_literals;

sim_sink::sim_sink(plan next, mutator& how, std::vector<std::vector<message>> files,
                   std::vector<message> head)
    : next_(std::move(next)), how_(&how), inner_(std::move(head)), files_(std::move(files)) {
    begins_file_ = files_.empty();
}

task<result<void>> sim_sink::write(std::span<const message> messages) {
    const bool has_any = std::any_of(messages.begin(), messages.end(),
                                     [](const message& m) { return m.is_recordable(); });
    const trouble what = has_any ? next_() : trouble::none;
    switch (what) {
    case trouble::none: break;
    case trouble::fails:
        has_lost_ = true;
        inner_.fail_writes(1, error(std::make_error_code(std::errc::no_space_on_device), "simulated"));
        break;
    case trouble::slow: return write_later(messages, true);
    case trouble::deaf: has_lost_ = true; return write_later(messages, false);
    }
    return write_now(messages);
}

task<result<void>> sim_sink::write_later(std::span<const message> messages, bool ever) {
    co_await sleep_through(20ms);
    if (!ever) co_await std::suspend_always();
    co_return co_await write_now(messages);
}

task<result<void>> sim_sink::write_now(std::span<const message> messages) {
    if (how_->is(mutant::record_of_fragment)) {
        for (const message& m : messages) {
            if (m.is_partial() && m.origin().empty() && how_->strikes(mutant::record_of_fragment)) keep(m);
        }
    }
    task<result<void>> written = inner_.write(messages);
    take_over();
    return written;
}

void sim_sink::rotate() {
    inner_.rotate();
    if (how_->strikes(mutant::rotation_lost)) return;
    begins_file_ = true;
}

/// What the inner sink has got since the last time.
void sim_sink::take_over() {
    std::vector<message> late = std::exchange(held_, {});
    const auto& files = inner_.files();
    while (taken_files_ < files.size()) {
        const auto& file = files[taken_files_];
        for (; taken_records_ < file.size(); ++taken_records_) {
            const message& m = file[taken_records_];
            if (how_->strikes(mutant::record_dropped)) continue;
            if (how_->strikes(mutant::record_doubled)) keep(m);
            if (how_->strikes(mutant::record_late) ||
                (held_.empty() && how_->strikes(mutant::records_swapped))) {
                held_.push_back(m);
                continue;
            }
            keep(m);
            if (how_->is(mutant::records_swapped) && !held_.empty()) keep(std::exchange(held_, {}).front());
        }
        if (taken_files_ + 1 == files.size()) break;
        ++taken_files_;
        taken_records_ = 0;
    }
    for (message& m : late)
        keep(std::move(m));
}

void sim_sink::keep(message m) {
    if (std::exchange(begins_file_, false)) files_.emplace_back();
    files_.back().push_back(std::move(m));
}

} // namespace thalweg::simulation
