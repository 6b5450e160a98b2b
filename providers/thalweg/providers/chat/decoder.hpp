// SPDX-License-Identifier: BSL-1.0

#pragma once

// The bytes of a Chat Completions answer become deltas, in all dialects of the protocol: what servers get
// wrong in ways that can be understood is understood, what cannot be decided makes the answer malformed.
//
// Private to this room, the benches and the tests. No thread rule.

#include <thalweg/providers/chat/calls.hpp>
#include <thalweg/providers/chat/chunk.hpp>
#include <thalweg/providers/chat/reasoning_details.hpp>
#include <thalweg/wire/answer_decoder.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers {

class chat_decoder : public wire::answer_decoder {
public:
    /// `model` goes into the fidelity of thinking, so that it is sent back to the same model only.
    explicit chat_decoder(std::string model = {});

    /// `[DONE]` or a finish reason was seen.
    [[nodiscard]] bool has_end_marker() const override { return !finish_reason_.empty() || is_done_; }

private:
    enum class block : std::uint8_t { none, text, thinking, refusal };
    struct waiting_piece {
        block kind;
        std::string text;
    };

    [[nodiscard]] wire::verdict parse(std::string_view payload) override;
    void take(std::string_view payload, std::string_view type, std::vector<delta>& out) override;
    [[nodiscard]] std::string_view bad_shape() const override { return reader_.complaint(); }
    [[nodiscard]] std::string_view end_marker() const override {
        return "a finish reason and without [DONE]";
    }
    void take_done() override;
    [[nodiscard]] bool is_whole_body() const override { return chunk_.has_choices; }
    void conclude() override;
    void complete(std::vector<delta>& out) override;
    [[nodiscard]] thalweg::finish why() const override;
    [[nodiscard]] std::string_view raw_stop_reason() const override { return finish_reason_; }

    void take_details(std::vector<delta>& out, bool as_thinking);
    void say(block kind, const wire::raw_string& raw, std::vector<delta>& out);
    void emit(std::string_view text, std::vector<delta>& out);
    void open(block kind, std::vector<delta>& out);
    void close_block(std::vector<delta>& out);
    void add_thinking_fidelity(std::vector<delta>& out);
    void say_waiting(std::vector<delta>& out);
    void finish_blocks(std::vector<delta>& out);
    std::string model_;
    detail::chunk_reader reader_;
    detail::chat_chunk chunk_;
    detail::call_list calls_;
    detail::reasoning_details details_;

    block open_ = block::none;
    wire::string_joiner joiner_;         // of the open block
    std::string scratch_;                // unescaped text on its way
    std::vector<waiting_piece> waiting_; // text that came while a call was open
    std::string thinking_name_;          // the member that thinking stood in
    std::string finish_reason_;
    std::size_t waiting_bytes_ = 0;
    bool said_ = false; // some text or call came
    bool called_ = false;
    bool is_done_ = false;
};

} // namespace thalweg::providers
