// SPDX-License-Identifier: BSL-1.0

#pragma once

// Shows a run's stream to a person while it arrives: thinking dimmed, answers as they come, a card for each
// tool with its output attributed by call id (outputs of several tools interleave), usage at the end. Plain
// text when color is off. Why a run did not end well is the caller's to say.

#include <thalweg/protocol/message.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace cli {

/// True if `file` is a terminal and nobody asked for plain text (NO_COLOR, TERM=dumb).
[[nodiscard]] bool wants_color(std::FILE* file);

class renderer {
public:
    /// Writes to `out`, which stays the caller's.
    renderer(std::FILE* out, bool color) : out_(out), color_(color) {}

    void show(const thalweg::message& m);
    /// Behind the last message: an open line is ended, the usage of the run shown.
    void finish(const thalweg::token_counts& usage);

private:
    struct card {
        std::string name;
        std::string line; // the unfinished last line of its output
    };
    enum class style : std::uint8_t { plain, dim, bold, red };

    void flow(style s, std::string_view text); // text that goes on on the same line
    void own_line(style s, std::string_view text);
    void tool_output(const thalweg::text& id, std::string_view piece);
    void flush_card(card& c);
    void show_event(const thalweg::message& m);
    [[nodiscard]] std::string name_of(const thalweg::text& id) const;
    void write(style s, std::string_view text);

    std::FILE* out_;
    bool color_;
    bool in_line_ = false; // the cursor is behind unfinished text
    std::map<std::string, card, std::less<>> cards_;
};

} // namespace cli
