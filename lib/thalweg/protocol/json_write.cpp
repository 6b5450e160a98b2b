// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <array>
#include <charconv>
#include <cmath>

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
    const unsigned point =
        0xd000U | (static_cast<unsigned>(bytes[1]) & 0x3fU) << 6 | (static_cast<unsigned>(bytes[2]) & 0x3fU);
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
    out += '"';
    std::size_t plain = 0;
    while (plain < utf8.size() && is_plain_ascii[static_cast<unsigned char>(utf8[plain])])
        ++plain;
    out.append(utf8, 0, plain);
    utf8.remove_prefix(plain);
    if (!utf8.empty()) {
        if (utf8::is_valid(utf8))
            append_valid(out, utf8);
        else
            append_broken(out, utf8);
    }
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
