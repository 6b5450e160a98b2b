// SPDX-License-Identifier: BSL-1.0

#include "renderer.hpp"

#include "printable.hpp"

#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace cli {

using thalweg::frame;
using thalweg::kind;
using thalweg::message;

bool wants_color(std::FILE* file) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    if (no_color != nullptr && *no_color != '\0') return false;
    if (term == nullptr || std::string_view(term) == "dumb") return false;
    return ::isatty(::fileno(file)) == 1;
}

void renderer::write(std::FILE* file, style s, std::string_view text) const {
    static constexpr std::string_view codes[] = {"", "\x1b[2m", "\x1b[1m", "\x1b[31m"};
    const bool styled = color_ && s != style::plain;
    if (styled) std::fwrite(codes[static_cast<int>(s)].data(), 1, codes[static_cast<int>(s)].size(), file);
    std::fwrite(text.data(), 1, text.size(), file);
    if (styled) std::fputs("\x1b[0m", file);
}

void renderer::end_line(sheet& on) {
    if (std::exchange(on.in_line, false)) std::fputc('\n', on.file);
}

void renderer::flow(sheet& on, style s, std::string_view text) {
    if (text.empty()) return;
    if (std::exchange(asks_now_, false)) end_line(notes());
    write(on.file, s, printable(text));
    on.in_line = text.back() != '\n';
    std::fflush(on.file);
}

void renderer::own_line(style s, std::string_view text) {
    asks_now_ = false;
    sheet& on = notes();
    end_line(on);
    write(on.file, s, text);
    std::fputc('\n', on.file);
    std::fflush(on.file);
}

std::string renderer::name_of(const thalweg::text& id) const {
    const auto found = cards_.find(id.view());
    return found != cards_.end() ? found->second.name : one_line(id, 40);
}

void renderer::show(const message& m) {
    if (!m.origin().empty()) return; // children have cards of their own in another view
    show_message(m);
    put_question();
}

void renderer::show_message(const message& m) {
    const bool is_answer = m.kind() == kind::text || m.kind() == kind::thinking ||
                           m.kind() == kind::tool_call;
    if (is_answer) is_cut_ = m.stop() == thalweg::stop_reason::failed;
    switch (m.kind()) {
    case kind::partial_thinking: flow(notes(), style::dim, m.content()); break;
    case kind::partial_text: flow(answers_, style::plain, m.content()); break;
    case kind::thinking:
    case kind::text:
        if (!asks_now_) end_line(m.kind() == kind::text ? answers_ : notes());
        break;
    case kind::tool_call:
        cards_[m.tool_call_id().str()].name = one_line(m.name(), 40);
        own_line(style::bold, "● " + one_line(m.name(), 40) + " " + one_line(m.content(), 120));
        break;
    case kind::partial_tool_call_output:
        if (m.frame() == frame::delta) tool_output(m.tool_call_id(), m.content());
        if (!m.images().empty()) {
            own_line(style::dim, "  " + name_of(m.tool_call_id()) + " │ [" +
                                     std::to_string(m.images().size()) + " image(s)]");
        }
        break;
    case kind::tool_call_output: {
        card& c = cards_[m.tool_call_id().str()];
        flush_card(c);
        const bool good = m.stop() == thalweg::stop_reason::completed;
        if (m.stop() == thalweg::stop_reason::aborted && c.line.empty() && m.content().size() < 80) {
            own_line(style::red, "  " + c.name + " ✗ " + one_line(m.content(), 80));
        } else {
            own_line(good ? style::dim : style::red, "  " + c.name + (good ? " ✓" : " ✗"));
        }
        break;
    }
    default: show_event(m); break;
    }
}

/// Lines of one tool stay whole, whoever else is writing.
void renderer::tool_output(const thalweg::text& id, std::string_view piece) {
    card& c = cards_[id.str()];
    c.line += piece;
    for (auto end = c.line.find('\n'); end != std::string::npos; end = c.line.find('\n')) {
        own_line(style::dim, "  " + c.name + " │ " + one_line(c.line.substr(0, end), 200));
        c.line.erase(0, end + 1);
    }
}

void renderer::flush_card(card& c) {
    if (c.line.empty()) return;
    own_line(style::dim, "  " + c.name + " │ " + one_line(c.line, 200));
    c.line.clear();
}

void renderer::show_event(const message& m) {
    if (m.kind() == kind::request_begin) {
        is_cut_ = false;
        last_failure_.clear();
    }
    if (m.kind() == kind::approval_decision && m.decision() != thalweg::decision::allow) {
        own_line(style::red, "  " + name_of(m.tool_call_id()) + " was not allowed");
    }
    if (const auto* end = m.event_if<thalweg::request_end>()) show_request_end(*end);
    if (const auto* fault = m.event_if<thalweg::trace_fault>()) {
        own_line(style::red, "the trace cannot be written: " + one_line(fault->error, 400));
    }
    if (const auto* note = m.event_if<thalweg::notice>()) own_line(style::red, one_line(note->body, 400));
}

/// A request that failed for good ends its run, whose reason the caller tells.
void renderer::show_request_end(const thalweg::request_end& end) {
    if (end.status == thalweg::stop_reason::completed) {
        if (is_cut_)
            own_line(style::red, "the answer is cut off: the model's length or content limit was reached");
        return;
    }
    if (!end.error_message) return;
    if (!end.retry_in_ms) {
        last_failure_ = end.error_message->str();
        return;
    }
    own_line(style::red, "request failed: " + one_line(*end.error_message, 400) + " (again in " +
                             std::to_string(*end.retry_in_ms / 1000) + " s)");
}

void renderer::ask(const thalweg::text& call_id, std::string question) {
    asked_call_ = call_id.str();
    question_ = std::move(question);
    put_question();
}

void renderer::put_question() {
    if (question_.empty() || asks_now_ || cards_.find(asked_call_) == cards_.end()) return;
    sheet& on = notes();
    end_line(on);
    write(on.file, style::bold, question_);
    write(on.file, style::plain, " ");
    std::fflush(on.file);
    on.in_line = asks_now_ = true;
}

void renderer::stop_asking(bool ended_line) {
    question_.clear();
    if (asks_now_ && ended_line) notes().in_line = false;
    asks_now_ = false;
}

void renderer::finish(const thalweg::token_counts& usage) {
    end_line(answers_);
    end_line(notes());
    if (usage.total == 0) return;
    std::string line = std::to_string(usage.total) + " tokens, " + std::to_string(usage.output) +
                       " of them output";
    if (usage.cache_read > 0) line += ", " + std::to_string(usage.cache_read) + " from cache";
    own_line(style::dim, line);
}

} // namespace cli
