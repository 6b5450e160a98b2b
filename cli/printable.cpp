// SPDX-License-Identifier: BSL-1.0

#include "printable.hpp"

#include <thalweg/protocol/utf8.hpp>

namespace cli {

namespace {

void append_picture(std::string& out, unsigned char control) {
    const unsigned code = control == 0x7f ? 0x2421U : 0x2400U + control;
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
}

} // namespace

std::string printable(std::string_view utf8) {
    const std::string valid = thalweg::utf8::make_valid(utf8);
    std::string out;
    out.reserve(valid.size());
    for (std::size_t n = 0; n < valid.size(); ++n) {
        const auto byte = static_cast<unsigned char>(valid[n]);
        const bool c1 = byte == 0xc2 && n + 1 < valid.size() &&
                        static_cast<unsigned char>(valid[n + 1]) < 0xa0;
        if (c1) {
            out += "\xef\xbf\xbd";
            ++n;
        } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
            append_picture(out, byte);
        } else {
            out += valid[n];
        }
    }
    return out;
}

std::string one_line(std::string_view utf8, std::size_t columns) {
    std::string text = printable(utf8);
    for (char& c : text) {
        if (c == '\n' || c == '\t') c = ' ';
    }
    if (thalweg::utf8::count(text) <= columns) return text;
    return std::string(thalweg::utf8::truncate(text, columns - 1)) + "…";
}

} // namespace cli
