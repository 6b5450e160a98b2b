// SPDX-License-Identifier: BSL-1.0

#pragma once

// What makes two requests the same, as JSON that people can read:
//
//     {"system":"…","thinking_level":"…","response_schema":"…","tools":[…],"history":[…],"input":[…]}
//
// What differs from run to run is not in it: times, senders, what providers want back (fidelity), and the ids
// of tool calls, which are numbered in the order they come in. Data of images is there as size and hash.
// Pure functions; private to this room.

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/detail/redactor.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

using text_rewriter = std::function<std::string(std::string_view)>;

/// The JSON of a request. Every text goes through `rewrite`, if there is one, and is cleaned of secrets.
[[nodiscard]] std::string describe_request(const model_request& request, const redactor& secrets,
                                           const text_rewriter& rewrite);

/// One value of the JSON that has no parts: `input[0].text` and what is there.
struct request_leaf {
    std::string path;
    std::string value; ///< of a string its text, else the JSON
    friend bool operator==(const request_leaf&, const request_leaf&) = default;
};

/// A request in the form that is compared, however its JSON was formatted.
class request_key {
public:
    explicit request_key(json::view request);

    /// Equal for equal requests, else not.
    [[nodiscard]] std::string joined() const;
    /// How many leaves the two do not share at their begin or their end; 0 = equal.
    [[nodiscard]] std::size_t distance(const request_key& other) const noexcept;
    /// `at input[0].text: recorded "…Oslo?", asked "…Rome?"`; this is what was recorded. Not for equal keys.
    [[nodiscard]] std::string first_difference(const request_key& asked) const;

private:
    void add(json::view value, const std::string& path);

    std::vector<request_leaf> leaves_;
};

} // namespace thalweg::providers::detail
