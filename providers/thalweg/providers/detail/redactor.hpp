// SPDX-License-Identifier: BSL-1.0

#pragma once

// Finds secrets in text: those that a program names, and what looks like a key of a well-known service.
// Constant once made; any thread. Private to this room.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

class redactor {
public:
    static constexpr std::string_view mark = "[secret]";

    /// A secret is found as it is and as it stands inside a JSON string. Empty ones are none.
    explicit redactor(std::span<const std::string> secrets);

    struct range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    /// Where the secrets are: in order, apart from each other.
    [[nodiscard]] std::vector<range> find(std::string_view bytes) const;

    /// `bytes` with the mark in place of each secret.
    [[nodiscard]] std::string clean(std::string_view bytes) const;

private:
    std::vector<std::string> secrets_;
};

} // namespace thalweg::providers::detail
