// SPDX-License-Identifier: BSL-1.0

#include "compare.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace conformance {

namespace {

constexpr std::string_view anything = "{{ANY}}";

std::string shown(const json::value& v) {
    std::string text = json::serialize(v);
    if (text.size() > 240) text = text.substr(0, 240) + "…";
    return text;
}

bool text_matches(std::string_view pattern, std::string_view text) {
    const auto at = pattern.find(anything);
    if (at == std::string_view::npos) return pattern == text;
    const std::string_view head = pattern.substr(0, at);
    const std::string_view tail = pattern.substr(at + anything.size());
    return text.size() > head.size() + tail.size() && text.starts_with(head) && text.ends_with(tail);
}

std::optional<std::string> array_difference(const json::array& expected, const json::array& seen,
                                            const std::string& path) {
    for (std::size_t n = 0; n < std::max(expected.size(), seen.size()); ++n) {
        const std::string at = path + "[" + std::to_string(n) + "]";
        if (n >= seen.size()) return at + ": expected " + shown(expected[n]) + ", got nothing more";
        if (n >= expected.size()) return at + ": nothing more expected, got " + shown(seen[n]);
        if (auto wrong = difference(expected[n], seen[n], at)) return wrong;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> difference(const json::object& expected, const json::object& seen,
                                      const std::string& path) {
    for (const auto& member : expected) {
        const std::string at = path + "." + std::string(member.key());
        const json::value* other = seen.if_contains(member.key());
        if (other == nullptr) return at + ": expected " + shown(member.value()) + ", got nothing";
        if (auto wrong = difference(member.value(), *other, at)) return wrong;
    }
    for (const auto& member : seen) {
        if (expected.contains(member.key())) continue;
        return path + "." + std::string(member.key()) + ": not expected, got " + shown(member.value());
    }
    return std::nullopt;
}

std::optional<std::string> difference(const json::value& expected, const json::value& seen,
                                      const std::string& path) {
    if (expected.is_object() && seen.is_object()) {
        return difference(expected.as_object(), seen.as_object(), path);
    }
    if (expected.is_array() && seen.is_array())
        return array_difference(expected.as_array(), seen.as_array(), path);
    const bool equal = expected.is_string() && seen.is_string()
                           ? text_matches(expected.as_string(), seen.as_string())
                           : expected == seen;
    if (equal) return std::nullopt;
    return path + ": expected " + shown(expected) + ", got " + shown(seen);
}

bool alter(json::value& v) {
    if (v.is_string()) {
        if (v.as_string().find(anything) != json::string::npos) return false;
        v.as_string().append("x");
        return true;
    }
    if (v.is_int64()) {
        v = v.as_int64() + 1;
        return true;
    }
    if (v.is_bool()) {
        v = !v.as_bool();
        return true;
    }
    if (v.is_object()) {
        auto& members = v.as_object();
        for (auto at = members.end(); at != members.begin();) {
            if (alter((--at)->value())) return true;
        }
    }
    if (v.is_array()) {
        for (json::value& each : v.as_array()) {
            if (alter(each)) return true;
        }
    }
    return false;
}

namespace {

using change = bool (*)(json::array& list, std::size_t at);

bool swap_next(json::array& list, std::size_t at) {
    if (at + 1 >= list.size() || list[at] == list[at + 1]) return false;
    std::swap(list[at], list[at + 1]);
    return true;
}
bool drop(json::array& list, std::size_t at) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}
bool twice(json::array& list, std::size_t at) {
    const json::value copy = list[at];
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), copy);
    return true;
}
bool alter_one(json::array& list, std::size_t at) {
    return alter(list[at]);
}
bool to_the_end(json::array& list, std::size_t at) {
    if (at + 1 >= list.size() || std::all_of(list.begin() + static_cast<std::ptrdiff_t>(at), list.end(),
                                             [&](const json::value& v) { return v == list[at]; })) {
        return false;
    }
    const json::value moved = list[at];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    list.push_back(moved);
    return true;
}

} // namespace

std::vector<mutant> mutants_of(const json::object& expect,
                               std::vector<named_list> (*lists_of)(json::object& expect)) {
    const std::pair<const char*, change> changes[] = {
        {"swap", swap_next}, {"drop", drop}, {"double", twice}, {"alter", alter_one}, {"late", to_the_end}};
    std::vector<mutant> all;
    json::object counted = expect;
    const std::size_t lists = lists_of(counted).size();
    for (std::size_t which = 0; which < lists; ++which) {
        const std::size_t size = lists_of(counted)[which].second->size();
        for (std::size_t at = 0; at < size; ++at) {
            for (const auto& [word, apply] : changes) {
                mutant m;
                m.expect = expect;
                auto [name, list] = lists_of(m.expect)[which];
                if (!apply(*list, at)) continue;
                m.what = std::string(word) + " " + name + " " + std::to_string(which) + "[" +
                         std::to_string(at) + "]";
                all.push_back(std::move(m));
            }
        }
    }
    return all;
}

} // namespace conformance
