// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a provider yields: pieces of a model's answer without any framing (D-01). The engine makes segments of
// them, so a provider cannot break the streaming discipline.
//
// Order rules for a provider: content implies begin(); a change of kind or a new call closes the open block;
// a block boundary of the wire always sends end(), so that a finished call is approved at once.

#include <thalweg/protocol/message.hpp>

#include <memory>

namespace thalweg {

class delta {
public:
    enum class type : std::uint8_t {
        begin_text,
        begin_thinking,
        text,
        thinking,
        call,
        arguments,
        end,
        fidelity,
        usage,
        whole
    };

    static delta begin_text() { return delta(type::begin_text); }
    static delta begin_thinking() { return delta(type::begin_thinking); }
    static delta text(thalweg::text piece) { return delta(type::text, std::move(piece)); }
    static delta thinking(thalweg::text piece) { return delta(type::thinking, std::move(piece)); }
    /// Opens a tool call. `id` is the provider's own and may be empty or repeated; the engine makes it unique
    /// (D-02).
    static delta call(thalweg::text id, thalweg::text name) {
        return delta(type::call, std::move(name), std::move(id));
    }
    static delta arguments(thalweg::text piece) { return delta(type::arguments, std::move(piece)); }
    static delta end() { return delta(type::end); } ///< closes the open block now
    /// Opaque JSON object that belongs to the open block (or the last one closed by content): raw text, kept
    /// byte for byte.
    static delta fidelity(thalweg::text json_object) { return delta(type::fidelity, std::move(json_object)); }
    static delta usage(
        token_counts counts); ///< of this request, final statement; may come repeatedly, last wins
    static delta whole(message complete); ///< any complete model message or event, as it is

    [[nodiscard]] type kind() const noexcept { return kind_; }
    [[nodiscard]] const thalweg::text& content() const noexcept {
        return content_;
    } ///< piece, name or JSON, by kind
    [[nodiscard]] thalweg::text& content() noexcept { return content_; }
    [[nodiscard]] const thalweg::text& id() const noexcept { return id_; }
    [[nodiscard]] const token_counts& counts() const noexcept { return boxed_->counts; } ///< only for usage
    [[nodiscard]] message& wrapped() noexcept { return boxed_->whole; }                  ///< only for whole

private:
    struct box {
        token_counts counts;
        message whole;
    };
    explicit delta(type t, thalweg::text content = {}, thalweg::text id = {}) noexcept
        : content_(std::move(content)), id_(std::move(id)), kind_(t) {}

    thalweg::text content_;
    thalweg::text id_;
    std::unique_ptr<box> boxed_; // usage and whole only
    type kind_;
};

inline delta delta::usage(token_counts counts) {
    delta d(type::usage);
    d.boxed_ = std::make_unique<box>();
    d.boxed_->counts = counts;
    return d;
}

inline delta delta::whole(message complete) {
    delta d(type::whole);
    d.boxed_ = std::make_unique<box>();
    d.boxed_->whole = std::move(complete);
    return d;
}

static_assert(sizeof(delta) <= 64);

} // namespace thalweg
