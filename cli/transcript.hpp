// SPDX-License-Identifier: BSL-1.0

#pragma once

// Shows a conversation from its records to a person: prompts, answers, tool calls with the beginning of their
// output, and how runs were aborted. The work of compactions is left out; a line tells where one was.

#include <thalweg/protocol/message.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace cli {

class transcript {
public:
    static constexpr std::size_t max_output_lines = 8; ///< of a tool

    /// Writes to `out`, which stays the caller's.
    transcript(std::FILE* out, bool color) : out_(out), color_(color) {}

    /// Record by record, over all files of a session.
    void show(const thalweg::message& m);

private:
    void line(std::string_view style, const std::string& text);
    void block(std::string_view style, std::string_view prefix, std::string_view text);
    void show_output(const thalweg::message& m);

    std::FILE* out_;
    bool color_;
    bool in_compaction_ = false;
    bool is_summary_next_ = false;
    std::map<std::string, std::string, std::less<>> names_; // of tools, by call
};

} // namespace cli
