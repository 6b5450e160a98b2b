// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/steering.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace thalweg {

namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

bool is_user_text(const message& m) {
    return m.kind() == kind::text && m.role() == role::user;
}

bool is_blank(const message& m) {
    return is_user_text(m) && m.content().view().find_first_not_of(blanks) == std::string_view::npos;
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

task<std::string> adapt_images(std::vector<message>& input, const image_adapter& adapt) {
    std::string fault;
    for (message& m : input) {
        if (m.kind() != kind::image_url && m.kind() != kind::inline_data) continue;
        try {
            message image = m;
            const std::string words = co_await adapt(std::move(image));
            if (words.find_first_not_of(blanks) == std::string::npos) fault = "it gave no text for an image";
            m = message::user_text(text(words));
        } catch (const std::exception& e) {
            fault = std::string("it threw: ") + e.what();
        } catch (...) {
            fault = "it threw something that is no std::exception";
        }
        if (!fault.empty()) break;
    }
    co_return fault;
}

} // namespace thalweg
