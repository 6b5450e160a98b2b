// SPDX-License-Identifier: BSL-1.0

#pragma once

// A plain table: columns as wide as their widest cell, two blanks between them, nothing behind the last one.

#include <string>
#include <utility>
#include <vector>

namespace cli {

class table {
public:
    /// One letter a column: `l` or `r`.
    explicit table(std::string aligns) : aligns_(std::move(aligns)) {}

    /// As many cells as there are columns, each one a printable line.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// Each row on a line.
    [[nodiscard]] std::string text() const;

private:
    std::string aligns_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace cli
