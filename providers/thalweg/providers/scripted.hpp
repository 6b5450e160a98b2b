// SPDX-License-Identifier: BSL-1.0

#pragma once

// A model that plays a script: for tests, demos and everything that must run without a key, a network or
// luck.
//
//     providers::scripted model{answer().call("a", "weather", R"({"city":"Oslo"})"), answer().text("Dry.")};
//
// Each request takes the next answer; all waits are on the loop's clock, so under a virtual loop they cost
// nothing. What was asked is kept for a test to look at. Thread rule: one loop's thread. Outlives the streams
// it gave.

#include <thalweg/protocol/provider.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg::providers {

/// The script of one answer, built step by step; every member hands the answer on, so calls are chained.
/// An interrupt ends a scripted answer at the next step, piece or wait.
class scripted_answer {
public:
    scripted_answer wait(std::chrono::milliseconds d) &&;
    /// One text block that arrives in these pieces. None: an empty block.
    template <std::convertible_to<thalweg::text>... Piece>
    scripted_answer text(Piece&&... pieces) && {
        return std::move(*this).text_pieces({thalweg::text(std::forward<Piece>(pieces))...});
    }
    template <std::convertible_to<thalweg::text>... Piece>
    scripted_answer thinking(Piece&&... pieces) && {
        return std::move(*this).thinking_pieces({thalweg::text(std::forward<Piece>(pieces))...});
    }
    /// A tool call with its arguments in one piece.
    scripted_answer call(thalweg::text id, thalweg::text tool, thalweg::text arguments = "{}") &&;

    scripted_answer text_pieces(std::vector<thalweg::text> pieces) &&;
    scripted_answer thinking_pieces(std::vector<thalweg::text> pieces) &&;
    scripted_answer call_pieces(thalweg::text id, thalweg::text tool,
                                std::vector<thalweg::text> arguments) &&;

    // About the block before:
    scripted_answer with_gap(std::chrono::milliseconds between_pieces) &&;
    scripted_answer with_fidelity(thalweg::text json_object) &&;
    scripted_answer left_open() &&; ///< its end does not arrive

    scripted_answer usage(token_counts counts) &&;
    scripted_answer whole(message m) &&; ///< any complete message or event, as it is
    scripted_answer hang() &&;           ///< waits for the interrupt
    scripted_answer deaf() &&;           ///< waits for ever, whatever is asked
    /// Ends the answer. Without it an answer is completed: `tool_use` if it has a call.
    scripted_answer ends(model_outcome outcome) &&;

private:
    friend class scripted;
    enum class step_type : std::uint8_t { wait, text, thinking, call, usage, whole, hang, deaf };
    struct step {
        explicit step(step_type t) : type(t) {}
        step_type type;
        std::chrono::milliseconds time{0}; // of a wait, or between pieces
        std::vector<thalweg::text> pieces;
        thalweg::text id;
        thalweg::text name;
        thalweg::text fidelity;
        token_counts counts;
        std::optional<message> carried;
        bool open = false;
    };
    scripted_answer add(step s) &&;

    std::vector<step> steps_;
    std::optional<model_outcome> outcome_;
};

/// Begins the script of an answer.
[[nodiscard]] inline scripted_answer answer() {
    return {};
}

class scripted {
public:
    /// What one request asked, copied when it was made.
    struct seen_request {
        std::vector<message> history;
        std::vector<message> input;
        std::vector<tool_definition> tools;
        text system;
        text thinking_level;
        text response_schema;
    };

    template <std::same_as<scripted_answer>... Answer>
    explicit scripted(Answer... answers) {
        (script_.push_back(std::move(answers)), ...);
    }

    /// Anything else stops the build with a sentence.
    template <class... Other>
        requires(sizeof...(Other) > 0 &&
                 !(std::same_as<std::remove_cvref_t<Other>, scripted_answer> && ...) &&
                 !(std::derived_from<std::remove_cvref_t<Other>, scripted> && ...))
    explicit scripted(Other&&...) {
        static_assert((std::same_as<std::remove_cvref_t<Other>, scripted_answer> && ...),
                      "thalweg: a scripted model takes answers: `scripted(answer().text(\"hello\"))`");
    }

    void add(scripted_answer more) { script_.push_back(std::move(more)); }

    /// Plays the next answer. With no answer left the request fails and says so.
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);

    [[nodiscard]] std::size_t requests() const noexcept { return seen_.size(); }
    /// The n-th request, from 0. Stays valid.
    [[nodiscard]] const seen_request& request(std::size_t n) const { return seen_.at(n); }

private:
    [[nodiscard]] static stream<delta, model_outcome> play(scripted_answer script);

    std::deque<scripted_answer> script_;
    std::deque<seen_request> seen_;
};

static_assert(is_provider<scripted>);

/// A model that answers one prompt with a greeting.
[[nodiscard]] scripted greeting_model();

/// The model of the demo: one run of two requests that shows what the stream guarantees.
[[nodiscard]] scripted demo_model();

} // namespace thalweg::providers
