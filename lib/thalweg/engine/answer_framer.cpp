// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/answer_framer.hpp>

#include <thalweg/protocol/json.hpp>

#include <utility>

namespace thalweg {

namespace {

bool ends_early(std::string_view arguments) {
    if (arguments.empty()) return false;
    const auto wrong = json::check(arguments);
    return wrong && wrong->at_end;
}

/// Both objects in one: members of `later` win, order of first appearance (R-PRO-73).
std::string merge_objects(std::string_view earlier, std::string_view later) {
    const auto a = json::parse(earlier);
    const auto b = json::parse(later);
    if (!a || !a.value().is_object()) return std::string(later);
    if (!b || !b.value().is_object()) return std::string(earlier);
    std::string out = "{";
    const auto add = [&out](std::string_view key, std::string_view raw) {
        if (out.size() > 1) out += ',';
        json::append_string(out, key);
        out += ':';
        out += raw;
    };
    for (const json::member& each : a.value().members()) {
        const auto newer = b.value().find(each.key);
        add(each.key, newer ? newer->raw() : each.value.raw());
    }
    for (const json::member& each : b.value().members()) {
        if (!a.value().find(each.key)) add(each.key, each.value.raw());
    }
    out += '}';
    return out;
}

} // namespace

bool answer_framer::continues(const delta& d) const noexcept {
    using type = delta::type;
    switch (d.kind()) {
    case type::text: return (open_ == block::text && !ended_) || open_ == block::none;
    case type::thinking: return (open_ == block::thinking && !ended_) || open_ == block::none;
    case type::arguments: return open_ == block::call && !ended_;
    case type::fidelity: return open_ == block::call || !ended_;
    case type::end:
    case type::usage: return true;
    case type::begin_text:
    case type::begin_thinking:
    case type::call:
    case type::whole: return open_ == block::none;
    }
    return true;
}

bool answer_framer::step(delta& d) {
    using type = delta::type;
    if (!continues(d) && open_ != block::none) {
        close_by_provider();
        return false;
    }
    switch (d.kind()) {
    case type::begin_text: open(block::text, d); break;
    case type::begin_thinking: open(block::thinking, d); break;
    case type::call: open(block::call, d); break;
    case type::text:
    case type::thinking:
        if (d.content().empty()) break;
        if (open_ == block::none) open(d.kind() == type::text ? block::text : block::thinking, d);
        append(std::move(d.content()));
        break;
    case type::arguments:
        if (open_ == block::call && !d.content().empty()) append(std::move(d.content()));
        break;
    case type::end:
        if (open_ == block::call && !ends_early(buffer_)) {
            close(stop_reason::completed); // now: it is to be decided about
        } else {
            ended_ = open_ != block::none;
        }
        break;
    case type::fidelity: add_fidelity(d.content()); break;
    case type::usage: usage_ = d.counts(); break;
    case type::whole: pass(std::move(d.wrapped())); break;
    }
    return true;
}

void answer_framer::open(block kind, const delta& d) {
    open_ = kind;
    ended_ = false;
    buffer_.clear();
    fidelity_.clear();
    if (kind == block::text) {
        pending_.push_back(message::partial_text(frame::start));
    } else if (kind == block::thinking) {
        pending_.push_back(message::partial_thinking(frame::start));
    } else {
        name_ = d.content();
        provider_id_ = d.id();
        id_ = ids_.claim(d.id());
        pending_.push_back(message::partial_tool_call(frame::start, id_, name_));
    }
}

void answer_framer::append(text piece) {
    buffer_ += piece.view();
    if (open_ == block::text) {
        pending_.push_back(message::partial_text(frame::delta, std::move(piece)));
    } else if (open_ == block::thinking) {
        pending_.push_back(message::partial_thinking(frame::delta, std::move(piece)));
    } else {
        pending_.push_back(message::partial_tool_call(frame::delta, id_, {}, std::move(piece)));
    }
}

/// The next block begins: what is open is complete, unless it is a call whose arguments end early.
void answer_framer::close_by_provider() {
    if (open_ == block::call && ends_early(buffer_)) {
        ended_early_ = true;
        early_call_ = name_.str();
        close(stop_reason::malformed);
    } else {
        close(stop_reason::completed);
    }
}

void answer_framer::close(stop_reason status) {
    const block kind = std::exchange(open_, block::none);
    ended_ = false;
    if (kind == block::call) {
        if (buffer_.empty() && status == stop_reason::completed) { // a call without parameters (D-09)
            buffer_ = "{}";
            pending_.push_back(message::partial_tool_call(frame::delta, id_, {}, text(buffer_)));
        }
        pending_.push_back(message::partial_tool_call(frame::stop, id_).with_stop(status));
        complete(
            message::tool_call(name_, text(buffer_), id_).with_provider_id(provider_id_).with_stop(status));
        return;
    }
    const bool is_text = kind == block::text;
    pending_.push_back((is_text ? message::partial_text(frame::stop) : message::partial_thinking(frame::stop))
                           .with_stop(status));
    if (buffer_.empty() && fidelity_.empty()) return; // R-PRO-27
    complete((is_text ? message::assistant_text(text(buffer_)) : message::thinking(text(buffer_)))
                 .with_stop(status));
}

void answer_framer::complete(message m) {
    if (!fidelity_.empty()) m = std::move(m).with_fidelity(text(std::exchange(fidelity_, {})));
    segments_.push_back(m);
    if (m.kind() == kind::tool_call && m.stop() == stop_reason::completed) finished_call_ = m;
    pending_.push_back(std::move(m));
}

/// Belongs to the open block; alone it is a thinking block without text (R-PRO-72).
void answer_framer::add_fidelity(std::string_view json_object) {
    if (open_ != block::none) {
        fidelity_ = fidelity_.empty() ? std::string(json_object) : merge_objects(fidelity_, json_object);
        return;
    }
    fidelity_ = json_object;
    complete(message::thinking({}));
}

void answer_framer::pass(message whole) {
    if (whole.kind() == kind::tool_call) {
        const text wanted = whole.tool_call_id();
        const text id = ids_.claim(wanted);
        whole = std::move(whole).with_tool_call_id(id).with_provider_id(wanted);
    }
    if (!whole.is_complete()) {
        pending_.push_back(std::move(whole));
        return;
    }
    fidelity_.clear();
    if (whole.stop() == stop_reason::none) whole = std::move(whole).with_stop(stop_reason::completed);
    complete(std::move(whole));
}

void answer_framer::close_as(stop_reason status) {
    const bool is_over = ended_ && open_ != block::call; // before whatever went wrong
    if (open_ != block::none) close(is_over ? stop_reason::completed : status);
}

/// A length or content limit is a commit whose last segment failed (R-PRO-51). A call is cut if its input
/// ends early, and then never runs; nothing at all may be the start of anything (D-09).
void answer_framer::close_cut() {
    const bool is_whole_call = open_ == block::call && !buffer_.empty() && !ends_early(buffer_);
    if (open_ != block::none) close(is_whole_call ? stop_reason::completed : stop_reason::failed);
}

answer_framer::verdict answer_framer::finish(const model_outcome& outcome) {
    verdict said{outcome.status(), outcome.message()};
    if (said.status != stop_reason::completed) {
        close_as(said.status);
        return said;
    }
    const bool cut = outcome.why() == thalweg::finish::length || outcome.why() == thalweg::finish::filtered;
    const bool open_call_early = open_ == block::call && ends_early(buffer_);
    if (open_call_early && !cut) {
        ended_early_ = true;
        early_call_ = name_.str();
    }
    if (ended_early_ && !cut) {
        close_as(stop_reason::malformed);
        return {stop_reason::malformed, "the arguments of the call '" + early_call_ +
                                            "' end early although the answer "
                                            "claims to be finished"};
    }
    if (cut) {
        close_cut();
    } else {
        close_as(stop_reason::completed);
    }
    return said;
}

} // namespace thalweg
