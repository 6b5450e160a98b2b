// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/carry_over.hpp>

#include <optional>

namespace thalweg {

namespace {

/// The lines inside a text that is one whole block of ours, without their line end; empty optional if it is
/// none.
std::optional<std::string_view> inside_of_block(std::string_view text) {
    for (const std::string_view tag : {"turn_aborted", "turn_retried"}) {
        const std::string head = "[" + std::string(tag) + "]\n";
        const std::string tail = "[/" + std::string(tag) + "]";
        if (!text.starts_with(head) || !text.ends_with(tail)) continue;
        std::string_view inside = text.substr(head.size());
        inside.remove_suffix(tail.size());
        if (inside.find(head) != std::string_view::npos) continue;
        return inside;
    }
    return std::nullopt;
}

} // namespace

void turn_block::line(std::string_view content) {
    lines_ += "  ";
    lines_ += content;
    lines_ += '\n';
}

void turn_block::add_input(std::string_view text) {
    if (const auto inside = inside_of_block(text)) {
        lines_ += *inside;
        return;
    }
    line("[user_input]" + std::string(text) + "[/user_input]");
}

void turn_block::add_attempt(std::span<const message> segments, std::span<const message> outputs) {
    for (const message& m : segments) {
        if (m.kind() == kind::thinking) line("[thinking]" + m.content().str() + "[/thinking]");
        if (m.kind() == kind::text) line("[text]" + m.content().str() + "[/text]");
    }
    for (const message& m : segments) {
        if (m.kind() != kind::tool_call || m.stop() != stop_reason::completed) continue;
        line("[tool_call name=\"" + m.name().str() + "\" id=\"" + m.tool_call_id().str() + "\"]" +
             m.content().str() + "[/tool_call]");
    }
    for (const message& m : outputs) {
        line("[tool_call_output id=\"" + m.tool_call_id().str() + "\" status=\"" +
             std::string(to_string(m.stop())) + "\"]" + m.content().str() + "[/tool_call_output]");
    }
}

message turn_block::to_message() const {
    return message::user_text(text("[" + tag_ + "]\n" + lines_ + "[/" + tag_ + "]"));
}

} // namespace thalweg
