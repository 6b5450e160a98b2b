// SPDX-License-Identifier: BSL-1.0

#pragma once

// Checks JSON against a JSON Schema (draft 7) that somebody wrote by hand: valijson behind a pointer.
//
// `pattern`, `patternProperties` and `format` are not enforced: valijson gives them to std::regex, which
// recurses once per character, so that a long string from a model would end the program. The tool has to look
// itself. A $ref to another document is refused: nothing is fetched.
//
// Thread rule: constant once made; any thread.

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg {

class json_schema {
public:
    /// The error says why `schema` is no schema of an object.
    static result<std::shared_ptr<const json_schema>> compile(std::string_view schema);
    ~json_schema();

    /// `value` in the form the schema wants: numbers, integers, booleans and strings that were given as their
    /// neighbors are converted ("7" to 7, "true" to true, 7 to "7"), null for a member that may be left out
    /// is left out (R-EVT-36). Its own text if nothing had to be. It may still not fit: ask fault().
    [[nodiscard]] std::string converted(json::view value) const;

    /// Why `value` does not fit, as a sentence that starts with the path, or the empty optional.
    /// Numbers of any size count by their value; nothing is changed (H-15).
    [[nodiscard]] std::optional<std::string> fault(json::view value) const;

private:
    struct parts;
    explicit json_schema(std::unique_ptr<parts> p) noexcept;
    std::unique_ptr<parts> parts_;
};

} // namespace thalweg
