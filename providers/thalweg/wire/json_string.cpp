// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/json_string.hpp>

#include <bit>
#include <cstring>
#include <optional>

namespace thalweg::wire {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// The first quote or backslash at or behind `at`; eight bytes at a time where the byte order allows it.
const char* next_special(const char* at) noexcept {
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t ones = 0x0101010101010101U;
        constexpr std::uint64_t tops = 0x8080808080808080U;
        while (true) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, at, sizeof eight);
            const std::uint64_t quote = eight ^ (ones * '"');
            const std::uint64_t slash = eight ^ (ones * '\\');
            const std::uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
            if (found != 0) return at + std::countr_zero(found) / 8;
            at += sizeof eight;
        }
    } else {
        while (*at != '"' && *at != '\\')
            ++at;
        return at;
    }
}

std::optional<std::uint16_t> hexadecimal(std::string_view four) {
    if (four.size() < 4) return std::nullopt;
    unsigned value = 0;
    for (const char c : four.substr(0, 4)) {
        unsigned digit = 16;
        if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
        if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
        if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
        if (digit == 16) return std::nullopt;
        value = value * 16 + digit;
    }
    return static_cast<std::uint16_t>(value);
}

// The character of a one-letter escape, 0 if there is none.
char simple_escape(char letter) {
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

void append_code_point(std::uint32_t point, std::string& out) {
    const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    const auto add_tail = [&](unsigned shift) { add(0x80U | ((point >> shift) & 0x3FU)); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
        add(0xC0U | (point >> 6U));
    } else if (point < 0x10000) {
        add(0xE0U | (point >> 12U));
        add_tail(6);
    } else {
        add(0xF0U | (point >> 18U));
        add_tail(12);
        add_tail(6);
    }
    add_tail(0);
}

constexpr bool is_high(std::uint16_t unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}
constexpr bool is_low(std::uint16_t unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

} // namespace

raw_string string_at(const char* inside) noexcept {
    raw_string found;
    const char* at = next_special(inside);
    while (*at == '\\') {
        found.escaped = true;
        at = next_special(at + 2);
    }
    found.bytes = std::string_view(inside, static_cast<std::size_t>(at - inside));
    return found;
}

bool string_joiner::append(std::string_view raw, std::string& out) {
    while (!raw.empty()) {
        const std::size_t plain = std::min(raw.find('\\'), raw.size());
        if (plain > 0) {
            flush(out);
            out += raw.substr(0, plain);
            raw.remove_prefix(plain);
            continue;
        }
        if (raw.size() < 2) return false;
        if (raw[1] == 'u') {
            const auto unit = hexadecimal(raw.substr(2));
            if (!unit) return false;
            add_unit(*unit, out);
            raw.remove_prefix(6);
            continue;
        }
        const char plainly = simple_escape(raw[1]);
        if (plainly == 0) return false;
        flush(out);
        out += plainly;
        raw.remove_prefix(2);
    }
    return true;
}

void string_joiner::add_unit(std::uint16_t unit, std::string& out) {
    if (high_ != 0 && is_low(unit)) {
        append_code_point(0x10000U + ((high_ - 0xD800U) << 10U) + (unit - 0xDC00U), out);
        high_ = 0;
        return;
    }
    flush(out);
    if (is_high(unit)) {
        high_ = unit;
    } else if (is_low(unit)) {
        out += replacement;
    } else {
        append_code_point(unit, out);
    }
}

void string_joiner::flush(std::string& out) {
    if (high_ == 0) return;
    high_ = 0;
    out += replacement;
}

} // namespace thalweg::wire
