// SPDX-License-Identifier: BSL-1.0

#pragma once

// What somebody says to a run that is under way (engine §6). It reaches the model at the next boundary,
// behind the tool outputs, and keeps a run going that would have ended.

#include <thalweg/engine/session_options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg {

/// Says whether a steered input was accepted, and names it for unsteer(). A plain value.
class steering_ticket {
public:
    steering_ticket() noexcept = default; ///< refused: no run is under way that could take it
    explicit operator bool() const noexcept { return number_ != 0; }

private:
    friend class steering_queue;
    explicit steering_ticket(std::uint64_t number) noexcept : number_(number) {}
    std::uint64_t number_ = 0;
};

class steering_queue {
public:
    /// Queues one input. Blank input (no text but white space, nothing else) is accepted and queues nothing
    /// (R-ENG-60).
    [[nodiscard]] steering_ticket push(std::vector<message> input);
    /// Takes an input back; false once it was taken, was blank, or is not of this queue.
    bool recall(steering_ticket ticket);
    /// All inputs, in the order in which they came; the queue is empty then.
    [[nodiscard]] std::vector<std::vector<message>> take();
    void clear() noexcept { inputs_.clear(); }
    [[nodiscard]] bool empty() const noexcept { return inputs_.empty(); }

private:
    struct queued {
        std::uint64_t number;
        std::vector<message> input;
    };
    std::vector<queued> inputs_;
    std::uint64_t last_ = 0;
};

/// The messages for the model: one user text `[user_steering]` with the texts of `input`, a blank line
/// between two, then its other messages (R-ENG-62).
[[nodiscard]] std::vector<message> steering_messages(std::vector<message> input);

/// Puts a text in the place of each image of `input` (R-ENG-65). Gives what is wrong with `adapt`, which
/// threw or had nothing to say, or an empty text. Both outlive the task; after a fault `input` is as far as
/// it got.
[[nodiscard]] task<std::string> adapt_images(std::vector<message>& input, const image_adapter& adapt);

} // namespace thalweg
