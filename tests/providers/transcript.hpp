// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a decoder makes of events, as one text that a test can compare: T thinking is H, C call, A arguments,
// E end, F fidelity, U usage, "|" between. Neighbouring pieces of one text are joined, so two ways of cutting
// the same answer into events have equal transcripts.

#include <thalweg/net/sse.hpp>
#include <thalweg/wire/answer_decoder.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::testing {

/// `Decoder`: a wire::answer_decoder.
template <class Decoder>
class transcript {
public:
    explicit transcript(std::string model = "m") : decoder_(std::move(model)) {}

    /// The payload lies in an allocation of its exact size and the promised padding, which is overwritten
    /// after.
    transcript& event(std::string_view data, std::string_view type = {}) {
        std::vector<char> exact(data.size() + sse_parser::padding, '"');
        std::copy(data.begin(), data.end(), exact.begin());
        decoder_.event({exact.data(), data.size()}, type, deltas_);
        std::fill(exact.begin(), exact.end(), '#');
        note();
        return *this;
    }
    transcript& body(std::string_view json) {
        decoder_.body(json, deltas_);
        note();
        return *this;
    }
    transcript& stray(std::string_view lines) {
        decoder_.stray_lines(lines, deltas_);
        note();
        return *this;
    }

    /// The transcript so far.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }
    [[nodiscard]] const wire::answer_ending& ending() const noexcept { return ending_; }

    /// Ends the answer; the whole transcript with the status.
    std::string finish() {
        ending_ = decoder_.finish(deltas_);
        note();
        using wire::answer_status;
        switch (ending_.status) {
        case answer_status::completed: text_ += "completed"; break;
        case answer_status::failed: text_ += "failed"; break;
        case answer_status::malformed: text_ += "malformed"; break;
        case answer_status::unfinished: text_ += "unfinished"; break;
        }
        return text_;
    }

private:
    void note() {
        for (const delta& each : deltas_)
            note(each);
        deltas_.clear();
    }

    void note(const delta& each) {
        using type = delta::type;
        switch (each.kind()) {
        case type::begin_text: return add("BT", {});
        case type::begin_thinking: return add("BH", {});
        case type::text: return join('T', each.content());
        case type::thinking: return join('H', each.content());
        case type::call: return add("C", each.id().str() + "," + each.content().str());
        case type::arguments: return join('A', each.content());
        case type::end: return add("E", {});
        case type::fidelity: return add("F", each.content());
        case type::usage: {
            const auto& counts = each.counts();
            return add("U", std::to_string(counts.cache_read) + "/" + std::to_string(counts.cache_write) +
                                "/" + std::to_string(counts.output) + "/" + std::to_string(counts.total));
        }
        case type::whole: return add("W", {});
        }
    }

    void add(std::string_view what, std::string_view content) {
        text_.append(what).append(content).append("|");
        joining_ = 0;
    }

    void join(char what, std::string_view content) {
        if (joining_ == what)
            text_.pop_back();
        else
            text_ += what;
        joining_ = what;
        text_.append(content).append("|");
    }

    Decoder decoder_;
    std::vector<delta> deltas_;
    wire::answer_ending ending_;
    std::string text_;
    char joining_ = 0;
};

} // namespace thalweg::testing
