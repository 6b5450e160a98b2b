// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/segments.hpp>

#include <algorithm>
#include <utility>

namespace thalweg {

namespace {

kind complete_kind(kind partial) noexcept {
    switch (partial) {
    case kind::partial_thinking: return kind::thinking;
    case kind::partial_tool_call: return kind::tool_call;
    case kind::partial_tool_call_output: return kind::tool_call_output;
    default: return kind::text;
    }
}

} // namespace

segment::segment(const message& first)
    : kind_(complete_kind(first.kind())),
      tool_call_id_(first.tool_call_id()),
      origin_(first.origin().begin(), first.origin().end()) {}

bool segment::is_of(const message& m) const noexcept {
    return kind_ == complete_kind(m.kind()) && tool_call_id_ == m.tool_call_id() &&
           std::equal(origin_.begin(), origin_.end(), m.origin().begin(), m.origin().end());
}

void segment::add(const message& m) {
    content_ += m.content();
    if (!m.name().empty()) name_ = m.name();
    if (!m.images().empty()) images_.assign(m.images().begin(), m.images().end());
    if (m.stop() != stop_reason::none) stop_ = m.stop();
}

std::optional<segment> segment_aggregator::feed(const message& m) {
    if (!m.is_partial()) return std::nullopt;
    auto at = std::find_if(open_.begin(), open_.end(), [&m](const segment& s) { return s.is_of(m); });
    std::optional<segment> ended;
    const auto end_it = [this, &at, &ended] {
        ended = std::move(*at);
        open_.erase(at);
        at = open_.end();
    };
    if (at != open_.end() && m.frame() == frame::start) end_it();
    if (at == open_.end()) {
        open_.push_back(segment(m));
        at = open_.end() - 1;
    }
    at->add(m);
    if (m.frame() == frame::stop) end_it();
    return ended;
}

std::vector<segment> segment_aggregator::finish() {
    return std::exchange(open_, {});
}

} // namespace thalweg
