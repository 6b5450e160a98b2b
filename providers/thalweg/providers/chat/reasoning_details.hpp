// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. The `reasoning_details` of an answer: entries that have to go back to the model that
// made them, in their order, with all they hold. They arrive in pieces; text of one entry is joined,
// everything else is kept byte for byte. No thread rule.

#include <thalweg/protocol/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

class reasoning_details {
public:
    /// Adds the elements of one array.
    void add(const json::view& array);

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

    /// Appends everything as one JSON array and forgets it.
    void take(std::string& out);

private:
    struct member {
        std::string key; // as received, with its quotes
        std::string raw; // JSON text; unused where `is_text`
        std::string text;
        bool is_text = false;
    };
    struct entry {
        std::string type;
        std::string index;
        std::vector<member> members;
    };

    void add_entry(const json::view& object);
    static void add_member(entry& to, const json::member& from);

    std::vector<entry> entries_;
};

} // namespace thalweg::providers::detail
