// SPDX-License-Identifier: BSL-1.0

#include "table.hpp"

#include <thalweg/protocol/utf8.hpp>

#include <algorithm>

namespace cli {

std::string table::text() const {
    std::vector<std::size_t> widths(aligns_.size());
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], thalweg::utf8::count(row[i]));
    }
    std::string all;
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string fill(widths[i] - thalweg::utf8::count(row[i]), ' ');
            if (i > 0) line += "  ";
            line += aligns_[i] == 'r' ? fill + row[i] : row[i] + fill;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + '\n';
    }
    return all;
}

} // namespace cli
