// SPDX-License-Identifier: BSL-1.0

#pragma once

// The rules of the stream checker for the messages of one origin: requests, decisions, outputs, the end.

#include <thalweg/protocol/detail/segment_check.hpp>

#include <unordered_map>
#include <unordered_set>

namespace thalweg::detail {

class strand_check {
public:
    explicit strand_check(std::vector<text> origin) : origin_(std::move(origin)) {}

    void on_message(const message& m, check_log& log);

    /// The run has ended; only for the session's own stream.
    void on_finish(check_log& log);

    /// The child may have been announced in a run before.
    void may_be_known() noexcept { may_be_known_ = true; }

    /// A message of another origin below this one.
    void on_nested(const message& m, check_log& log);

    [[nodiscard]] const std::vector<text>& origin() const noexcept { return origin_; }

private:
    enum class phase : unsigned char {
        idle,       // no request or compaction is open
        request,    // between request_begin and request_end
        compaction, // between compaction_begin and compaction_end
        limit,      // behind the notice at the turn limit
        ended,      // behind abort
    };
    enum class call_state : unsigned char {
        asked,   // complete, no decision yet
        skipped, // the driver went on without a decision: the run must be interrupted
        allowed,
        refused,      // denied or forbidden
        closure_only, // its stop reason is not completed
    };
    struct call {
        call_state state = call_state::asked;
        bool is_committed = false;
        bool has_output = false;
        segment_check output;
    };

    void check_head(const message& m, check_log& log);
    [[nodiscard]] bool is_before_boundary(const message& m);
    void start_run();
    void dispatch(const message& m, check_log& log);

    void on_driver(const message* m, check_log& log);
    void on_model_frame(const message& m, check_log& log);
    void on_model_complete(const message& m, check_log& log);
    void on_call(const message& m, check_log& log);
    void on_decision(const message& m, check_log& log);
    void on_output(const message& m, check_log& log);
    void on_placeholder(const message& m, check_log& log);
    void on_input(const message& m, check_log& log);
    void on_request_begin(const message& m, check_log& log);
    void on_request_end(const message& m, check_log& log);
    void on_usage(const message& m, check_log& log);
    void on_compaction_begin(const message& m, check_log& log);
    void on_compaction_end(const message& m, check_log& log);
    void on_abort(const message& m, check_log& log);

    // Every call of the last request that should have its output has it.
    void check_outputs(const message& m, check_log& log);
    void check_no_debt(const message* m, check_log& log);

    std::vector<text> origin_;
    phase phase_ = phase::idle;
    bool has_started_ = false;
    bool may_be_known_ = false;
    bool is_joined_ = false; // in the middle: nothing can be said before its next boundary
    bool in_tail_ = false;   // token_usage was the last message and request_end is due
    int usages_ = 0;         // of the open request
    bool last_failed_ = false;
    bool summary_framed_ = false; // of the current attempt of a compaction
    segment_check model_;
    std::unordered_map<text, call> calls_; // of the current turn
    std::unordered_set<text> used_ids_;
    text awaiting_decision_; // the call that the driver has just completed
    text awaiting_refusal_;  // the call whose synthetic output is due
    std::string debt_;       // why this run must be interrupted; empty if it need not
};

} // namespace thalweg::detail
