// SPDX-License-Identifier: BSL-1.0

#pragma once

// Watches the stream of a run and says which promise of the protocol it breaks, where, in a sentence.
//
// The streams of this library keep these rules; the checker is how its tests know, and how a user knows who
// wrote a provider, an environment or a renderer of their own. It reads a stream and changes nothing, at the
// cost of a look-up for each message and the content of the segments that are open.
//
// What each rule asks for. "Producer" is the model's driver (text, thinking, calls, decisions, usage, request
// events) or one tool call's output; another producer's messages may stand between any two messages of one.
// "Stream" is what has one origin: a child's stream is checked like a run of its own.
//
// - framing: start, deltas and stop of one segment in a row, nothing of the producer between; the complete
//   message is its next one; no segment stays open (R-PRO-20)
// - concatenation: the complete message is its deltas: content, images, name, stop reason (R-PRO-21)
// - frame_content: start and stop are empty; a call's name stands on its start frame only (R-PRO-22)
// - images: in one delta without text, right before the stop (R-PRO-23)
// - empty_delta: no delta without content (R-PRO-24)
// - approval: one decision for a completed call, the driver's next message behind it, before any output
//   (R-ENG-20, 21, 23); none only where the run is interrupted (R-ENG-25, D-20)
// - denial: a call that is not allowed gets its aborted output at once and no frames (R-ENG-24)
// - pairing: exactly one complete output for each committed call, nothing behind it (R-ENG-40); none for a
//   call that is closure only or unknown (R-PRO-28); ids are used once (R-PRO-13)
// - tail: request_end directly behind token_usage (R-ENG-15, D-04)
// - usage: one token_usage in a completed request, none in another (R-ENG-16)
// - request: begin and end alternate; model messages inside only (R-ENG-10), but for the framed notice at the
//   turn limit, which is failed (R-ENG-38)
// - turn_boundary: all outputs are complete before the next request, compaction or user input (R-ENG-14, 61)
// - compaction: begin and end alternate, outside of requests; between them only token_usage, or the summary's
//   frames (then without complete message) or its text (R-ENG-71)
// - end: abort once and last; behind the turn limit's notice nothing but facts about the run; a run whose
//   last request failed ends with abort (R-ENG-37, 38, 56)
// - head: session_meta first on a child's stream and once, never on one's own (R-PRO-41)
// - trace_only: no event that belongs to the trace only (R-ENG-82)
//
// A closed text or thinking segment without content may lack its complete message where its stop reason is
// not completed (R-PRO-27). Events that state facts about the run (trace_fault, notice, unknown ones) may
// stand anywhere but in a tail and behind an abort. A child may outlive the run, so an unfinished child is no
// fault.
//
// A plain object: one thread at a time. Never throws but for memory.

#include <thalweg/protocol/message.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace thalweg {

class stream_checker {
public:
    enum class rule : std::uint8_t {
        framing,
        concatenation,
        frame_content,
        images,
        empty_delta,
        approval,
        denial,
        pairing,
        tail,
        usage,
        request,
        turn_boundary,
        compaction,
        end,
        head,
        trace_only,
    };

    /// One broken promise.
    struct violation {
        stream_checker::rule rule;
        std::size_t message_index; ///< of the run, from 0; the number of messages where the end of the run is
                                   ///< the fault
        std::string text;          ///< a sentence: rule number, place, what is wrong
    };

    /// More are counted, but not kept.
    static constexpr std::size_t max_kept = 100;

    /// Whether a child whose session_meta has not been seen may be one of an earlier run that this checker
    /// was not fed with. Its session_meta in the middle of its stream is a fault either way.
    enum class children { are_announced, may_be_known };

    explicit stream_checker(children = children::are_announced);
    stream_checker(stream_checker&&) noexcept;
    stream_checker& operator=(stream_checker&&) noexcept;
    ~stream_checker();

    /// Takes the next message of the stream.
    void feed(const message& m);

    /// The stream has ended: checks that everything is closed and answered. Then the checker is ready for the
    /// next run of the same session; children that are known need no second session_meta (R-ENG-80).
    void finish();

    [[nodiscard]] bool ok() const noexcept;
    /// All violations of all runs so far, in stream order.
    [[nodiscard]] std::span<const violation> violations() const noexcept;
    [[nodiscard]] std::size_t violation_count() const noexcept;
    /// The sentences, one a line; empty if ok().
    [[nodiscard]] std::string report() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

[[nodiscard]] std::string_view to_string(stream_checker::rule r) noexcept;

} // namespace thalweg
