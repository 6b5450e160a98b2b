// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/nearest.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace thalweg {

namespace {

constexpr std::size_t longest_name = 100;
constexpr std::size_t least_part = 3; // bytes of a name that is looked for inside of others

std::string lower(std::string_view name) {
    std::string made(name);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

/// The number of slips between two names, neighbors swapped being one.
std::size_t distance(std::string_view a, std::string_view b) {
    using row = std::array<std::size_t, longest_name + 1>;
    row before_last{};
    row last{};
    row now{};
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({changed, last[j] + 1, now[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, now);
    }
    return last[b.size()];
}

/// How unlike the two are, less is better; empty: too much.
std::optional<std::size_t> unlikeness(const std::string& name, std::string_view candidate) {
    if (candidate.size() > longest_name) return std::nullopt;
    const std::string other = lower(candidate);
    const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
    const std::size_t longer = std::max(name.size(), other.size());
    if (longer - std::min(name.size(), other.size()) <= allowed) {
        const std::size_t slips = distance(name, other);
        if (slips <= allowed && slips < longer) return slips;
    }
    if (name.size() >= least_part && other.find(name) != std::string::npos)
        return longest_name + other.size(); // behind all slips; the shorter the better
    return std::nullopt;
}

} // namespace

std::vector<std::string_view> nearest(std::string_view name, std::span<const std::string_view> candidates,
                                      std::size_t most) {
    std::vector<std::pair<std::size_t, std::size_t>> found; // how unlike, which
    if (!name.empty() && name.size() <= longest_name) {
        const std::string wanted = lower(name);
        for (std::size_t n = 0; n < candidates.size(); ++n) {
            if (const auto unlike = unlikeness(wanted, candidates[n])) found.emplace_back(*unlike, n);
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string_view> best;
    for (const auto& [unlike, n] : found) {
        if (best.size() == most) break;
        if (std::find(best.begin(), best.end(), candidates[n]) == best.end()) best.push_back(candidates[n]);
    }
    return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
    const auto best = nearest(name, candidates);
    if (best.empty()) return {};
    std::string question = "; did you mean ";
    for (std::size_t n = 0; n < best.size(); ++n) {
        if (n > 0) question += n + 1 == best.size() ? " or " : ", ";
        question.append("\"").append(best[n]).append("\"");
    }
    return question + "?";
}

} // namespace thalweg
