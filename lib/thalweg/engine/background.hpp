// SPDX-License-Identifier: BSL-1.0

#pragma once

// What tools of a session have left running: child sessions in the background. They belong to the session,
// not to the run that started them, and an interrupt of a run does not reach them (R-ENG-84).
//
// Thread rule: loop thread. Destroying it drops what still runs.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/protocol/environment.hpp>

#include <functional>
#include <list>
#include <optional>
#include <string>

namespace thalweg {

class background_runs {
public:
    /// `show` gets each forwarded message, `report` the notice at the end of each; both as long as this
    /// object lives.
    background_runs(std::function<void(message)> show, std::function<void(text)> report)
        : show_(std::move(show)), report_(std::move(report)) {}
    background_runs(const background_runs&) = delete;

    void adopt(text id, stream<chunk, tool_result> rest, loop& on);
    /// Asks one, or all (empty), to stop; they end in order and are reported. False when there is none.
    bool stop(const text& id, cancel_reason why);
    [[nodiscard]] std::size_t count() const noexcept;

private:
    struct run {
        run(text named, stream<chunk, tool_result> left, loop& on)
            : id(std::move(named)), rest(std::move(left)), context(on, cancel), work(context) {}
        text id;
        stream<chunk, tool_result> rest;
        bool has_ended = false;
        cancel_source cancel;
        thalweg::context context;
        scope work;
    };
    [[nodiscard]] task<void> pump(run& of);

    std::function<void(message)> show_;
    std::function<void(text)> report_;
    std::list<run> runs_;
};

} // namespace thalweg
