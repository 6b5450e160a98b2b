// SPDX-License-Identifier: BSL-1.0

#pragma once

// Where the requests of a provider go, and what every one of them carries: built once from the provider's
// options, shared by all its requests. It knows which header values are secrets, and keeps them out of
// messages (H-21).
//
// No thread rule: immutable once it is built.

#include <thalweg/net/http_message.hpp>
#include <thalweg/protocol/provider.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::wire {

class endpoint {
public:
    /// `path` ("/chat/completions", possibly with a query of its own) is put behind the path of `base_url`,
    /// in front of its query. `headers` are the program's own: none of the ones that are added later replaces
    /// them, and their values count as secrets.
    endpoint(std::string base_url, std::string_view path, std::vector<http::header> headers,
             http::timeouts timeouts);

    /// Adds a header unless the program has given one of that name.
    void add_header(std::string_view name, std::string value);
    /// The same with a value that no message may show: `prefix` ("Bearer ") and `secret`.
    void add_secret(std::string_view name, std::string_view prefix, std::string secret);

    /// No request can be sent: each ends with this outcome, at once. The first one counts.
    void refuse(model_outcome why);
    /// The same for an option that is wrong: failed and permanent, with a sentence; empty = it is not.
    void refuse(std::string sentence);
    [[nodiscard]] const std::optional<model_outcome>& refusal() const noexcept { return refusal_; }

    /// Whether the program itself has given a header of that name (in any case).
    [[nodiscard]] bool has_own_header(std::string_view name) const;

    /// "POST URL" without user, password and query.
    [[nodiscard]] const std::string& label() const noexcept { return label_; }
    [[nodiscard]] const std::string& url() const noexcept { return prototype_.url; }

    /// A request with this body (JSON).
    [[nodiscard]] http::request post(std::string body) const;
    /// A request for something that lies there.
    [[nodiscard]] http::request get() const;

    /// `message` with "[key]" in place of every secret.
    [[nodiscard]] std::string without_secrets(std::string message) const;

private:
    http::request prototype_; // without a body
    std::string label_;
    std::vector<std::string> secrets_;
    std::optional<model_outcome> refusal_;
};

/// The first of these environment variables that is set and not empty; else "". Read when it is called: from
/// a constructor, never during a request.
[[nodiscard]] std::string from_environment(std::initializer_list<const char*> names);

} // namespace thalweg::wire
