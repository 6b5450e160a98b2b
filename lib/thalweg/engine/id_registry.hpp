// SPDX-License-Identifier: BSL-1.0

#pragma once

// Makes the ids of tool calls unique over a whole session (R-PRO-13, H-07): providers omit them, repeat them,
// or use the tool's name.

#include <thalweg/protocol/text.hpp>

#include <cstddef>
#include <unordered_map>

namespace thalweg {

class id_registry {
public:
    /// The session's id for a call: `wanted` if it is new, else `wanted#2`, `wanted#3`, …; a made one if it
    /// is empty.
    [[nodiscard]] text claim(const text& wanted);

    /// An id of the history that was resumed; a later call gets another one.
    void mark_used(const text& id) { used_.try_emplace(id, 1); }

private:
    std::unordered_map<text, std::size_t> used_; // id → how often it was wanted
    std::size_t made_ = 0;
};

} // namespace thalweg
