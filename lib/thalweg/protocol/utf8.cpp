// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/utf8.hpp>

#include <simdjson.h>

#include <algorithm>

namespace thalweg::utf8 {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

struct sequence {
    std::size_t length; // bytes that belong together
    enum class state : unsigned char { valid, invalid, unfinished } found;
};

struct byte_range {
    unsigned char low, high;
};

// What may follow a lead byte: the ranges exclude overlong forms and what lies beyond U+10FFFF.
byte_range second_byte(unsigned char lead) noexcept {
    switch (lead) {
    case 0xe0: return {0xa0, 0xbf};
    case 0xf0: return {0x90, 0xbf};
    case 0xf4: return {0x80, 0x8f};
    default: return {0x80, 0xbf};
    }
}

std::size_t length_by_lead(unsigned char lead) noexcept {
    if (lead < 0x80) return 1;
    if (lead < 0xc2) return 0;
    if (lead < 0xe0) return 2;
    if (lead < 0xf0) return 3;
    return lead < 0xf5 ? 4 : 0;
}

// The first sequence of non-empty `bytes`. A surrogate is read as one sequence and is invalid as a whole.
sequence first_sequence(std::string_view bytes) noexcept {
    using state = sequence::state;
    const auto at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const std::size_t length = length_by_lead(at(0));
    if (length == 0) return {1, state::invalid};
    if (length == 1) return {1, state::valid};
    for (std::size_t i = 1; i < length; ++i) {
        if (i == bytes.size()) return {i, state::unfinished};
        const byte_range allowed = i == 1 ? second_byte(at(0)) : byte_range{0x80, 0xbf};
        if (at(i) < allowed.low || at(i) > allowed.high) {
            // The two bytes ed a0 are no head of a valid sequence: without their third they are two faults.
            const bool half_surrogate = i == 2 && at(0) == 0xed && at(1) >= 0xa0;
            return {half_surrogate ? 1 : i, state::invalid};
        }
    }
    const bool surrogate = at(0) == 0xed && at(1) >= 0xa0;
    return {length, surrogate ? state::invalid : state::valid};
}

bool is_continuation(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// The bytes of `bytes` up to the first sequence that is not valid, read one by one.
std::size_t scan_valid(std::string_view bytes) noexcept {
    std::size_t at = 0;
    while (at < bytes.size()) {
        const sequence next = first_sequence(bytes.substr(at));
        if (next.found != sequence::state::valid) break;
        at += next.length;
    }
    return at;
}

// Appends repaired `bytes`; returns the length of an unfinished tail that was left out.
std::size_t repair(std::string_view bytes, std::string& out) {
    if (is_valid(bytes)) {
        out.append(bytes);
        return 0;
    }
    while (!bytes.empty()) {
        const std::size_t good = scan_valid(bytes);
        out.append(bytes.substr(0, good));
        bytes.remove_prefix(good);
        if (bytes.empty()) break;
        const sequence broken = first_sequence(bytes);
        if (broken.found == sequence::state::unfinished) return bytes.size();
        out.append(replacement);
        bytes.remove_prefix(broken.length);
    }
    return 0;
}

// The end of the input came inside a character.
void repair_tail(std::string_view tail, std::string& out) {
    if (tail.empty()) return;
    const bool half_surrogate = tail.size() == 2 && tail[0] == '\xed' &&
                                static_cast<unsigned char>(tail[1]) >= 0xa0;
    out.append(replacement);
    if (half_surrogate) out.append(replacement);
}

} // namespace

bool is_valid(std::string_view bytes) noexcept {
    return simdjson::validate_utf8(bytes.data(), bytes.size());
}

std::size_t valid_prefix(std::string_view bytes) noexcept {
    return is_valid(bytes) ? bytes.size() : scan_valid(bytes);
}

bool is_cut_short(std::string_view bytes) noexcept {
    const std::string_view tail = bytes.substr(valid_prefix(bytes));
    if (tail.empty() || first_sequence(tail).found != sequence::state::unfinished) return false;
    return !(tail.size() == 2 && tail[0] == '\xed' && static_cast<unsigned char>(tail[1]) >= 0xa0);
}

std::string make_valid(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    const std::size_t tail = repair(bytes, out);
    repair_tail(bytes.substr(bytes.size() - tail), out);
    return out;
}

std::size_t count(std::string_view valid) noexcept {
    std::size_t points = 0;
    for (const char byte : valid)
        points += is_continuation(byte) ? 0 : 1;
    return points;
}

std::string_view truncate(std::string_view valid, std::size_t code_points) noexcept {
    if (valid.size() <= code_points) return valid;
    std::size_t at = 0;
    for (; at < valid.size(); ++at) {
        if (is_continuation(valid[at])) continue;
        if (code_points == 0) break;
        --code_points;
    }
    return valid.substr(0, at);
}

void repairer::feed(std::string_view piece, std::string& out) {
    // Complete the held character byte by byte: it takes three at most.
    while (held_size_ != 0 && !piece.empty()) {
        held_[held_size_++] = piece.front();
        piece.remove_prefix(1);
        const std::string_view held(held_, held_size_);
        const std::size_t tail = repair(held, out);
        std::copy(held.end() - static_cast<std::ptrdiff_t>(tail), held.end(), held_);
        held_size_ = tail;
    }
    if (held_size_ != 0) return;
    const std::size_t tail = repair(piece, out);
    std::copy(piece.end() - static_cast<std::ptrdiff_t>(tail), piece.end(), held_);
    held_size_ = tail;
}

void repairer::flush(std::string& out) {
    repair_tail(std::string_view(held_, held_size_), out);
    held_size_ = 0;
}

} // namespace thalweg::utf8
