// SPDX-License-Identifier: BSL-1.0

#pragma once

// The bytes of an Anthropic Messages answer become deltas. Blocks are numbered over the whole answer and may
// be open at once; what a thinking block was signed with goes into its fidelity, byte for byte, so that it
// can go back. Blocks of server-side tools are left out.
//
// Private to this room, the benches and the tests. No thread rule.

#include <thalweg/providers/anthropic/event.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/block_assembly.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers {

class anthropic_decoder : public wire::answer_decoder {
public:
    /// `model` goes into the fidelity of thinking, so that it is sent back to the same model only.
    explicit anthropic_decoder(std::string model = {});

    /// `message_stop`; or a stop reason, with every block stopped.
    [[nodiscard]] bool has_end_marker() const override;

private:
    /// What is known of a block beside the text that is already out.
    struct open_block {
        std::int64_t index = 0;
        bool is_ignored = false;
        bool has_pieces = false; // of arguments
        std::string input;       // of a call, as its start had it
        std::string signature;   // JSON text without quotes, as received
        std::string redacted;    // the same
    };

    [[nodiscard]] wire::verdict parse(std::string_view payload) override;
    void take(std::string_view payload, std::string_view type, std::vector<delta>& out) override;
    [[nodiscard]] std::string_view bad_shape() const override { return reader_.complaint(); }
    [[nodiscard]] bool knows(std::string_view type) const override;
    [[nodiscard]] std::string_view end_marker() const override { return "message_stop"; }
    void complete(std::vector<delta>& out) override;
    [[nodiscard]] thalweg::finish why() const override;
    [[nodiscard]] std::string_view raw_stop_reason() const override { return stop_reason_; }

    void start_message(std::string_view payload);
    void start_block(std::vector<delta>& out);
    void take_delta(std::vector<delta>& out, std::string_view payload);
    void stop_block(std::int64_t index, std::vector<delta>& out);
    void take_whole(std::string_view payload, std::vector<delta>& out);
    void take_usage();
    [[nodiscard]] open_block* find(std::int64_t index);

    std::string model_;
    detail::anthropic_reader reader_;
    detail::anthropic_event event_;
    detail::anthropic_usage counts_;
    wire::block_assembly blocks_;
    std::vector<open_block> open_;
    std::string message_id_;
    std::string stop_reason_;
    bool called_ = false;
    bool is_stopped_ = false;
};

} // namespace thalweg::providers
