// SPDX-License-Identifier: BSL-1.0

#pragma once

// Keeps what a provider was asked and what it answered, for replay.hpp to play:
//
//     providers::recording model(providers::openai_chat({.model = "gpt-5-mini"}), "tests/oslo.jsonl");
//
// The file has a line of JSON for each request, written when its answer has ended: the request as far as it
// is compared, every delta as it came, the outcome. An interrupted or dropped answer is kept as far as it
// got. Lines are written whole, also when several sessions, threads or programs write to the same file.
//
// Secrets are replaced by `[secret]` in requests and answers, also where an answer brought them in pieces:
// those that options name, and what looks like a key of a well-known service (`sk-…`, `AIza…`, `Bearer …`).
// What else people say to a model is in the file, readable for its owner alone.
//
// The answer is handed on unchanged, whatever becomes of the file. The first exchange that cannot be kept
// adds a notice `recording_fault` to its answer; fault() has the sentence.
//
// Thread rule: as the provider inside. Writing blocks for as long as the disk does.

#include <thalweg/protocol/provider.hpp>
#include <thalweg/providers/detail/provider_ref.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::providers {

struct recording_options {
    /// Texts that the file must not have, e.g. the key of a gateway. To be given to the replay as well, which
    /// looks for requests without them.
    std::vector<std::string> secrets = {};
    /// Changes each text of a request before it is compared, here and in the replay: takes out dates, paths,
    /// numbers that differ from run to run. What the provider is asked stays as it is.
    std::function<std::string(std::string_view)> rewrite = {};
    bool keep_pace = false; ///< notes when each delta came, so that a replay can take as long
    bool append = false;    ///< adds to the file; else its first exchange empties it
};

namespace detail {
class tape_state;

[[nodiscard]] stream<delta, model_outcome> recorded(std::shared_ptr<tape_state> on, provider_ref inner,
                                                    model_request request);
} // namespace detail

/// A file that recordings are written to. Copies are the same file; for several providers in one.
class tape {
public:
    /// Nothing happens to the disk before the first exchange has ended.
    explicit tape(std::string path, recording_options options = {});

    /// Why the first exchange that is missing could not be kept; empty = all were.
    [[nodiscard]] const std::optional<error>& fault() const noexcept;
    [[nodiscard]] std::size_t lost() const noexcept; ///< exchanges that could not be kept

private:
    template <class P>
    friend class recording;
    std::shared_ptr<detail::tape_state> state_;
};

/// P may be a std::reference_wrapper: then the provider outlives this one. Not to be moved while one of its
/// streams is read, and outlives them.
template <class P>
class recording {
    static_assert(check_provider<P>());

public:
    recording(P inner, tape on) : inner_(std::move(inner)), tape_(std::move(on)) {}
    recording(P inner, std::string path, recording_options options = {})
        : recording(std::move(inner), tape(std::move(path), std::move(options))) {}

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return detail::recorded(tape_.state_, detail::provider_ref::to(inner_), std::move(request));
    }

    [[nodiscard]] const tape& file() const noexcept { return tape_; }

private:
    P inner_;
    tape tape_;
};

} // namespace thalweg::providers
