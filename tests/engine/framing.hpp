// SPDX-License-Identifier: BSL-1.0

#pragma once

// Messages as short words, for comparisons that read well: "partial_text:delta:Hel",
// "tool_call:{}:completed".

#include <thalweg/protocol/message.hpp>

#include <span>
#include <string>
#include <vector>

inline std::string word_of(const thalweg::message& m) {
    std::string word(m.type_name().view());
    if (m.frame() != thalweg::frame::none) word += ":" + std::string(to_string(m.frame()));
    if (!m.name().empty()) word += ":" + m.name().str();
    if (!m.content().empty()) word += ":" + m.content().str();
    if (!m.tool_call_id().empty()) word += ":" + m.tool_call_id().str();
    if (m.kind() == thalweg::kind::approval_decision) word += ":" + std::string(to_string(m.decision()));
    if (m.stop() != thalweg::stop_reason::completed && m.stop() != thalweg::stop_reason::none) {
        word += ":" + std::string(to_string(m.stop()));
    }
    if (const auto* end = m.event_if<thalweg::request_end>())
        word += ":" + std::string(to_string(end->status));
    if (const auto* last = m.event_if<thalweg::run_abort>()) word += ":" + last->reason->str();
    return word;
}

using words = std::vector<std::string>;

inline words words_of(std::span<const thalweg::message> messages) {
    words all;
    for (const thalweg::message& m : messages)
        all.push_back(word_of(m));
    return all;
}
