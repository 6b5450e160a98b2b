// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where the parts of the stream checker put what they find.

#include <thalweg/protocol/stream_checker.hpp>

#include <initializer_list>
#include <vector>

namespace thalweg::detail {

class check_log {
public:
    using rule = stream_checker::rule;

    /// Keeps one violation at the current message: the sentence is the number, the place and `parts` in a
    /// row.
    void add(rule broken, std::string_view number, std::initializer_list<std::string_view> parts);

    void next_message() noexcept { ++index_; }
    void start_run() noexcept { index_ = 0; }
    /// Puts "in the stream of child/grandchild" into the sentences that follow; empty for the own stream.
    void set_place(std::string place) { place_ = std::move(place); }

    [[nodiscard]] const std::vector<stream_checker::violation>& kept() const noexcept { return kept_; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
    std::vector<stream_checker::violation> kept_;
    std::string place_;
    std::size_t index_ = 0;
    std::size_t count_ = 0;
};

/// "partial_text delta", "tool_call c1", …; nullptr is "the end of the run".
[[nodiscard]] std::string describe(const message* m);
[[nodiscard]] inline std::string describe(const message& m) {
    return describe(&m);
}

} // namespace thalweg::detail
