// SPDX-License-Identifier: BSL-1.0

#pragma once

// How a run ended: the result of the stream that session::run() gives.

#include <thalweg/protocol/events.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace thalweg {

class run_outcome {
public:
    enum class end : std::uint8_t {
        answered,           ///< the model gave its last answer
        max_turns,          ///< the turn limit was reached; what was not submitted waits for the next run
        interrupted,        ///< a stop request; what was not submitted waits for the next run
        stopped,            ///< session::stop_after_answer(); the outputs of its tools wait for the next run
        model_failed,       ///< the model request failed for good
        compaction_failed,  ///< the context had to be compacted in the middle of the run, and could not be
        input_failed,       ///< the input is none that a run can take, or the image adapter failed
        environment_failed, ///< the environment could not list its tools; nothing was done, a later run asks
                            ///< again
        busy,               ///< another run or compaction is going; nothing was done

        // Of session::attach() only.
        nothing_detached, ///< no run of the session was detached
        has_reader,       ///< somebody else reads the detached run
        reader_left,      ///< this reader was asked to stop, or a later run was detached; attach() again
    };

    run_outcome() = default;
    run_outcome(end how, std::string why) : how_(how), why_(std::move(why)) {}

    [[nodiscard]] end how() const noexcept { return how_; }
    [[nodiscard]] bool ok() const noexcept { return how_ == end::answered; }
    /// A sentence for everything but `answered`; UTF-8, no secrets.
    [[nodiscard]] const std::string& why() const noexcept { return why_; }
    /// The status of the last model request: tells `auth` from `failed`.
    [[nodiscard]] stop_reason last_status() const noexcept { return last_status_; }
    [[nodiscard]] int turns() const noexcept { return turns_; }
    /// Of this run: all its requests, failed attempts included where the provider told (D-03).
    [[nodiscard]] const token_counts& usage() const noexcept { return usage_; }

private:
    friend class run_conductor;
    end how_ = end::answered;
    std::string why_;
    stop_reason last_status_ = stop_reason::none;
    int turns_ = 0;
    token_counts usage_;
};

/// How session::compact() ended.
class compaction_outcome {
public:
    enum class end : std::uint8_t {
        compacted, ///< the session has a new context
        nothing,   ///< there was nothing to compact, or it is not configured
        failed,    ///< the old context stays as it was, also where the environment could not list its tools
        aborted,   ///< a stop request; the old context stays as it was
        busy,      ///< another run or compaction is going; nothing was done
    };

    compaction_outcome(end how, std::string why) : how_(how), why_(std::move(why)) {}

    [[nodiscard]] end how() const noexcept { return how_; }
    [[nodiscard]] bool ok() const noexcept { return how_ == end::compacted; }
    /// A sentence for everything but `compacted`; UTF-8, no secrets.
    [[nodiscard]] const std::string& why() const noexcept { return why_; }

private:
    end how_;
    std::string why_;
};

/// Whether session::compact() would do anything (R-ENG-7B).
enum class compactability : std::uint8_t {
    ok,
    unsupported,    ///< the session has no compaction_settings
    empty,          ///< nothing was answered yet
    just_compacted, ///< nothing was answered since the last compaction
};

[[nodiscard]] constexpr const char* to_string(compactability c) noexcept {
    switch (c) {
    case compactability::ok: return "ok";
    case compactability::unsupported: return "unsupported";
    case compactability::empty: return "empty";
    case compactability::just_compacted: return "just_compacted";
    }
    return "unknown";
}

} // namespace thalweg
