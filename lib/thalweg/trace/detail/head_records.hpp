// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a file that is begun by rotation starts with: the session's invariants and, once known, its tools
// (R-ENG-75, R-TRC-38). A sink learns them from the records that pass through it.
//
// One thread. For the sources of this room only.

#include <thalweg/protocol/message.hpp>

#include <optional>
#include <span>
#include <vector>

namespace thalweg::trace::detail {

class head_records {
public:
    explicit head_records(std::span<const message> known) {
        for (const message& m : known)
            learn(m);
    }

    void learn(const message& m) {
        if (!m.is_recordable()) return;
        if (m.kind() == kind::session_meta)
            meta_ = m;
        else if (m.kind() == kind::tool_list_ready)
            tools_ = m;
    }

    /// The records that must stand in front of `records` in a new file: none if they bring their own.
    [[nodiscard]] std::vector<message> before(std::span<const message> records) const {
        std::vector<message> head;
        for (const message& m : records) {
            if (!m.is_recordable()) continue;
            if (m.kind() == kind::session_meta) return head;
            break;
        }
        if (meta_) head.push_back(*meta_);
        if (tools_) head.push_back(*tools_);
        return head;
    }

private:
    std::optional<message> meta_;
    std::optional<message> tools_;
};

} // namespace thalweg::trace::detail
