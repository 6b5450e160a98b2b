// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/answer_outcome.hpp>

#include <thalweg/wire/retry_hint.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace thalweg::wire {

namespace {

using http::outcome_kind;

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [text](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

bool says(const provider_error& error, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view each) { return error.code == each || error.type == each; });
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

bool is_too_long(const provider_error& error, int status) {
    if (status != 0 && status != 400 && status != 413) return false;
    if (says(error, {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error",
                     "request_too_large"}))
        return true;
    return contains_any(lower_case(error.message),
                        {"prompt is too long", "exceeds the context window", "maximum context length is",
                         "input token count", "maximum prompt length is", "reduce the length of the messages",
                         "exceeds the available context size", "context window exceeds limit"});
}

bool is_auth(const provider_error& error, int status) {
    return status == 401 || status == 403 ||
           says(error, {"authentication_error", "permission_error", "invalid_api_key", "API_KEY_INVALID"});
}

bool is_timeout(const provider_error& error, int status) {
    return status == 408 || status == 504 || says(error, {"timeout_error"});
}

bool is_out_of_quota(const provider_error& error) {
    return says(error, {"insufficient_quota", "billing_error"});
}

/// Whether the same request gets the same answer again. What the server says about that comes first, then a
/// word that leaves no doubt, then the status: every 3xx and 4xx but those that time or money may mend.
/// Refused credentials have an end of their own.
bool is_permanent(const provider_error& error, int status, const http::response_head& head) {
    const auto should_retry = head.find("x-should-retry");
    if (should_retry == "false") return true;
    if (should_retry == "true" || is_out_of_quota(error)) return false;
    if (says(error, {"model_not_found"})) return true;
    switch (status) {
    case 0: return says(error, {"invalid_request_error", "not_found_error", "unsupported_parameter"});
    case 401:
    case 402:
    case 403:
    case 408:
    case 409:
    case 425:
    case 429: return false;
    default: return status >= 300 && status < 500;
    }
}

std::string request_id(const http::response_head& head) {
    auto id = head.find("x-request-id");
    if (!id) id = head.find("request-id");
    return id ? " (request " + std::string(*id) + ")" : std::string();
}

// An error that the server stated, with the HTTP status or the one it stands for.
class error_outcome {
public:
    error_outcome(const provider_error& error, int status, const http::response_head& head,
                  std::string message, std::int64_t now_ms)
        : error_(error), status_(status), head_(head), message_(std::move(message)), now_ms_(now_ms) {}

    model_outcome make() {
        if (is_out_of_quota(error_))
            message_ += "; the account has no quota left, which only its owner can change";
        model_outcome made = kind();
        if (is_too_long(error_, status_)) made = std::move(made).context_too_long();
        if (is_permanent(error_, status_, head_)) made = std::move(made).permanent();
        auto wait = retry_after(head_, now_ms_);
        if (!wait) wait = error_.retry_delay;
        if (wait) made = std::move(made).with_wait(*wait);
        return made;
    }

private:
    model_outcome kind() {
        if (is_auth(error_, status_)) return model_outcome::auth(std::move(message_));
        if (is_timeout(error_, status_)) return model_outcome::timeout(std::move(message_));
        return model_outcome::failed(std::move(message_));
    }

    const provider_error& error_;
    int status_;
    const http::response_head& head_;
    std::string message_;
    std::int64_t now_ms_;
};

// Status 4xx, 5xx, or a redirection that was not followed.
model_outcome of_status(const http::events_outcome& transport, const endpoint& at, std::int64_t now_ms) {
    const auto& head = transport.head;
    auto error = read_error(transport.body);
    std::string message = transport.message;
    if (error) {
        message += ": " + error->sentence();
    } else {
        error.emplace();
        if (!transport.excerpt.empty()) message += "; " + quoted_start(transport.excerpt);
    }
    message += request_id(head);
    return error_outcome(*error, head.status, head, at.without_secrets(std::move(message)), now_ms).make();
}

model_outcome of_transport(const answer_ending& said, const http::events_outcome& transport,
                           const endpoint& at, std::int64_t now_ms) {
    std::string message = transport.message;
    switch (transport.kind) {
    case outcome_kind::http_error: return of_status(transport, at, now_ms);
    case outcome_kind::rejected: return model_outcome::failed(std::move(message)).permanent();
    case outcome_kind::transport: return model_outcome::failed(std::move(message));
    case outcome_kind::timeout: return model_outcome::timeout(std::move(message));
    case outcome_kind::cancelled: return model_outcome::aborted();
    case outcome_kind::malformed: break;
    case outcome_kind::ok:
        message.assign(at.label()).append(": the answer ended without ").append(said.end_marker);
        if (transport.cut) message += ", in the middle of an event";
        break;
    }
    if (!transport.excerpt.empty()) message += "; " + quoted_start(transport.excerpt);
    auto made = model_outcome::malformed(at.without_secrets(std::move(message)));
    return transport.foreign ? std::move(made).permanent() : made; // the URL leads to something else
}

} // namespace

model_outcome answer_outcome(const answer_ending& said, const http::events_outcome& transport,
                             const endpoint& at, std::int64_t now_ms) {
    const std::string prefix = at.label() + ": ";
    auto made = model_outcome::aborted();
    switch (said.status) {
    case answer_status::completed: return model_outcome::completed(said.why, said.raw_stop_reason);
    case answer_status::malformed:
        made = model_outcome::malformed(at.without_secrets(prefix + said.complaint));
        break;
    case answer_status::failed: {
        const auto& error = *said.error;
        std::string message = prefix + "the answer reports an error: ";
        if (error.status != 0) message += "status " + std::to_string(error.status) + ", ";
        message += error.sentence() + request_id(transport.head);
        message = at.without_secrets(std::move(message));
        made = error_outcome(error, error.status, transport.head, std::move(message), now_ms).make();
        if (said.permanent) made = std::move(made).permanent();
        break;
    }
    case answer_status::unfinished: made = of_transport(said, transport, at, now_ms); break;
    }
    if (said.usage) made = std::move(made).with_usage(*said.usage);
    return std::move(made).with_raw_stop_reason(said.raw_stop_reason);
}

} // namespace thalweg::wire
