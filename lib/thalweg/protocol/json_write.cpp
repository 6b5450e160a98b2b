// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace thalweg::json {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

constexpr std::array<bool, 256> make_plain_bytes() noexcept {
    std::array<bool, 256> plain{};
    for (int c = 0x20; c < 0x80; ++c)
        plain[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
    return plain;
}
constexpr std::array<bool, 256> is_plain_ascii = make_plain_bytes();

// Whether one of eight bytes may be no plain ASCII. It never misses one, and may ask for a closer look in
// vain.
bool may_need_escape(const char* eight) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101;
    std::uint64_t bytes;
    std::memcpy(&bytes, eight, sizeof bytes);
    const std::uint64_t quotes = (bytes ^ ones * '"') - ones;
    const std::uint64_t backslashes = (bytes ^ ones * '\\') - ones;
    const std::uint64_t controls = bytes - ones * 0x20;
    return ((bytes | quotes | backslashes | controls) & ones * 0x80) != 0;
}

std::size_t plain_prefix(std::string_view bytes) noexcept {
    std::size_t at = 0;
    while (bytes.size() - at >= 8 && !may_need_escape(bytes.data() + at))
        at += 8;
    while (at < bytes.size() && is_plain_ascii[static_cast<unsigned char>(bytes[at])])
        ++at;
    return at;
}

void append_escape(std::string& out, unsigned char c) {
    switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\t': out += "\\t"; return;
    case '\n': out += "\\n"; return;
    case '\f': out += "\\f"; return;
    case '\r': out += "\\r"; return;
    default:
        out += "\\u00";
        out += hex_digits[c >> 4];
        out += hex_digits[c & 15];
        return;
    }
}

bool is_surrogate(std::string_view bytes) noexcept {
    const auto at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    return bytes.size() >= 3 && at(0) == 0xed && at(1) >= 0xa0 && at(1) <= 0xbf && at(2) >= 0x80 &&
           at(2) <= 0xbf;
}

void append_surrogate(std::string& out, std::string_view bytes) {
    const unsigned point = 0xd000U | (static_cast<unsigned>(bytes[1]) & 0x3fU) << 6 |
                           (static_cast<unsigned>(bytes[2]) & 0x3fU);
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4)
        out += hex_digits[point >> shift & 15U];
}

void append_valid(std::string& out, std::string_view utf8) {
    std::size_t start = 0;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto c = static_cast<unsigned char>(utf8[i]);
        if (is_plain_ascii[c] || c >= 0x80) continue;
        out.append(utf8, start, i - start);
        append_escape(out, c);
        start = i + 1;
    }
    out.append(utf8, start, utf8.size() - start);
}

// Text that is not UTF-8: surrogates keep their value as escapes, the rest is repaired.
void append_broken(std::string& out, std::string_view bytes) {
    std::size_t start = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (!is_surrogate(bytes.substr(i))) continue;
        append_valid(out, utf8::make_valid(bytes.substr(start, i - start)));
        append_surrogate(out, bytes.substr(i));
        start = i + 3;
        i += 2;
    }
    append_valid(out, utf8::make_valid(bytes.substr(start)));
}

} // namespace

void append_string(std::string& out, std::string_view utf8) {
    const std::size_t plain = plain_prefix(utf8);
    const bool is_whole = plain == utf8.size();
    const std::size_t old_size = out.size();
    out.resize(old_size + plain + (is_whole ? 2 : 1));
    char* at = out.data() + old_size;
    *at++ = '"';
    at = std::copy_n(utf8.data(), plain, at);
    if (is_whole) {
        *at = '"';
        return;
    }
    utf8.remove_prefix(plain);
    if (utf8::is_valid(utf8))
        append_valid(out, utf8);
    else
        append_broken(out, utf8);
    out += '"';
}

void append_int(std::string& out, std::int64_t value) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_double(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_compact(std::string& out, std::string_view checked) {
    bool in_string = false;
    for (std::size_t i = 0; i < checked.size(); ++i) {
        const char c = checked[i];
        if (in_string) {
            out += c;
            if (c == '\\')
                out += checked[++i];
            else
                in_string = c != '"';
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            out += c;
            in_string = c == '"';
        }
    }
}

} // namespace thalweg::json
