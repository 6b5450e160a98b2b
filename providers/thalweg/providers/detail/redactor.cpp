// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/detail/redactor.hpp>

#include <thalweg/protocol/json.hpp>

#include <algorithm>

namespace thalweg::providers::detail {

namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// How a key begins, and how much must follow: letters, digits, '-', '_' and `more`, a digit among them.
struct key_form {
    std::string_view prefix;
    std::size_t least;
    std::string_view more;
    bool keeps_prefix;
};
constexpr key_form key_forms[] = {
    {"sk-", 16, "", false},         // OpenAI, Anthropic, DeepSeek, OpenRouter
    {"AIza", 30, "", false},        // Google
    {"gsk_", 16, "", false},        // Groq
    {"xai-", 16, "", false},        // xAI
    {"hf_", 20, "", false},         // Hugging Face
    {"ghp_", 20, "", false},        // GitHub
    {"github_pat_", 20, "", false}, //
    {"AKIA", 16, "", false},        // AWS
    {"Bearer ", 16, ".~+/=", true}, // of any
    {"bearer ", 16, ".~+/=", true},
};

/// Whether a word may begin at `at`. The letter of a JSON escape is no part of a word.
bool begins_word(std::string_view bytes, std::size_t at) noexcept {
    if (at == 0) return true;
    const char before = bytes[at - 1];
    if (at >= 2 && bytes[at - 2] == '\\' && is_letter(before)) return true;
    return !is_letter(before) && !is_digit(before) && before != '_' && before != '-';
}

void find_form(const key_form& form, std::string_view bytes, std::vector<redactor::range>& found) {
    for (std::size_t at = bytes.find(form.prefix); at != std::string_view::npos;
         at = bytes.find(form.prefix, at + 1)) {
        if (!begins_word(bytes, at)) continue;
        const std::size_t tail = at + form.prefix.size();
        std::size_t end = tail;
        bool has_digit = false;
        for (; end < bytes.size(); ++end) {
            const char c = bytes[end];
            has_digit = has_digit || is_digit(c);
            if (!is_letter(c) && !is_digit(c) && c != '_' && c != '-' &&
                form.more.find(c) == std::string_view::npos)
                break;
        }
        if (end - tail >= form.least && has_digit) found.push_back({form.keeps_prefix ? tail : at, end});
    }
}

} // namespace

redactor::redactor(std::span<const std::string> secrets) {
    for (const std::string& each : secrets) {
        if (each.empty()) continue;
        secrets_.push_back(each);
        std::string quoted;
        json::append_string(quoted, each);
        quoted = quoted.substr(1, quoted.size() - 2);
        if (quoted != each) secrets_.push_back(std::move(quoted));
    }
}

std::vector<redactor::range> redactor::find(std::string_view bytes) const {
    std::vector<range> found;
    for (const std::string& each : secrets_) {
        for (std::size_t at = bytes.find(each); at != std::string_view::npos; at = bytes.find(each, at + 1))
            found.push_back({at, at + each.size()});
    }
    for (const key_form& form : key_forms)
        find_form(form, bytes, found);
    std::sort(found.begin(), found.end(), [](range a, range b) { return a.begin < b.begin; });
    std::vector<range> apart;
    for (const range each : found) {
        if (!apart.empty() && each.begin < apart.back().end) {
            apart.back().end = std::max(apart.back().end, each.end);
        } else {
            apart.push_back(each);
        }
    }
    return apart;
}

std::string redactor::clean(std::string_view bytes) const {
    std::string kept;
    std::size_t at = 0;
    for (const range secret : find(bytes)) {
        kept += bytes.substr(at, secret.begin - at);
        kept += mark;
        at = secret.end;
    }
    kept += bytes.substr(at);
    return kept;
}

} // namespace thalweg::providers::detail
