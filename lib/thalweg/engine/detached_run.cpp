// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/detached_run.hpp>

#include <string>
#include <utility>

namespace thalweg {

detached_run::detached_run(stream<message, run_outcome> run, loop& on, tail_limits limits)
    : run_(std::move(run)), limits_(limits), context_(on, cancel_), reading_(context_) {
    reading_.spawn(pump());
}

task<void> detached_run::pump() {
    const context here = co_await this_coroutine();
    while (auto m = co_await run_.next()) {
        keep(std::move(*m));
    }
    outcome_ = std::move(run_.result());
    bell_.close();
    static_cast<void>(here);
}

void detached_run::keep(message m) {
    bytes_ += m.content().size();
    tail_.push_back(std::move(m));
    while (tail_.size() > limits_.messages || (bytes_ > limits_.bytes && tail_.size() > 1)) {
        bytes_ -= tail_.front().content().size();
        tail_.pop_front();
        ++dropped_;
    }
    const bool rung = bell_.try_send(true);
    static_cast<void>(rung); // it rings already
}

task<std::optional<message>> detached_run::next() {
    std::optional<message> found;
    while (tail_.empty() && !has_ended()) {
        const auto rung = co_await bell_.receive();
        const context here = co_await this_coroutine();
        if (!rung && here.stop_requested()) co_return found;
    }
    if (dropped_ > 0) {
        notice cut;
        cut.code = text("tail_cut");
        cut.body = text(std::to_string(dropped_) +
                        " earlier messages of this run are not kept; the trace has "
                        "those that are recorded");
        dropped_ = 0;
        const context here = co_await this_coroutine();
        found = message::event(std::move(cut));
        found->stamp(here.loop().wall_ms());
    } else if (!tail_.empty()) {
        found = std::move(tail_.front());
        tail_.pop_front();
        bytes_ -= found->content().size();
    }
    co_return found;
}

} // namespace thalweg
