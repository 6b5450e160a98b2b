// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/strand_check.hpp>

#include <algorithm>
#include <array>

namespace thalweg {

namespace detail {

void check_log::add(rule broken, std::string_view number, std::initializer_list<std::string_view> parts) {
    if (++count_ > stream_checker::max_kept) return;
    std::string sentence(number);
    sentence.append(" at message ").append(std::to_string(index_)).append(place_).append(": ");
    for (const std::string_view part : parts)
        sentence.append(part);
    kept_.push_back({broken, index_, std::move(sentence)});
}

std::string describe(const message* m) {
    if (m == nullptr) return "the end of the run";
    std::string made(m->kind() == kind::session_meta ? "session_meta" : m->type_name().view());
    if (m->is_partial()) made.append(" ").append(to_string(m->frame()));
    if (!m->tool_call_id().empty()) made.append(" ").append(m->tool_call_id().view());
    return made;
}

namespace {

bool is_prefix(std::span<const text> head, std::span<const text> whole) noexcept {
    return head.size() <= whole.size() && std::equal(head.begin(), head.end(), whole.begin());
}

std::string place_of(std::span<const text> origin) {
    std::string made;
    for (const text& hop : origin)
        made.append(made.empty() ? " in the stream of " : "/").append(hop.view());
    return made;
}

} // namespace

} // namespace detail

struct stream_checker::state {
    detail::check_log log;
    // The session's own stream first, then the children in the order of their first message.
    std::vector<detail::strand_check> strands{detail::strand_check({})};
    children below = children::are_announced;

    detail::strand_check& strand_of(std::span<const text> origin) {
        for (auto& strand : strands) {
            if (std::equal(origin.begin(), origin.end(), strand.origin().begin(), strand.origin().end()))
                return strand;
        }
        auto& added = strands.emplace_back(std::vector<text>(origin.begin(), origin.end()));
        if (below == children::may_be_known) added.may_be_known();
        return added;
    }
};

stream_checker::stream_checker(children below) : state_(std::make_unique<state>()) {
    state_->below = below;
}
stream_checker::stream_checker(stream_checker&&) noexcept = default;
stream_checker& stream_checker::operator=(stream_checker&&) noexcept = default;
stream_checker::~stream_checker() = default;

void stream_checker::feed(const message& m) {
    detail::check_log& log = state_->log;
    const auto origin = m.origin();
    if (!origin.empty()) {
        for (auto& outer : state_->strands) {
            const bool is_outer = outer.origin().size() < origin.size() &&
                                  detail::is_prefix(outer.origin(), origin);
            if (!is_outer) continue;
            log.set_place(detail::place_of(outer.origin()));
            outer.on_nested(m, log);
        }
    }
    log.set_place(detail::place_of(origin));
    state_->strand_of(origin).on_message(m, log);
    log.next_message();
}

void stream_checker::finish() {
    state_->log.set_place({});
    state_->strands.front().on_finish(state_->log);
    state_->log.start_run();
}

bool stream_checker::ok() const noexcept {
    return state_->log.count() == 0;
}

std::span<const stream_checker::violation> stream_checker::violations() const noexcept {
    return state_->log.kept();
}

std::size_t stream_checker::violation_count() const noexcept {
    return state_->log.count();
}

std::string stream_checker::report() const {
    std::string lines;
    for (const violation& v : violations())
        lines.append(v.text).append("\n");
    if (violation_count() > max_kept) {
        lines.append("and ").append(std::to_string(violation_count() - max_kept)).append(" more\n");
    }
    return lines;
}

std::string_view to_string(stream_checker::rule r) noexcept {
    static constexpr std::array<std::string_view, 16> names = {
        "framing",    "concatenation", "frame_content", "images",    "empty_delta", "approval",
        "denial",     "pairing",       "tail",          "usage",     "request",     "turn_boundary",
        "compaction", "end",           "head",          "trace_only"};
    const auto at = static_cast<std::size_t>(r);
    return at < names.size() ? names[at] : std::string_view();
}

} // namespace thalweg
