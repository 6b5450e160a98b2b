// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace thalweg::json {

namespace {

// Everything here walks over text that check() has accepted, so no end needs to be watched inside a value.

bool is_space(char c) noexcept {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

const char* skip_space(const char* at) noexcept {
    while (is_space(*at))
        ++at;
    return at;
}

const char* skip_string(const char* at) noexcept {
    for (++at; *at != '"'; ++at) {
        if (*at == '\\') ++at;
    }
    return at + 1;
}

const char* skip_container(const char* at) noexcept {
    int depth = 0;
    for (;;) {
        switch (*at) {
        case '"': at = skip_string(at); continue;
        case '{':
        case '[': ++depth; break;
        case '}':
        case ']':
            if (--depth == 0) return at + 1;
            break;
        default: break;
        }
        ++at;
    }
}

// A number or word inside an object or array ends where its separator stands.
const char* skip_scalar(const char* at) noexcept {
    while (!is_space(*at) && *at != ',' && *at != '}' && *at != ']')
        ++at;
    return at;
}

const char* skip_value(const char* at) noexcept {
    switch (*at) {
    case '"': return skip_string(at);
    case '{':
    case '[': return skip_container(at);
    default: return skip_scalar(at);
    }
}

const char* value_behind_key(const char* key) noexcept {
    return skip_space(skip_space(skip_string(key)) + 1);
}

// From the end of one member or element to the start of the next, or nullptr at the closing bracket.
const char* next_item(const char* end_of_item) noexcept {
    const char* at = skip_space(end_of_item);
    return *at == ',' ? skip_space(at + 1) : nullptr;
}

const char* first_item(const char* opening, char closing) noexcept {
    const char* at = skip_space(opening + 1);
    return *at == closing ? nullptr : at;
}

unsigned hex4(const char* digits) noexcept {
    unsigned value = 0;
    std::from_chars(digits, digits + 4, value, 16);
    return value;
}

void append_utf8(std::string& out, unsigned point) {
    const auto tail = [](unsigned bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += {static_cast<char>(0xc0 | point >> 6), tail(point)};
    } else if (point < 0x10000) {
        out += {static_cast<char>(0xe0 | point >> 12), tail(point >> 6), tail(point)};
    } else {
        out += {static_cast<char>(0xf0 | point >> 18), tail(point >> 12), tail(point >> 6), tail(point)};
    }
}

// `at` stands behind `\u`; returns what follows the escape or the pair.
const char* unescape_unicode(const char* at, std::string& out) {
    unsigned point = hex4(at);
    at += 4;
    const bool high = point >= 0xd800 && point < 0xdc00;
    if (high && at[0] == '\\' && at[1] == 'u') {
        const unsigned low = hex4(at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    append_utf8(out, point);
    return at;
}

// `raw` with its quotes.
std::string unescape(std::string_view raw) {
    std::string out;
    out.reserve(raw.size() - 2);
    const char* at = raw.data() + 1;
    const char* const end = raw.data() + raw.size() - 1;
    while (at != end) {
        const char* const plain = std::find(at, end, '\\');
        out.append(at, plain);
        if (plain == end) break;
        at = plain + 2;
        switch (plain[1]) {
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': at = unescape_unicode(at, out); break;
        default: out += plain[1]; break;
        }
    }
    return out;
}

bool has_escape(std::string_view raw) noexcept {
    return raw.find('\\') != std::string_view::npos;
}

text unescape_text(std::string_view raw) {
    return has_escape(raw) ? text(unescape(raw)) : text(raw.substr(1, raw.size() - 2));
}

std::string_view between(const char* begin, const char* end) noexcept {
    return {begin, static_cast<std::size_t>(end - begin)};
}

} // namespace

json::type view::type() const noexcept {
    if (begin_ == nullptr) return type::null;
    switch (*begin_) {
    case '{': return type::object;
    case '[': return type::array;
    case '"': return type::string;
    case 't':
    case 'f': return type::boolean;
    case 'n': return type::null;
    default: return type::number;
    }
}

std::string_view view::raw() const noexcept {
    return begin_ == nullptr ? std::string_view("null") : between(begin_, end_);
}

std::optional<bool> view::as_bool() const noexcept {
    if (type() != type::boolean) return std::nullopt;
    return *begin_ == 't';
}

std::optional<std::int64_t> view::as_int() const noexcept {
    if (type() != type::number) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(begin_, end_, value);
    if (fault != std::errc() || end != end_) return std::nullopt;
    return value;
}

std::optional<double> view::as_double() const noexcept {
    if (type() != type::number) return std::nullopt;
    double value = 0;
    const auto [end, fault] = std::from_chars(begin_, end_, value);
    if (fault == std::errc()) return value;
    // Out of range: too small is zero, too large is no double.
    const std::string_view digits = raw();
    const std::size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos ? digits[exponent + 1] == '-'
                                                         : digits.find('.') <= 2;
    if (tiny) return digits.front() == '-' ? -0.0 : 0.0;
    return std::nullopt;
}

std::optional<std::string> view::as_string() const {
    if (!is_string()) return std::nullopt;
    return unescape(raw());
}

std::optional<text> view::as_text() const {
    if (!is_string()) return std::nullopt;
    return unescape_text(raw());
}

std::optional<view> view::find(std::string_view key) const {
    const char* at = is_object() ? first_item(begin_, '}') : nullptr;
    while (at != nullptr) {
        const std::string_view name = between(at, skip_string(at));
        const char* const value = value_behind_key(at);
        const char* const value_end = skip_value(value);
        const bool same = has_escape(name) ? unescape(name) == key : name.substr(1, name.size() - 2) == key;
        if (same) return view(value, value_end);
        at = next_item(value_end);
    }
    return std::nullopt;
}

object_range view::members() const noexcept {
    return object_range(is_object() ? first_item(begin_, '}') : nullptr);
}

array_range view::elements() const noexcept {
    return array_range(is_array() ? first_item(begin_, ']') : nullptr);
}

member object_range::iterator::operator*() const {
    const std::string_view key = between(at_, skip_string(at_));
    const char* const value = value_behind_key(at_);
    return {unescape_text(key), key, view(value, skip_value(value))};
}

object_range::iterator& object_range::iterator::operator++() noexcept {
    at_ = next_item(skip_value(value_behind_key(at_)));
    return *this;
}

view array_range::iterator::operator*() const noexcept {
    return view(at_, skip_value(at_));
}

array_range::iterator& array_range::iterator::operator++() noexcept {
    at_ = next_item(skip_value(at_));
    return *this;
}

result<view> parse(std::string_view text) {
    if (const auto error = check(text)) {
        std::string sentence = error->at_end ? "the input ended early: expected " : "expected ";
        sentence.append(error->expected).append(" at byte ").append(std::to_string(error->offset));
        return failure(errc::syntax, std::move(sentence));
    }
    const char* begin = text.data();
    const char* end = begin + text.size();
    while (is_space(*begin))
        ++begin;
    while (is_space(end[-1]))
        --end;
    return view(begin, end);
}

} // namespace thalweg::json
