// SPDX-License-Identifier: BSL-1.0

#include "transcript.hpp"

#include "printable.hpp"

#include <algorithm>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

constexpr std::string_view plain;
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view red = "\x1b[31m";

} // namespace

void transcript::line(std::string_view style, const std::string& text) {
    std::string all = color_ ? std::string(style) : std::string();
    all += text;
    if (color_ && !style.empty()) all += "\x1b[0m";
    all += '\n';
    std::fwrite(all.data(), 1, all.size(), out_);
}

void transcript::block(std::string_view style, std::string_view prefix, std::string_view text) {
    const std::string shown = printable(text);
    for (std::size_t from = 0; from <= shown.size();) {
        const auto end = std::min(shown.find('\n', from), shown.size());
        if (end < shown.size() || end > from)
            line(style, std::string(prefix) + shown.substr(from, end - from));
        from = end + 1;
    }
}

void transcript::show(const message& m) {
    if (const auto* end = m.event_if<compaction_end>()) {
        in_compaction_ = false;
        is_summary_next_ = end->status == stop_reason::completed;
        if (is_summary_next_) line(dim, "── the context was compacted here ──");
        return;
    }
    if (m.kind() == kind::compaction_begin) in_compaction_ = true;
    if (in_compaction_ || !m.is_recordable()) return;
    switch (m.kind()) {
    case kind::text:
        if (m.role() == role::assistant) return block(plain, "", m.content());
        if (std::exchange(is_summary_next_, false) && m.content().view().starts_with("[context_summary]\n"))
            return;
        return block(bold, "> ", m.content());
    case kind::image_url: return line(bold, "> [image]");
    case kind::inline_data: return line(plain, "[" + one_line(m.mime_type(), 60) + "]");
    case kind::thinking: return block(dim, "", m.content());
    case kind::tool_call:
        names_[m.tool_call_id().str()] = one_line(m.name(), 40);
        return line(bold, "● " + one_line(m.name(), 40) + " " + one_line(m.content(), 120));
    case kind::tool_call_output: return show_output(m);
    case kind::abort: {
        const auto& reason = m.event_if<run_abort>()->reason;
        return line(red, "✗ " + (reason ? one_line(*reason, 200) : std::string("aborted")));
    }
    default: return;
    }
}

void transcript::show_output(const message& m) {
    const auto found = names_.find(m.tool_call_id().view());
    const std::string name = found != names_.end() ? found->second : one_line(m.tool_call_id(), 40);
    const std::string_view text = m.content().view();
    std::size_t from = 0;
    std::size_t lines = 0;
    for (; from < text.size() && lines < max_output_lines; ++lines) {
        const auto end = std::min(text.find('\n', from), text.size());
        line(dim, "  " + name + " │ " + one_line(text.substr(from, end - from), 200));
        from = end + 1;
    }
    if (from < text.size())
        line(dim, "  " + name + " │ … " + std::to_string(text.size() - from) + " more bytes");
    const bool is_good = m.stop() == stop_reason::completed;
    line(is_good ? dim : red, "  " + name + (is_good ? " ✓" : " ✗"));
}

} // namespace cli
