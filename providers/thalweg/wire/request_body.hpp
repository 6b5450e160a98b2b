// SPDX-License-Identifier: BSL-1.0

#pragma once

// Writing the JSON body of a request, always valid JSON in valid UTF-8 whatever the messages hold. The
// program's extra members (a raw JSON object, for what a gateway wants beyond the protocol) win over ours.
//
// No thread rule; nothing throws but for memory.

#include <thalweg/protocol/json.hpp>

#include <string>
#include <string_view>

namespace thalweg::wire {

/// What is wrong with an option `extra`, as a sentence; empty = it is empty or a JSON object.
[[nodiscard]] std::string extra_fault(std::string_view extra);

/// The members of one JSON object.
class request_body {
public:
    /// `extra`: empty or a JSON object, see extra_fault(); it outlives the writer.
    explicit request_body(std::string_view extra);

    /// Begins a member; its value is to be appended to out(). False: `extra` has one of that name, and
    /// nothing is to be appended.
    [[nodiscard]] bool member(std::string_view name);
    void add(std::string_view name, std::string_view text);      ///< a string
    void add_json(std::string_view name, std::string_view json); ///< any value, as JSON text
    void add_int(std::string_view name, std::int64_t value);
    void add_double(std::string_view name, double value);

    [[nodiscard]] std::string& out() noexcept { return out_; }

    /// The whole object. Call it once, last.
    [[nodiscard]] std::string finish();

private:
    void add_name(std::string_view name);

    json::view extra_;
    std::string out_ = "{";
};

/// Appends `text` as a JSON string; bytes that are not UTF-8, and unpaired surrogates, become U+FFFD.
void append_text(std::string& out, std::string_view text);

/// Appends the JSON Schema of a tool's arguments or of an answer; one that is no JSON object becomes that of
/// an object without members.
void append_schema(std::string& out, std::string_view schema);

} // namespace thalweg::wire
