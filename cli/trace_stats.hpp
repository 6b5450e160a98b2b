// SPDX-License-Identifier: BSL-1.0

#pragma once

// `thalweg trace stats TARGET [SESSION]`: what recorded sessions, or a saved stream, are made of.

#include "trace_target.hpp"

#include <thalweg/protocol/message.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// Lengths of time in milliseconds.
class durations {
public:
    void add(std::int64_t ms) { all_.push_back(ms < 0 ? 0 : ms); } // below zero: the clock was set meanwhile
    struct summary {
        std::size_t count = 0;
        std::int64_t least = 0;
        std::int64_t median = 0; ///< of an even number of them, the mean of the two in the middle
        std::int64_t most = 0;
    };
    [[nodiscard]] summary sum_up() const;

private:
    std::vector<std::int64_t> all_;
};

/// Counts. Messages of children are counted as such and no further: their own traces have the rest.
class trace_statistics {
public:
    void begin_file();
    void add(const thalweg::message& m);
    void add_damage() { ++damaged_lines_; }

    [[nodiscard]] std::string as_text() const;
    /// One object on one line.
    [[nodiscard]] std::string as_json() const;

private:
    struct tool {
        std::size_t calls = 0;
        std::size_t failed = 0;  // by their output
        std::size_t aborted = 0; // interrupted
        std::size_t denied = 0;
        durations took; // from the decision to the output
    };
    struct call {
        std::string name;
        std::int64_t allowed_at = -1;
        bool is_denied = false;
    };

    void on_request_end(const thalweg::message& m);
    void on_call(const thalweg::message& m);
    void on_decision(const thalweg::message& m);
    void on_output(const thalweg::message& m);
    [[nodiscard]] std::string requests_as_text() const;
    [[nodiscard]] std::string tools_as_text() const;

    std::size_t files_ = 0;
    std::size_t records_ = 0;
    std::size_t of_children_ = 0;
    std::size_t damaged_lines_ = 0;
    std::map<std::string, std::size_t> kinds_;
    std::map<std::string, std::size_t> requests_; // by status
    std::size_t retries_ = 0;
    thalweg::token_counts tokens_;
    durations request_took_;
    std::map<std::string, tool> tools_;
    std::map<std::string, call> calls_; // of this file, by id
    std::int64_t request_at_ = -1;
};

[[nodiscard]] int trace_stats(const trace_target& target, bool as_json);

} // namespace cli
