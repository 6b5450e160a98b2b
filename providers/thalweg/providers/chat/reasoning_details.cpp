// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat/reasoning_details.hpp>

#include <algorithm>

namespace thalweg::providers::detail {

namespace {

bool is_joined(std::string_view key) {
    return key == "text" || key == "summary";
}

std::string raw_member(const json::view& object, std::string_view key) {
    const auto found = object.find(key);
    return found ? std::string(found->raw()) : std::string();
}

} // namespace

void reasoning_details::add(const json::view& array) {
    for (const json::view each : array.elements())
        if (each.is_object()) add_entry(each);
}

void reasoning_details::add_entry(const json::view& object) {
    const std::string type = raw_member(object, "type");
    const std::string index = raw_member(object, "index");
    const bool is_text = type == R"("reasoning.text")" || type == R"("reasoning.summary")";
    const auto same = [&](const entry& each) { return each.type == type && each.index == index; };
    entry* to = nullptr;
    if (is_text)
        if (const auto known = std::find_if(entries_.rbegin(), entries_.rend(), same);
            known != entries_.rend())
            to = &*known;
    if (to == nullptr) to = &entries_.emplace_back(entry{type, index, {}});
    for (const json::member& each : object.members())
        add_member(*to, each);
}

void reasoning_details::add_member(entry& to, const json::member& from) {
    const auto same = [&](const member& each) { return each.key == from.key_raw; };
    auto at = std::find_if(to.members.begin(), to.members.end(), same);
    if (at == to.members.end()) at = to.members.insert(at, member{std::string(from.key_raw), {}, {}, false});
    const auto text = from.value.as_string();
    if (text && is_joined(from.key)) {
        at->is_text = true;
        at->text += *text;
        return;
    }
    const bool says_nothing = from.value.is_null() || (text && text->empty());
    if (at->is_text || (says_nothing && !at->raw.empty())) return;
    at->raw = from.value.raw();
}

void reasoning_details::take(std::string& out) {
    out += '[';
    for (const entry& each : entries_) {
        if (&each != entries_.data()) out += ',';
        out += '{';
        for (const member& part : each.members) {
            if (&part != each.members.data()) out += ',';
            out.append(part.key).append(":");
            if (part.is_text)
                json::append_string(out, part.text);
            else
                json::append_compact(out, part.raw);
        }
        out += '}';
    }
    out += ']';
    entries_.clear();
}

} // namespace thalweg::providers::detail
