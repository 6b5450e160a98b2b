// SPDX-License-Identifier: BSL-1.0

#pragma once

// The rules of a trace, record by record. What the stream checker knows from frames is not in a trace; what
// only a trace holds (the prompts, the requests of a compaction, the places where a process ended) is not on
// a stream, so the two share no state machine.
//
// A place that only the end of a process explains is a note, for resuming repairs it. For the sources of this
// room.

#include <thalweg/trace/check.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace thalweg::trace::detail {

class trace_check {
public:
    explicit trace_check(check_report& into) : report_(&into) {}

    void on_record(const message& m, std::size_t line);
    /// Behind the last record.
    void on_end();

private:
    enum class phase : unsigned char {
        idle,    // no request is open
        request, // between request_begin and request_end
        limit,   // behind the notice at the turn limit
        ended,   // behind abort
    };
    enum class call_state : unsigned char {
        asked,   // complete, no decision yet
        skipped, // the driver went on without a decision: the run must be interrupted
        allowed,
        refused,      // denied or forbidden
        closure_only, // its stop reason is not completed
        rejected,     // made in answer to a compaction: never run, answered by a repair
    };
    struct call {
        call_state state = call_state::asked;
        bool is_committed = false;
        bool has_output = false;
    };
    using words = std::initializer_list<std::string_view>;

    void fault(std::string_view rule, words parts) { add(severity::fault, rule, parts); }
    void note(std::string_view rule, words parts) { add(severity::note, rule, parts); }
    void add(severity how, std::string_view rule, words parts);

    [[nodiscard]] bool belongs(const message& m);
    void check_place(const message& m);
    void dispatch(const message& m);
    void on_driver(const message& m);
    void on_input(const message& m);
    void on_model(const message& m);
    void on_call(const message& m);
    void on_decision(const message& m);
    void decide(const message& m, call& about, bool is_due);
    void on_output(const message& m);
    void on_request_begin();
    void on_request_end(const message& m);
    void on_usage(const message& m);
    void on_compaction_begin(const message& m);
    void on_compaction_end(const message& m);
    void on_abort();

    // Calls that must have their output by now. Each is told once.
    void check_outputs(severity how, std::string_view what);
    void end_of_process(std::string_view what);

    check_report* report_;
    std::size_t line_ = 0;
    bool has_started_ = false;
    bool is_closed_ = false; // by a completed compaction
    bool in_compaction_ = false;
    phase phase_ = phase::idle;
    bool in_tail_ = false; // token_usage was the last record
    int usages_ = 0;       // of the open request
    std::int64_t session_total_ = 0;
    bool last_failed_ = false;
    std::unordered_map<text, call> calls_; // of the current turn
    std::unordered_set<text> used_ids_;
    text awaiting_decision_;
    text awaiting_refusal_;
    std::string debt_; // why this run must be interrupted
};

} // namespace thalweg::trace::detail
