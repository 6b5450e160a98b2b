// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/ask.hpp>

namespace thalweg::detail {

std::vector<agent_message> question(const text& words, const text& schema) {
    std::string asked = words.str();
    asked += "\n\nAnswer with JSON alone. It has to fit this JSON Schema:\n\n";
    asked += schema.view();
    return list_of(agent_message::user(text(asked)));
}

std::vector<agent_message> correction(const error& mismatch) {
    return list_of(agent_message::user(text("That answer does not fit the schema: " + mismatch.message() +
                                            "\n\nAnswer again, with the corrected JSON alone.")));
}

std::string_view json_of_answer(std::string_view answer) noexcept {
    constexpr std::string_view space = " \t\r\n";
    constexpr std::string_view fence = "```";
    constexpr std::string_view opening = "```json\n";
    const auto first = answer.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    answer = answer.substr(first, answer.find_last_not_of(space) - first + 1);
    const bool is_fenced = answer.starts_with(opening) && answer.ends_with(fence) &&
                           answer.size() >= opening.size() + fence.size();
    if (!is_fenced) return answer;
    answer.remove_prefix(opening.size());
    answer.remove_suffix(fence.size());
    return answer;
}

} // namespace thalweg::detail
