// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/provider.hpp>

namespace thalweg {

model_outcome model_outcome::with_status(stop_reason status, std::string message) {
    model_outcome made;
    made.status_ = status;
    made.why_ = finish::other;
    made.message_ = std::move(message);
    return made;
}

model_outcome model_outcome::completed(finish why, text raw_stop_reason) {
    model_outcome made;
    made.why_ = why;
    made.raw_stop_reason_ = std::move(raw_stop_reason);
    return made;
}

model_outcome model_outcome::failed(std::string message) {
    return with_status(stop_reason::failed, std::move(message));
}

model_outcome model_outcome::timeout(std::string message) {
    return with_status(stop_reason::timeout, std::move(message));
}

model_outcome model_outcome::malformed(std::string message) {
    return with_status(stop_reason::malformed, std::move(message));
}

model_outcome model_outcome::auth(std::string message) {
    return with_status(stop_reason::auth, std::move(message));
}

model_outcome model_outcome::aborted() {
    return with_status(stop_reason::aborted, {});
}

model_outcome model_outcome::without_co_return() {
    return failed("the provider's stream ended without an outcome: generate() lacks a co_return at its end")
        .permanent();
}

model_outcome model_outcome::permanent() && {
    permanent_ = true;
    return std::move(*this);
}

model_outcome model_outcome::context_too_long() && {
    context_too_long_ = true;
    permanent_ = true;
    return std::move(*this);
}

model_outcome model_outcome::with_wait(std::chrono::milliseconds w) && {
    wait_ = w;
    return std::move(*this);
}

model_outcome model_outcome::with_usage(token_counts counts) && {
    usage_ = counts;
    return std::move(*this);
}

model_outcome model_outcome::with_raw_stop_reason(text raw) && {
    raw_stop_reason_ = std::move(raw);
    return std::move(*this);
}

std::string_view model_request::last_text() const noexcept {
    for (auto m = input_.rbegin(); m != input_.rend(); ++m) {
        if (m->kind() == kind::text && m->role() == role::user) return m->content();
    }
    return {};
}

} // namespace thalweg
