// SPDX-License-Identifier: BSL-1.0

#pragma once

// A session's messages in the shape in which every protocol wants them: answers of the model, each with what
// followed it. The history is repaired on the way, so that a server takes it (H-01): each whole call of an
// answer finds exactly one result, results without a call and calls that never became whole are left out.
//
// All that is given out points into the request, which outlives it. No thread rule.

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/provider.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::wire {

using message_list = std::vector<const message*>;

/// What a server gets for a call that has no result, and for a result that is empty.
inline constexpr std::string_view no_result = "Error: no result, the call was not run.";
inline constexpr std::string_view empty_result = "(no output)";

/// An answer of the model, and what followed it until the next one. The first one may have no answer.
struct exchanged {
    message_list answer;  ///< texts, thinking, calls, data; in the order of the model
    message_list outputs; ///< of tools
    message_list user;    ///< prompts, steering, pictures

    /// The result of a call of this answer; null = there is none.
    [[nodiscard]] const message* result_of(const message& call) const noexcept;
};

/// History, then input; never empty.
[[nodiscard]] std::vector<exchanged> exchanges_of(const model_request& request);

/// The place in `all` where the running turn begins: behind the last thing that a person said, steering
/// between tool calls aside. all.size() = none runs.
[[nodiscard]] std::size_t running_turn(const std::vector<exchanged>& all);

/// Not broken off: what broke off belongs to an answer that was given up.
[[nodiscard]] bool is_whole(const message& m) noexcept;
[[nodiscard]] bool is_whole_call(const message& m) noexcept;

/// The arguments of a call as a server takes them: as received, or "{}" if they are no JSON object (D-09).
[[nodiscard]] std::string_view arguments_of(const message& call);

/// The member `name` of a message's fidelity, if it was made by `model`: fidelity objects have a member
/// `model`, and another model refuses what this one has signed. Points into the message.
[[nodiscard]] std::optional<json::view> own_fidelity(const message& m, std::string_view model,
                                                     std::string_view name);

/// A picture, in one of the two ways in which servers take them.
struct picture {
    std::string_view mime_type; ///< of inline data; empty = `data` is a URL
    std::string_view data;      ///< base64, or the URL

    [[nodiscard]] bool is_url() const noexcept { return mime_type.empty(); }
};

/// What an image message or an image of a tool's result shows: "data:TYPE;base64,…" taken apart, else a URL.
[[nodiscard]] picture picture_at(std::string_view url) noexcept;
/// The same for a user's message: an image URL or inline data of an image type; nothing for any other.
[[nodiscard]] std::optional<picture> picture_of(const message& m) noexcept;

/// What calls are named towards a server: the provider's own id where the server takes it and it is unique
/// within the answer; else the session's id, made to fit. The same id in every request.
class call_ids {
public:
    struct rule {
        std::size_t longest = 0;        ///< in characters; 0 = no limit
        bool only_words = false;        ///< nothing but letters, digits, '_' and '-'
        bool only_alphanumeric = false; ///< nothing but letters and digits
    };

    call_ids(const message_list& answer, rule with);
    explicit call_ids(const message_list& answer) : call_ids(answer, rule()) {}

    [[nodiscard]] std::string_view of(const message& call) const;

private:
    void add(const message& call);
    [[nodiscard]] std::string fitting(std::string_view id) const;
    [[nodiscard]] bool is_taken(std::string_view id) const;

    rule rule_;
    std::vector<std::pair<const message*, std::string>> ids_;
};

} // namespace thalweg::wire
