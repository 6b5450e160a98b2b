// SPDX-License-Identifier: BSL-1.0

#pragma once

// The part of a session that does not depend on the types of its provider and environment. Users meet it
// through session.hpp.

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/engine/background.hpp>
#include <thalweg/engine/detached_run.hpp>
#include <thalweg/engine/resume.hpp>
#include <thalweg/engine/run_outcome.hpp>
#include <thalweg/engine/session_state.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace thalweg {

class guarded_trace;
class run_conductor;

class session_core final : private background_host {
public:
    session_core(provider_ref provider, environment_ref environment, session_options options)
        : state_(provider, environment, std::move(options)) {}
    session_core(const session_core&) = delete;
    session_core& operator=(const session_core&) = delete;
    ~session_core();

    [[nodiscard]] stream<message, run_outcome> run(std::vector<message> input, run_options options);
    [[nodiscard]] stream<message, compaction_outcome> compact();
    [[nodiscard]] stream<chunk, tool_result> run_under(tool_context parent, text prompt);
    [[nodiscard]] stream<chunk, tool_result> launch_under(tool_context parent, text prompt);
    bool stop_background(const text& id, cancel_reason why) { return background_.stop(id, why); }
    [[nodiscard]] std::size_t background_count() const noexcept { return background_.count(); }
    [[nodiscard]] result<void> restore(resumed_state from);

    bool interrupt(cancel_reason why);
    bool stop_after_answer();
    bool skip_retry_wait();
    bool detach(stream<message, run_outcome>&& run);
    [[nodiscard]] stream<message, run_outcome> attach();

    [[nodiscard]] steering_ticket steer(std::vector<message> input);
    bool unsteer(steering_ticket ticket) { return state_.steering.recall(ticket); }
    void notify(text report);
    [[nodiscard]] std::vector<message> take_notices() { return std::exchange(state_.notices, {}); }

    [[nodiscard]] bool is_running() const noexcept { return running_ != nullptr; }
    [[nodiscard]] bool is_compacting() const noexcept { return compacting_ != nullptr; }
    [[nodiscard]] thalweg::compactability compactability() const noexcept;
    [[nodiscard]] const session_state& state() const noexcept { return state_; }
    [[nodiscard]] result<std::vector<message>> history() const;

private:
    class compaction_work;
    class run_work;
    class sole_reader;
    struct life {
        std::uint64_t number_read = 0; // of the detached run that somebody reads; 0: nobody does
    };

    [[nodiscard]] stream<message, run_outcome> run_alive(std::shared_ptr<life> kept,
                                                         std::vector<message> input, run_options options);
    [[nodiscard]] stream<message, compaction_outcome> compact_alive(std::shared_ptr<life> kept);
    [[nodiscard]] stream<message, run_outcome> read_detached(std::shared_ptr<life> kept);
    [[nodiscard]] std::string list_tools();
    [[nodiscard]] std::string fault_of(std::span<const message> input) const;
    [[nodiscard]] std::string what_is_going_on() const;
    [[nodiscard]] task<void> record(std::span<const message> messages, guarded_trace& to);
    [[nodiscard]] task<void> write(std::span<const message> messages, guarded_trace& to);
    [[nodiscard]] std::vector<message> take_owed_records(loop& on);
    [[nodiscard]] std::vector<message> opening_records(const std::vector<message>& input, loop& on);
    [[nodiscard]] std::vector<message> take_input(std::vector<message> input);
    void adopt(text id, stream<chunk, tool_result> rest) override;
    void show(message m);
    void put_on_head(std::int64_t now_ms);

    session_state state_;
    std::shared_ptr<life> life_ = std::make_shared<life>(); // shared with streams that have not ended
    loop* loop_ = nullptr;                                  // of the runs, since the first one
    run_conductor* running_ = nullptr;
    const void* running_stream_ = nullptr; // stream::address() of that run
    compaction_work* compacting_ = nullptr;
    std::optional<compaction_end> open_compaction_; // what ends it, should it be left without an end
    std::vector<message> log_; // records that are in no trace: none is there, or it failed
    std::int64_t records_lost_ = 0;
    bool has_said_fault_ = false;
    bool is_announced_ = false; // its session_meta was forwarded to a parent
    // Last: they read runs of this and other sessions.
    background_runs background_{[this](message m) { show(std::move(m)); },
                                [this](text t) { notify(std::move(t)); }};
    std::uint64_t detached_number_ = 0;
    std::unique_ptr<detached_run> detached_;
};

} // namespace thalweg
