// SPDX-License-Identifier: BSL-1.0

#pragma once

// Shows a run's stream to a person while it arrives: thinking dimmed, answers as they come, a card for each
// tool with its output attributed by call id (outputs of several tools interleave), usage at the end. Plain
// text when color is off. Why a run did not end well is the caller's to say.
//
// What the model answers and everything else may go to two files, so that `thalweg run … > answer.txt` keeps
// the answer alone.

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
    /// Answers go to `answers`, everything else to `notes`, in color or not; both stay the caller's and may
    /// be the same.
    renderer(std::FILE* answers, std::FILE* notes, bool color)
        : answers_{answers}, notes_{notes}, color_(color) {}
    renderer(std::FILE* out, bool color) : renderer(out, out, color) {}

    void show(const thalweg::message& m);
    /// Behind the last message: an open line is ended, the usage of the run shown.
    void finish(const thalweg::token_counts& usage);

    /// Puts a question about a call: behind its card, once that is shown, and again behind whatever is shown
    /// before the answer. One at a time.
    void ask(const thalweg::text& call_id, std::string question);
    /// The question is answered or taken back. `ended_line`: the answer's own line end is on the screen.
    void stop_asking(bool ended_line);

    /// What the last request said when it failed for good; empty if it did not.
    [[nodiscard]] const std::string& last_failure() const noexcept { return last_failure_; }

private:
    struct card {
        std::string name;
        std::string line; // the unfinished last line of its output
    };
    enum class style : std::uint8_t { plain, dim, bold, red };
    struct sheet {
        std::FILE* file;
        bool in_line = false; // the cursor is behind unfinished text
    };

    void show_message(const thalweg::message& m);
    void flow(sheet& on, style s, std::string_view text); // text that goes on on the same line
    void own_line(style s, std::string_view text);
    static void end_line(sheet& on);
    void tool_output(const thalweg::text& id, std::string_view piece);
    void flush_card(card& c);
    void show_event(const thalweg::message& m);
    void show_request_end(const thalweg::request_end& end);
    void put_question();
    [[nodiscard]] sheet& notes() noexcept { return notes_.file == answers_.file ? answers_ : notes_; }
    [[nodiscard]] std::string name_of(const thalweg::text& id) const;
    void write(std::FILE* file, style s, std::string_view text) const;

    sheet answers_;
    sheet notes_;
    bool color_;
    bool is_cut_ = false;   // the answer's last segment was cut by a limit (R-PRO-51)
    bool asks_now_ = false; // the question is on the screen, and nothing behind it
    std::string question_;
    std::string asked_call_;
    std::string last_failure_;
    std::map<std::string, card, std::less<>> cards_;
};

} // namespace cli
