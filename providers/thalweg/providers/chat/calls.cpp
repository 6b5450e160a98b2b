// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat/calls.hpp>

#include <algorithm>

namespace thalweg::providers::detail {

namespace {

constexpr bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The first byte of the text that `piece` adds which is no blank; escapes of blanks are blanks.
char first_letter(const chunk_call& piece) {
    auto raw = piece.arguments.bytes;
    while (!raw.empty()) {
        if (is_space(raw.front()))
            raw.remove_prefix(1);
        else if (raw.starts_with("\\n") || raw.starts_with("\\t") || raw.starts_with("\\r"))
            raw.remove_prefix(2);
        else
            return raw.front();
    }
    return '\0';
}

// Text of an id or a name. A bad escape in one of them is as good as none.
std::string_view plain(const wire::raw_string& raw, std::string& scratch) {
    if (!raw.escaped) return raw.bytes;
    scratch.clear();
    wire::string_joiner joiner;
    if (!joiner.append(raw.bytes, scratch)) scratch.clear();
    joiner.flush(scratch);
    return scratch;
}

} // namespace

void object_watch::feed(std::string_view json) noexcept {
    for (const char c : json)
        step(c);
}

void object_watch::step(char c) noexcept {
    if (state_ == state::other) return;
    if (in_string_) {
        if (escaped_)
            escaped_ = false;
        else if (c == '\\')
            escaped_ = true;
        else if (c == '"')
            in_string_ = false;
        return;
    }
    if (is_space(c)) return;
    if (state_ != state::open) {
        state_ = state_ == state::blank && c == '{' ? state::open : state::other;
        depth_ = 1;
        return;
    }
    if (c == '"') in_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if ((c == '}' || c == ']') && --depth_ == 0) state_ = state::whole;
}

call_list::entry* call_list::find(const chunk_call& piece, std::string_view id) {
    if (piece.is_whole || entries_.empty()) return nullptr;
    const auto newest = [this](auto&& matches) -> entry* {
        const auto at = std::find_if(entries_.rbegin(), entries_.rend(), matches);
        return at == entries_.rend() ? nullptr : &*at;
    };
    if (piece.index) {
        entry* current = newest([&](const entry& each) { return each.index == piece.index; });
        const bool differs = current != nullptr && !id.empty() && !current->id.empty() && current->id != id;
        return differs ? nullptr : current;
    }
    if (!id.empty()) return newest([&](const entry& each) { return each.id == id; });
    return &entries_.back();
}

// Whether a fragment with a name is the head of another call, although number and id say otherwise.
bool call_list::begins_new(const entry& current, std::string_view id, std::string_view name,
                           std::string_view arguments, bool& undecided) const {
    if (name.empty() || current.name.empty()) return false;
    const bool opens_object = arguments.starts_with('{');
    if (current.watch.is_whole() && opens_object) return true; // more would spoil a whole object
    if (name == current.name || (!id.empty() && id == current.id)) return false;
    undecided = !current.watch.is_whole() && !current.watch.is_blank();
    return true;
}

bool call_list::take(const chunk_call& piece, std::vector<delta>& out, std::string& complaint) {
    const std::string_view id = plain(piece.id, id_scratch_);
    const std::string_view name = plain(piece.name, name_scratch_);
    if (id.empty() && name.empty() && piece.arguments.bytes.empty() && !piece.index) return true;
    entry* current = find(piece, id);
    if (current != nullptr) {
        const char first = first_letter(piece);
        bool undecided = false;
        if (begins_new(*current, id, name, std::string_view(&first, 1), undecided)) {
            if (undecided) {
                complaint = "a fragment of a tool call names '" + std::string(name) +
                            "' in the middle of a call of '" + current->name +
                            "', without an id or a number of its own";
                return false;
            }
            current = nullptr;
        }
    }
    if (current == nullptr) {
        if (entries_.size() == most_calls) {
            complaint = "the answer has more than " + std::to_string(most_calls) + " tool calls";
            return false;
        }
        current = &entries_.emplace_back();
        current->index = piece.index;
    }
    if (current->id.empty()) current->id = id;
    if (current->name.empty()) current->name = name;
    if (!add_arguments(*current, piece, out)) {
        complaint = "the arguments of a tool call hold an escape that JSON does not know";
        return false;
    }
    if (waiting_bytes_ > most_bytes) {
        complaint = "the answer has more than " + std::to_string(most_bytes) + " bytes of tool calls";
        return false;
    }
    return true;
}

bool call_list::add_arguments(entry& to, const chunk_call& piece, std::vector<delta>& out) {
    const auto& raw = piece.arguments;
    std::string_view added = raw.bytes;
    if (!piece.arguments_are_json && (raw.escaped || to.joiner.waits())) {
        scratch_.clear();
        if (!to.joiner.append(raw.bytes, scratch_)) return false;
        added = scratch_;
    }
    to.watch.feed(added);
    if (to.live) {
        if (!added.empty()) out.push_back(delta::arguments(added));
        return true;
    }
    to.arguments += added;
    waiting_bytes_ += added.size();
    const bool is_first = &to == &entries_.front();
    if (is_first && !piece.is_whole && !to.id.empty() && !to.name.empty()) show(to, out);
    return true;
}

void call_list::show(entry& first, std::vector<delta>& out) {
    first.live = true;
    out.push_back(delta::call(first.id, first.name));
    if (first.arguments.empty()) return;
    out.push_back(delta::arguments(first.arguments));
    waiting_bytes_ -= first.arguments.size();
    first.arguments = {};
}

void call_list::finish_live(std::vector<delta>& out) {
    if (!is_live()) return;
    scratch_.clear();
    entries_.front().joiner.flush(scratch_);
    if (!scratch_.empty()) out.push_back(delta::arguments(scratch_));
    out.push_back(delta::end());
    entries_.front().live = false;
    entries_.erase(entries_.begin());
}

bool call_list::finish_waiting(std::vector<delta>& out, std::string& complaint) {
    for (entry& each : entries_) {
        if (!each.name.empty()) continue;
        if (each.id.empty() && each.arguments.empty()) continue;
        complaint = "a tool call has no name";
        return false;
    }
    for (entry& each : entries_) {
        if (each.name.empty()) continue;
        each.joiner.flush(each.arguments);
        out.push_back(delta::call(each.id, each.name));
        if (!each.arguments.empty()) out.push_back(delta::arguments(each.arguments));
        out.push_back(delta::end());
    }
    return true;
}

} // namespace thalweg::providers::detail
