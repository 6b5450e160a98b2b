// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/steering.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace thalweg {

namespace {

bool is_user_text(const message& m) {
    return m.kind() == kind::text && m.role() == role::user;
}

bool is_blank(const message& m) {
    return is_user_text(m) && m.content().view().find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

} // namespace

steering_ticket steering_queue::push(std::vector<message> input) {
    const steering_ticket ticket(++last_);
    if (!std::all_of(input.begin(), input.end(), is_blank)) inputs_.push_back({last_, std::move(input)});
    return ticket;
}

bool steering_queue::recall(steering_ticket ticket) {
    const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                    [ticket](const queued& each) { return each.number == ticket.number_; });
    if (found == inputs_.end()) return false;
    inputs_.erase(found);
    return true;
}

std::vector<std::vector<message>> steering_queue::take() {
    std::vector<std::vector<message>> all;
    all.reserve(inputs_.size());
    for (queued& each : inputs_)
        all.push_back(std::move(each.input));
    inputs_.clear();
    return all;
}

std::vector<message> steering_messages(std::vector<message> input) {
    std::string body;
    std::vector<message> all(1);
    bool is_first = true;
    for (message& m : input) {
        if (!is_user_text(m)) {
            all.push_back(std::move(m));
            continue;
        }
        if (!std::exchange(is_first, false)) body += "\n\n";
        body += m.content().view();
    }
    all.front() = message::user_text(text("[user_steering]\n" + body + "\n[/user_steering]"));
    return all;
}

} // namespace thalweg
