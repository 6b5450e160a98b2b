// SPDX-License-Identifier: BSL-1.0

#pragma once

// A model that answers what was recorded (recording.hpp), so that an agent can be tested without a network, a
// key, or luck:
//
//     providers::replay model("tests/oslo.jsonl");
//
// A request is answered if an equal one was recorded: the same system prompt, thinking level, schema, tools
// and messages. Times, senders, opaque data of providers and the spelling of call ids do not count. Where a
// request was recorded several times, its answers come in the order of the file.
//
// A request that was not recorded fails, permanently, and the message names the nearest recorded one and the
// first difference: `line 3 … at input[0].text: recorded "…Oslo?", asked "…Rome?"`. Nothing has been yielded
// then, so `fallback(replay(file), recording(real, file, {.append = true}))` asks for what is missing.
//
// Thread rule: one loop.

#include <thalweg/protocol/provider.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::providers {

/// What a request gets that is asked more often than it was recorded.
enum class when_played : bool {
    last_again, ///< its last answer
    miss,       ///< a failure
};

struct replay_options {
    std::vector<std::string> secrets = {};                     ///< those of the recording
    std::function<std::string(std::string_view)> rewrite = {}; ///< that of the recording
    bool keep_pace = false; ///< takes as long as the recorded answer did, on the loop's clock, if that was
                            ///< noted
    when_played repeated = when_played::last_again;
};

namespace detail {
class player;
}

/// Copies play the same recording and share what was played.
class replay {
public:
    /// Reads the whole file, here and never later; blocks for as long as that takes. A file that cannot be
    /// read, or a line that is no exchange, makes every request fail with a sentence that names the line.
    explicit replay(std::string path, replay_options options = {});

    /// Cancel: between two deltas and in the waits of keep_pace; aborted then.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);

    /// What is wrong with the file.
    [[nodiscard]] const std::optional<error>& fault() const noexcept;
    /// What is odd about it: lines that a crash has cut, which are left out.
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept;

    [[nodiscard]] std::size_t exchanges() const noexcept; ///< in the file
    [[nodiscard]] std::size_t unplayed() const noexcept;  ///< of them, not yet played

private:
    std::shared_ptr<detail::player> player_;
};
static_assert(is_provider<replay>);

} // namespace thalweg::providers
