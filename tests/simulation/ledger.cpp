// SPDX-License-Identifier: BSL-1.0

#include "simulation/ledger.hpp"

#include <charconv>

namespace thalweg::simulation {

namespace {

std::uint64_t fingerprint(std::span<const message> messages) {
    std::uint64_t sum = 0;
    for (const message& m : messages) {
        const std::string_view content = m.content();
        const auto last = content.empty() ? 0U : static_cast<unsigned char>(content.back());
        for (const std::uint64_t part :
             {static_cast<std::uint64_t>(m.kind()), static_cast<std::uint64_t>(content.size()),
              static_cast<std::uint64_t>(last), static_cast<std::uint64_t>(m.timestamp())}) {
            sum = (sum + part + 1) * 0x9e3779b97f4a7c15U;
        }
    }
    return sum;
}

bool are_same(const message& a, const message& b) {
    return a.kind() == b.kind() && a.content() == b.content() && a.tool_call_id() == b.tool_call_id();
}

} // namespace

std::string spell(mark m) {
    return "<m" + std::to_string(m) + ">";
}

void find_marks(std::string_view in, std::vector<mark>& into) {
    for (std::size_t at = in.find("<m"); at != std::string_view::npos; at = in.find("<m", at + 2)) {
        mark found = 0;
        const char* const end = in.data() + in.size();
        const auto [stopped, failed] = std::from_chars(in.data() + at + 2, end, found);
        if (failed == std::errc() && stopped != end && *stopped == '>') into.push_back(found);
    }
}

std::vector<mark> input_marks(std::span<const message> messages) {
    std::vector<mark> found;
    for (const message& m : messages) {
        if (m.role() == role::user && m.is_complete()) find_marks(m.content(), found);
    }
    return found;
}

void ledger::reach(mark m) {
    if (!reached_.insert(m).second) complain_("the model got the input " + spell(m) + " twice");
}

/// The context has grown: by the input of the last request first.
void ledger::check_growth(std::span<const message> grown) {
    if (!has_last_) return;
    bool fits = grown.size() >= last_input_.size();
    for (std::size_t i = 0; fits && i < last_input_.size(); ++i)
        fits = are_same(grown[i], last_input_[i]);
    if (!fits) complain_("the context has not grown by what the last request submitted");
}

void ledger::look(int context_number, std::span<const message> history) {
    if (context_number != context_number_) { // the old one is given up, and what was submitted last with it
        if (has_last_) {
            for (const mark m : input_marks(last_input_))
                reached_.insert(m);
        }
        context_number_ = context_number;
        seen_ = 0;
        fingerprint_ = 0;
        has_last_ = false;
    }
    if (history.size() < seen_ || fingerprint(history.first(seen_)) != fingerprint_) {
        complain_("the context was changed where it must only grow");
    } else if (history.size() > seen_) {
        const std::span<const message> grown = history.subspan(seen_);
        check_growth(grown);
        for (const mark m : input_marks(grown))
            reach(m);
    }
    seen_ = history.size();
    fingerprint_ = fingerprint(history);
    has_last_ = false;
}

void ledger::on_request(int context_number, std::span<const message> history,
                        std::span<const message> input) {
    look(context_number, history);
    std::set<mark> once;
    for (const mark m : input_marks(input)) {
        if (reached_.contains(m))
            complain_("a request submits " + spell(m) + ", which the model has already");
        if (!once.insert(m).second) complain_("a request submits " + spell(m) + " twice");
    }
    last_input_.assign(input.begin(), input.end());
    has_last_ = true;
}

void ledger::on_summarizer(std::span<const message> context, std::span<const message> owed) {
    look(context_number_, context);
    last_input_.assign(owed.begin(), owed.end());
    has_last_ = true;
}

void ledger::settle(int context_number, std::span<const message> context, std::span<const message> waiting,
                    const std::set<mark>& unsaid_notices) {
    look(context_number, context);
    std::set<mark> waits;
    for (const mark m : input_marks(waiting)) {
        if (reached_.contains(m)) complain_(spell(m) + " waits, but the model has got it");
        if (!waits.insert(m).second) complain_(spell(m) + " waits twice");
    }
    for (const mark m : expected_) {
        if (!reached_.contains(m) && !waits.contains(m) && !unsaid_notices.contains(m))
            complain_("the input " + spell(m) + " is lost");
    }
}

void ledger::restart(const std::vector<mark>& earlier, std::span<const message> history) {
    reached_.clear();
    reached_.insert(earlier.begin(), earlier.end());
    context_number_ = 0;
    seen_ = 0;
    fingerprint_ = 0;
    has_last_ = false;
    look(0, history);
}

} // namespace thalweg::simulation
