// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/summary.hpp>

#include <optional>

namespace thalweg {

namespace {

struct tag_pair {
    std::string_view open;
    std::string_view close;
};

constexpr tag_pair square = {"[summary]", "[/summary]"};
constexpr tag_pair angle = {"<summary>", "</summary>"};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string without(std::string text, std::string_view tag) {
    std::string kept;
    std::size_t from = 0;
    for (auto at = text.find(tag); at != std::string::npos; at = text.find(tag, from)) {
        kept.append(text, from, at - from);
        from = at + tag.size();
    }
    if (from == 0) return text;
    return kept.append(text, from);
}

std::string without_tags(std::string_view text) {
    std::string kept(text);
    for (const tag_pair& each : {square, angle})
        kept = without(without(std::move(kept), each.open), each.close);
    return kept;
}

/// Where an opening tag and the nearest closing one behind it stand.
struct place {
    std::size_t begin; // of the opening tag
    std::size_t inside;
    std::size_t inside_end;
    std::size_t end; // behind the closing tag
};

std::optional<place> find_pair(std::string_view text, const tag_pair& tags, std::size_t from) {
    const auto open = text.find(tags.open, from);
    if (open == std::string_view::npos) return std::nullopt;
    const auto inside = open + tags.open.size();
    const auto close = text.find(tags.close, inside);
    if (close == std::string_view::npos) return std::nullopt;
    return place{open, inside, close, close + tags.close.size()};
}

std::string first_inside(std::string_view text, const tag_pair& tags) {
    std::size_t from = 0;
    while (const auto found = find_pair(text, tags, from)) {
        const std::string inside = without_tags(
            text.substr(found->inside, found->inside_end - found->inside));
        if (const auto kept = trimmed(inside); !kept.empty()) return std::string(kept);
        from = found->end;
    }
    return {};
}

/// For texts whose pairs hold nothing but blanks and tags.
std::string without_pairs(std::string_view text, const tag_pair& tags) {
    std::string kept;
    std::size_t from = 0;
    while (const auto found = find_pair(text, tags, from)) {
        kept.append(text.substr(from, found->begin - from));
        from = found->end;
    }
    return kept.append(text.substr(from));
}

} // namespace

std::string extract_summary(std::string_view answer) {
    for (const tag_pair& each : {square, angle}) {
        if (std::string inside = first_inside(answer, each); !inside.empty()) return inside;
    }
    // Removing the pairs of one form may bring halves of the other together, around text: those stay.
    const std::string rest = without_tags(without_pairs(answer, square));
    return std::string(trimmed(rest));
}

std::string extract_summary(std::span<const message> answer) {
    std::string all;
    for (const message& m : answer) {
        if (m.kind() == kind::text && m.role() == role::assistant) all += m.content().view();
    }
    return extract_summary(all);
}

message context_summary(std::string_view summary) {
    std::string body = "[context_summary]\n";
    body.append(summary).append("\n[/context_summary]");
    return message::user_text(text(body));
}

} // namespace thalweg
