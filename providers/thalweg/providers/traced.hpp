// SPDX-License-Identifier: BSL-1.0

#pragma once

// Says what a provider does, for logs and metrics:
//
//     providers::traced model(providers::openai_chat({.model = "gpt-5-mini"}), [](const auto& r) {
//         if (r.stage == providers::request_stage::end) latency.add(r.took);
//     });
//     providers::traced model(std::ref(other), providers::request_log("requests.jsonl"));
//
// Each request gives a record at its begin, at the first delta of the answer, and at its end, also if its
// stream is dropped or the provider throws. Records have sizes, times and the outcome; what was asked and
// answered is in them only if options say so. The words of a failure are those of the outcome, which has no
// secrets (H-21).
//
// The answer is handed on unchanged whatever the sink does. A record that a sink throws at is lost to it, and
// the next one counts it.
//
// Thread rule: as the provider inside; the sink is called on the loop's thread and should not block.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/detail/provider_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace thalweg::providers {

enum class request_stage : std::uint8_t { begin, first_delta, end };
[[nodiscard]] std::string_view to_string(request_stage s) noexcept;

/// Deltas of one kind and the bytes of their content.
struct delta_count {
    std::uint64_t deltas = 0;
    std::uint64_t bytes = 0;
};

/// What a sink is told. Views and pointers are valid during the call only.
struct request_record {
    request_stage stage = request_stage::begin;
    std::string_view provider; ///< traced_options::name
    std::uint64_t request = 0; ///< from 1, of one traced provider
    std::int64_t wall_ms = 0;  ///< UTC, milliseconds since 1970
    std::uint64_t lost = 0;    ///< records that the sink threw at since the last one it took

    // What was asked.
    std::size_t history = 0; ///< messages
    std::size_t input = 0;   ///< messages
    std::size_t tools = 0;
    std::uint64_t asked_bytes = 0; ///< of system prompt, messages and tool definitions

    // What has come so far; at the begin nothing.
    std::chrono::microseconds took{0};                    ///< since the begin
    std::optional<std::chrono::microseconds> first_after; ///< from the begin to the first delta but usage
    delta_count text;
    delta_count thinking;
    delta_count calls; ///< bytes: of the arguments
    delta_count whole; ///< bytes: of the content
    std::uint64_t fidelity = 0;
    std::optional<token_counts> usage; ///< as last reported, by the outcome if by no delta

    // How it ended.
    const model_outcome* outcome = nullptr; ///< at the end; nullptr there: dropped, or the provider threw
    std::string_view thrown;                ///< at the end: what the provider threw

    // Only with traced_options::with_text.
    std::string_view asked;    ///< the last user text of the input
    std::string_view answered; ///< at the end: the text of the answer
};

/// Appends the record as one JSON object, without a line end. Members without a value are left out.
void append_json(std::string& out, const request_record& r);

using request_sink = std::function<void(const request_record&)>;

/// A sink that appends each record to a file as one line of JSON, whole also when others append to the same
/// file by it. A line that could not be written is counted as `lost` in the next one. Copies share the file.
class request_log {
public:
    explicit request_log(std::string path); ///< the file is made by the first record
    void operator()(const request_record& r);

private:
    struct state;
    std::shared_ptr<state> state_;
};

struct traced_options {
    std::string name = {}; ///< what records call the provider
    bool
        with_text = false; ///< records have the prompt and the answer; they may be anything, secrets included
};

namespace detail {

struct tracing {
    request_sink sink;
    traced_options options;
    std::uint64_t requests = 0;
    std::uint64_t lost = 0;
};

[[nodiscard]] stream<delta, model_outcome> watched(std::shared_ptr<tracing> by, provider_ref inner,
                                                   model_request request);

} // namespace detail

/// P may be a std::reference_wrapper: then the provider outlives this one. Not to be moved while one of its
/// streams is read, and outlives them.
template <class P>
class traced {
    static_assert(check_provider<P>());

public:
    traced(P inner, request_sink sink, traced_options options = {})
        : inner_(std::move(inner)), tracing_(std::make_shared<detail::tracing>()) {
        tracing_->sink = std::move(sink);
        tracing_->options = std::move(options);
    }

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return detail::watched(tracing_, detail::provider_ref::to(inner_), std::move(request));
    }

    /// Records that the sink threw at since the last one it took.
    [[nodiscard]] std::uint64_t lost() const noexcept { return tracing_->lost; }

private:
    P inner_;
    std::shared_ptr<detail::tracing> tracing_;
};

} // namespace thalweg::providers
