// SPDX-License-Identifier: BSL-1.0

#pragma once

// Says what is wrong with a trace, or with a run's stream that was saved by `--json`, line by line. Which of
// the two it is shows in the content. Nothing is printed and nothing changed; the caller has the findings as
// values.
//
// A fault breaks a promise of this library, or of the file format. A note tells what is no fault: a torn last
// line, or a place where only the end of the writing process explains what is missing; resuming the session
// repairs both.
//
// What a trace is asked for:
// every line is a record (R-TRC-11, R-TRC-20); session_meta first and once (R-PRO-41); no frames, nothing of
// a child (R-TRC-10); requests begin and end in turn, with model messages inside only (R-ENG-10); one
// decision for each call, behind it and before its output (R-ENG-20, 21, 23); the refused call's aborted
// output at once (R-ENG-24); one output for each committed call, before the next request (R-ENG-14, 40); ids
// used once (R-PRO-13); token_usage once in a completed request and directly before its end (R-ENG-16, D-04);
// session counts that only grow (R-ENG-17); compactions begin and end in turn, and a completed one closes the
// file (R-ENG-71, 75); abort last in its run (R-ENG-37).
//
// A stream is asked for what stream_checker asks for. Blocks for as long as reading takes; memory grows with
// the ids of the calls, and for a stream with the number of its lines. One thread.

#include <thalweg/trace/reader.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace thalweg::trace {

enum class severity : std::uint8_t { note, fault };

struct finding {
    std::size_t line = 0; ///< from 1; 0: of no line in particular
    severity how = severity::fault;
    std::string rule; ///< its number
    std::string text; ///< a sentence
};

enum class check_as : std::uint8_t {
    detect, ///< a trace begins with session_meta or user input, a stream has frames or messages of children
    trace,
    stream,
};

struct check_report {
    static constexpr std::size_t max_kept = 1000; ///< findings beyond are counted, but not kept

    std::string name; ///< of the file, as given
    bool is_stream = false;
    std::vector<finding> findings; ///< by line
    std::size_t fault_count = 0;
    std::size_t note_count = 0;
    std::size_t records = 0; ///< readable ones
    std::size_t requests = 0;
    std::size_t calls = 0; ///< complete tool calls

    [[nodiscard]] bool ok() const noexcept { return fault_count == 0; }
};

/// Reads `from` to its end.
[[nodiscard]] check_report check(reader& from, std::string name, check_as how = check_as::detect);

/// Errors: what the system says about a file that cannot be opened.
[[nodiscard]] result<check_report> check_file(const std::string& path, check_as how = check_as::detect);

/// `FILE:LINE: sentence (rule)`, with `note: ` in front of a note's sentence. No line end.
[[nodiscard]] std::string describe(const check_report& in, const finding& f);

/// One line: what was read and how many faults and notes there are. No line end.
[[nodiscard]] std::string summary(const check_report& of);

} // namespace thalweg::trace
