// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/retry_hint.hpp>

#include <thalweg/protocol/timestamp.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

namespace thalweg::wire {

namespace {

using std::chrono::milliseconds;

// A wish beyond this is nonsense, and would not fit into every clock.
constexpr double longest_ms = 366.0 * 24 * 3600 * 1000;

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

// A decimal number without sign or exponent in front of `text`, which is cut behind it.
std::optional<double> take_number(std::string_view& text) {
    const auto is_part = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
    std::size_t size = 0;
    while (size < text.size() && is_part(text[size]))
        ++size;
    double number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + size, number);
    if (failed != std::errc() || end != text.data() + size) return std::nullopt;
    text.remove_prefix(size);
    return number;
}

std::optional<milliseconds> as_wait(double ms) {
    if (!(ms >= 0)) return std::nullopt;
    return milliseconds(static_cast<std::int64_t>(std::ceil(std::min(ms, longest_ms))));
}

std::optional<milliseconds> plain_number(std::string_view text, double unit_ms) {
    text = trim(text);
    const auto number = take_number(text);
    if (!number || !text.empty()) return std::nullopt;
    return as_wait(*number * unit_ms);
}

std::optional<milliseconds> until_date(std::string_view text, std::int64_t now_ms) {
    const auto date = parse_http_date(trim(text));
    if (!date) return std::nullopt;
    return as_wait(static_cast<double>(std::max<std::int64_t>(*date - now_ms, 0)));
}

std::optional<milliseconds> rate_limit_reset(const http::response_head& head) {
    constexpr std::string_view prefix = "x-ratelimit-reset-";
    std::optional<milliseconds> of_used_up;
    std::optional<milliseconds> of_any;
    const auto shorten = [](std::optional<milliseconds>& wait, milliseconds by) {
        wait = wait ? std::min(*wait, by) : by;
    };
    for (const http::header& each : head.headers) {
        if (!each.name.starts_with(prefix)) continue;
        const auto wait = parse_duration(trim(each.value));
        if (!wait) continue;
        shorten(of_any, *wait);
        const auto left = head.find("x-ratelimit-remaining-" + each.name.substr(prefix.size()));
        if (left && trim(*left) == "0") shorten(of_used_up, *wait);
    }
    return of_used_up ? of_used_up : of_any;
}

} // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    double sum = 0;
    while (!text.empty()) {
        const auto number = take_number(text);
        if (!number) return std::nullopt;
        std::size_t size = 0;
        while (size < text.size() && std::isalpha(static_cast<unsigned char>(text[size])) != 0)
            ++size;
        const auto unit = text.substr(0, size);
        text.remove_prefix(size);
        if (unit == "ms")
            sum += *number;
        else if (unit == "s")
            sum += *number * 1000;
        else if (unit == "m")
            sum += *number * 60'000;
        else if (unit == "h")
            sum += *number * 3'600'000;
        else if (unit == "d")
            sum += *number * 86'400'000;
        else
            return std::nullopt;
    }
    return as_wait(sum);
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
    // Only the form that servers must send: fixed width, in GMT.
    constexpr std::string_view form = "ddd, 00 mmm 0000 00:00:00 GMT";
    constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != form.size() || text.substr(25) != " GMT") return std::nullopt;
    const auto* const month = std::find(months.begin(), months.end(), text.substr(8, 3));
    if (month == months.end()) return std::nullopt;
    const auto number = std::to_string(month - months.begin() + 101).substr(1);
    std::string iso(text.substr(12, 4));
    iso.append("-").append(number).append("-").append(text.substr(5, 2));
    iso.append("T").append(text.substr(17, 8)).append(".000Z");
    return parse_timestamp(iso);
}

std::optional<milliseconds> retry_after(const http::response_head& head, std::int64_t now_ms) {
    if (const auto said = head.find("retry-after-ms"))
        if (const auto wait = plain_number(*said, 1)) return wait;
    if (const auto said = head.find("retry-after")) {
        if (const auto wait = plain_number(*said, 1000)) return wait;
        if (const auto wait = until_date(*said, now_ms)) return wait;
    }
    return head.status == 429 ? rate_limit_reset(head) : std::nullopt;
}

} // namespace thalweg::wire
