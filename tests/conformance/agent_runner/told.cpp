// SPDX-License-Identifier: BSL-1.0

#include "told.hpp"

#include <algorithm>

namespace conformance {

using namespace thalweg;

namespace {

std::string line(const char* what, const text& id, std::string_view words) {
    return std::string(what) + " " + id.str() + ": " + std::string(words);
}

void add(std::vector<std::string>& to, const content_block& b) {
    switch (b.kind()) {
    case content_block::type::text:
        if (!b.content().empty()) to.push_back(line("answer", {}, b.content()));
        break;
    case content_block::type::thinking: to.push_back(line("thinking", {}, b.content())); break;
    case content_block::type::tool_call: to.push_back(line("call", b.id(), b.name())); break;
    default: to.push_back(line("other", {}, b.content()));
    }
}

void add(std::vector<std::string>& to, const message& m) {
    switch (m.kind()) {
    case kind::text: to.push_back(line(m.role() == role::user ? "user" : "answer", {}, m.content())); break;
    case kind::thinking: to.push_back(line("thinking", {}, m.content())); break;
    case kind::tool_call: to.push_back(line("call", m.tool_call_id(), m.name())); break;
    case kind::tool_call_output: to.push_back(line("result", m.tool_call_id(), m.content())); break;
    default: to.push_back(line("other", {}, m.content()));
    }
}

} // namespace

bool is_comparable(std::span<const agent_message> messages) {
    return std::none_of(messages.begin(), messages.end(), [](const agent_message& m) {
        return m.kind() == agent_message::type::assistant && m.is_broken();
    });
}

std::vector<std::string> told_by(std::span<const agent_message> messages) {
    std::vector<std::string> all;
    for (const agent_message& m : messages) {
        if (m.kind() == agent_message::type::assistant) {
            for (const content_block& b : m.content())
                add(all, b);
        } else if (m.kind() == agent_message::type::tool_result) {
            all.push_back(line("result", m.tool_call_id(), m.content().joined_text()));
        } else {
            all.push_back(line("user", {}, m.content().joined_text()));
        }
    }
    return all;
}

std::vector<std::string> told_by(const model_request& request) {
    std::vector<std::string> all;
    for (const message& m : request.history())
        add(all, m);
    for (const message& m : request.input())
        add(all, m);
    return all;
}

} // namespace conformance
