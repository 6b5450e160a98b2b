// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a server would refuse is found before anything is sent, and said with the rule that it breaks: a tool
// by a name or with a schema that the server does not take, two tools of one name, an image of a type or size
// that it cannot be shown. Such a request can never succeed, so its outcome is permanent.
//
// No thread rule.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/wire/endpoint.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::wire {

/// What a server demands. Without a value a rule does not hold; what every server demands holds always: names
/// are not empty and not used twice, a schema is a JSON object and describes one.
struct request_rules {
    std::string_view server; ///< its name in sentences: "Anthropic"

    std::size_t longest_name = 0;       ///< of a tool, in characters
    std::string_view beside_letters;    ///< what a tool's name may hold beside letters and digits: "_-"
    bool name_begins_with_word = false; ///< with a letter or '_'
    std::span<const std::string_view> no_members_on_top = {}; ///< of a schema: "anyOf"

    std::span<const std::string_view> image_types = {}; ///< "image/png"; not asked of images that are URLs
    std::size_t largest_image = 0;                      ///< in bytes, decoded
    bool takes_image_urls = true;
};

/// Which rule the request breaks, as a sentence that names the place; empty = none.
[[nodiscard]] std::string refusal_of(const model_request& request, const request_rules& rules);

/// Where to send the request: `at`, or a copy of it that refuses with refusal_of().
[[nodiscard]] std::shared_ptr<const endpoint> checked(std::shared_ptr<const endpoint> at,
                                                      const model_request& request,
                                                      const request_rules& rules);

} // namespace thalweg::wire
