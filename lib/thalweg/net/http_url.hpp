// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. What may be said about a request in a message, and whether it may be sent at all.

#include <thalweg/net/http_message.hpp>

#include <string>
#include <string_view>

namespace thalweg::http::detail {

/// The URL without user, password, query and fragment ("?…" stands for a query), or empty and a reason in
/// `complaint`. The reason quotes nothing of the URL, since a secret may be anywhere in a text that is no
/// URL.
[[nodiscard]] std::string public_url(const std::string& url, std::string& complaint);

/// Why the method or a header cannot be sent; empty if they can. Names a header, never its value.
[[nodiscard]] std::string request_complaint(const request& what);

} // namespace thalweg::http::detail
