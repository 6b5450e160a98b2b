// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/segment_check.hpp>

#include <algorithm>

namespace thalweg::detail {

namespace {

using rule = check_log::rule;

// A complete message of the same kind as the segment's frames.
bool completes(kind complete, kind partial) noexcept {
    switch (partial) {
    case kind::partial_text: return complete == kind::text;
    case kind::partial_thinking: return complete == kind::thinking;
    case kind::partial_tool_call: return complete == kind::tool_call;
    default: return complete == kind::tool_call_output;
    }
}

} // namespace

bool segment_check::is_of(const message& m) const noexcept {
    return kind_ == m.kind() && id_ == m.tool_call_id();
}

bool segment_check::may_stay_incomplete() const noexcept {
    const bool is_prose = kind_ == kind::partial_text || kind_ == kind::partial_thinking;
    return is_prose && content_.empty() && stop_ != stop_reason::completed;
}

std::string segment_check::name() const {
    std::string made(to_string(kind_));
    if (!id_.empty()) made.append(" ").append(id_.view());
    return made;
}

void segment_check::on_frame(const message& m, check_log& log, bool needs_complete) {
    if (state_ == state::stopped) on_other(&m, log);
    switch (m.frame()) {
    case frame::start: begin(m, log); break;
    case frame::delta: extend(m, log); break;
    default: stop(m, log, needs_complete); break;
    }
}

void segment_check::begin(const message& m, check_log& log) {
    if (state_ == state::open) {
        log.add(rule::framing, "R-PRO-20", {describe(m), " although ", name(), " has not stopped"});
    }
    state_ = state::open;
    kind_ = m.kind();
    id_ = m.tool_call_id();
    name_ = m.name();
    content_.clear();
    images_.clear();
    if (!m.content().empty() || !m.images().empty()) {
        log.add(rule::frame_content, "R-PRO-22", {describe(m), " has content"});
    }
    if (kind_ == kind::partial_tool_call && name_.empty()) {
        log.add(rule::frame_content, "R-PRO-22", {describe(m), " does not name the tool"});
    }
}

void segment_check::extend(const message& m, check_log& log) {
    if (state_ != state::open || !is_of(m)) {
        log.add(rule::framing, "R-PRO-20", {describe(m), " outside of its segment"});
        return;
    }
    if (!m.name().empty())
        log.add(rule::frame_content, "R-PRO-22", {describe(m), " repeats the tool's name"});
    if (m.content().empty() && m.images().empty()) {
        log.add(rule::empty_delta, "R-PRO-24", {describe(m), " has no content"});
    }
    if (!images_.empty())
        log.add(rule::images, "R-PRO-23", {describe(m), " behind the images of its segment"});
    if (!m.images().empty() && !m.content().empty()) {
        log.add(rule::images, "R-PRO-23", {describe(m), " has images and text in one"});
    }
    content_ += m.content();
    images_.insert(images_.end(), m.images().begin(), m.images().end());
}

void segment_check::stop(const message& m, check_log& log, bool needs_complete) {
    if (state_ != state::open || !is_of(m)) {
        log.add(rule::framing, "R-PRO-20", {describe(m), " outside of its segment"});
        return;
    }
    if (!m.content().empty() || !m.images().empty() || !m.name().empty()) {
        log.add(rule::frame_content, "R-PRO-22", {describe(m), " has content"});
    }
    stop_ = m.stop();
    state_ = needs_complete ? state::stopped : state::closed;
}

void segment_check::on_complete(const message& m, check_log& log) {
    if (state_ == state::open) {
        log.add(rule::framing, "R-PRO-20", {describe(m), " although ", name(), " has not stopped"});
    } else if (state_ == state::stopped) {
        if (completes(m.kind(), kind_) && id_ == m.tool_call_id())
            compare(m, log);
        else if (!may_stay_incomplete())
            on_other(&m, log);
    }
    state_ = state::closed;
}

void segment_check::on_other(const message* m, check_log& log) {
    if (state_ == state::open) {
        log.add(rule::framing, "R-PRO-20", {describe(m), " although ", name(), " has not stopped"});
    } else if (state_ == state::stopped && !may_stay_incomplete()) {
        log.add(rule::framing, "R-PRO-20",
                {describe(m), " where the complete message of ", name(), " must follow"});
    }
    state_ = state::closed;
}

void segment_check::compare(const message& complete, check_log& log) const {
    const auto differs = [&](std::string_view what) {
        log.add(rule::concatenation, "R-PRO-21",
                {describe(complete), " and its frames differ in the ", what});
    };
    if (content_ != complete.content().view()) {
        const std::string_view whole = complete.content();
        const auto place = std::mismatch(content_.begin(), content_.end(), whole.begin(), whole.end()).first;
        differs("content at byte " + std::to_string(place - content_.begin()));
    }
    if (!std::equal(images_.begin(), images_.end(), complete.images().begin(), complete.images().end())) {
        differs("images");
    }
    if (stop_ != complete.stop()) differs("stop reason");
    if (kind_ == kind::partial_tool_call && name_ != complete.name()) differs("tool's name");
}

} // namespace thalweg::detail
