// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/block_assembly.hpp>

#include <algorithm>

namespace thalweg::wire {

void block_assembly::open_text(key which, std::vector<delta>& out) {
    open(which, kind::text, out);
}

void block_assembly::open_thinking(key which, std::vector<delta>& out) {
    open(which, kind::thinking, out);
}

void block_assembly::open_call(key which, std::string_view id, std::string_view name,
                               std::vector<delta>& out) {
    block& made = open(which, kind::call, out);
    made.id = id;
    made.name = name;
    if (&made == blocks_.data()) show(made, out);
}

block_assembly::block& block_assembly::open(key which, kind what, std::vector<delta>& out) {
    close(which, out);
    if (blocks_.size() >= most_blocks) complain("too many blocks are open at once");
    block& made = blocks_.emplace_back();
    made.number = which;
    made.what = what;
    return made;
}

// The newest one of that number: an older one is closed.
block_assembly::block* block_assembly::find(key which) {
    for (auto at = blocks_.rbegin(); at != blocks_.rend(); ++at)
        if (at->number == which) return at->closed ? nullptr : &*at;
    return nullptr;
}

bool block_assembly::is_open(key which) const noexcept {
    const auto is_it = [which](const block& each) { return each.number == which && !each.closed; };
    return std::any_of(blocks_.begin(), blocks_.end(), is_it);
}

void block_assembly::append(key which, const raw_string& piece, std::vector<delta>& out) {
    block* const to = find(which);
    if (to == nullptr) return complain("a piece belongs to a block that was never opened");
    if (!piece.escaped && !to->joiner.waits()) return say(*to, piece.bytes, out);
    scratch_.clear();
    if (!to->joiner.append(piece.bytes, scratch_))
        return complain("a text holds an escape that JSON does not know");
    say(*to, scratch_, out);
}

void block_assembly::append_text(key which, std::string_view piece, std::vector<delta>& out) {
    block* const to = find(which);
    if (to == nullptr) return complain("a piece belongs to a block that was never opened");
    say(*to, piece, out);
}

void block_assembly::fidelity(key which, std::string_view json, std::vector<delta>& out) {
    block* const to = find(which);
    if (to == nullptr) return complain("a signature belongs to a block that was never opened");
    if (to == blocks_.data()) {
        flush(*to, out);
        return show_fidelity(*to, json, out);
    }
    waiting_bytes_ += json.size();
    to->fidelities.emplace_back(json);
}

void block_assembly::close(key which, std::vector<delta>& out) {
    block* const which_one = find(which);
    if (which_one == nullptr) return;
    flush(*which_one, out);
    which_one->closed = true;
    retire(out);
}

void block_assembly::close_all(std::vector<delta>& out) {
    for (block& each : blocks_) {
        if (!each.closed) flush(each, out);
        each.closed = true;
    }
    retire(out);
}

// Half a surrogate pair that stays alone.
void block_assembly::flush(block& of, std::vector<delta>& out) {
    if (!of.joiner.waits()) return;
    scratch_.clear();
    of.joiner.flush(scratch_);
    say(of, scratch_, out);
}

void block_assembly::say(block& of, std::string_view piece, std::vector<delta>& out) {
    if (piece.empty()) return;
    if (&of != blocks_.data()) {
        of.waiting += piece;
        waiting_bytes_ += piece.size();
        if (waiting_bytes_ > most_waiting)
            complain("the answer has too much text in blocks that have to wait");
        return;
    }
    of.begun = true;
    switch (of.what) {
    case kind::text: return out.push_back(delta::text(piece));
    case kind::thinking: return out.push_back(delta::thinking(piece));
    case kind::call: return out.push_back(delta::arguments(piece));
    }
}

// A block becomes the oldest one: all of it that had to wait goes out.
void block_assembly::show(block& oldest, std::vector<delta>& out) {
    if (oldest.what == kind::call) {
        out.push_back(delta::call(oldest.id, oldest.name));
        oldest.begun = true;
    }
    std::string text;
    text.swap(oldest.waiting);
    waiting_bytes_ -= text.size();
    say(oldest, text, out);
    for (const std::string& each : oldest.fidelities) {
        waiting_bytes_ -= each.size();
        show_fidelity(oldest, each, out);
    }
    oldest.fidelities.clear();
}

void block_assembly::show_fidelity(block& oldest, std::string_view json, std::vector<delta>& out) {
    if (!oldest.begun)
        out.push_back(oldest.what == kind::thinking ? delta::begin_thinking() : delta::begin_text());
    oldest.begun = true;
    out.push_back(delta::fidelity(json));
}

void block_assembly::retire(std::vector<delta>& out) {
    while (!blocks_.empty() && blocks_.front().closed) {
        if (blocks_.front().begun) out.push_back(delta::end());
        blocks_.erase(blocks_.begin());
        if (!blocks_.empty()) show(blocks_.front(), out);
    }
}

void block_assembly::complain(std::string_view why) {
    if (complaint_.empty()) complaint_ = why;
}

} // namespace thalweg::wire
