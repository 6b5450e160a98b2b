// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a session keeps from run to run. Runs and compactions work on it directly, one of them at a time;
// nobody else sees it.

#include <thalweg/engine/id_registry.hpp>
#include <thalweg/engine/seams.hpp>
#include <thalweg/engine/session_options.hpp>
#include <thalweg/engine/steering.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace thalweg {

struct session_state {
    session_state(provider_ref model, environment_ref tool_box, session_options chosen)
        : provider(model), environment(tool_box), options(std::move(chosen)) {}

    /// Begins an empty context (R-ENG-74).
    void begin_context(std::optional<message> summary) {
        context.clear();
        context_number++;
        pending_summary = std::move(summary);
        context_size = 0;
        turns = 0;
        is_compacted = true;
        is_first_total = true;
    }
    /// The same for a context that a resume brought back.
    void resume_trigger(std::int64_t first_total) {
        is_first_total = first_total == 0;
        if (first_total > 0 && options.compaction) {
            size_that_rests = first_total + options.compaction->max_context_length / 10;
        }
    }
    /// A completed request was as big as `total` tokens.
    void note_total(std::int64_t total) {
        context_size = total;
        if (!std::exchange(is_first_total, false) || !options.compaction) return;
        const std::int64_t limit = options.compaction->max_context_length;
        size_that_rests = total + limit / 10;
        is_stalled = limit > 0 && total >= limit;
    }

    provider_ref provider;
    environment_ref environment;
    std::chrono::milliseconds grace{0}; // of the run or compaction under way (R-ENG-35)
    session_options options;

    std::vector<message> context;           // committed, in the order for the model; only grows (R-ENG-02)
    std::vector<message> carry_over;        // in front of the next run's input (R-ENG-42)
    std::optional<message> pending_summary; // in front of that (R-ENG-76)
    std::vector<tool_definition> tools;
    id_registry ids;
    token_counts usage;
    token_counts unreported_usage; // of failed attempts; joins the next token_usage (D-03)

    int context_number = 0;           // rises with each compaction
    std::int64_t context_size = 0;    // tokens of the last request
    int turns = 0;                    // completed requests of runs in this context
    bool is_compacted = false;        // this context came from a compaction
    bool is_first_total = false;      // the first request after a compaction is still to come
    std::int64_t size_that_rests = 0; // up to it a compaction would bring nothing (D-25)
    bool is_stalled = false;          // the last compaction brought nothing; to be said once
    std::size_t repairs = 0;          // of a history that was handed over; to be said once
    bool is_refused = false;          // the provider refused the context as too long; to be said

    steering_queue steering;
    std::vector<message> notices;     // background results, not yet delivered (R-ENG-64)
    std::optional<trace_fault> fault; // not yet said on the stream
    bool is_opened = false;           // the first run has begun
    text response_schema;             // what the answers of an agent's run are to fit; empty: anything
    bool sends_facts = false;         // the run under way sends facts beside its messages (R-EVT-101)
    bool quotes_faults = false;       // what a provider throws is said without words around it
};

} // namespace thalweg
