// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/anthropic/decoder.hpp>

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <utility>

namespace thalweg::providers {

using wire::is_one_of;
using wire::raw_string;

namespace {

// Ids and words of the protocol: short, and mostly without escapes.
std::string plain(const raw_string& raw) {
    std::string made;
    wire::string_joiner joiner;
    if (!joiner.append(raw.bytes, made)) return std::string(raw.bytes);
    joiner.flush(made);
    return made;
}

// The inside of a JSON string, given with its quotes; empty for what is none.
raw_string inside(const std::optional<json::view>& value) {
    if (!value || !value->is_string()) return {};
    const std::string_view quoted = value->raw();
    const auto bytes = quoted.substr(1, quoted.size() - 2);
    return {bytes, bytes.find('\\') != std::string_view::npos};
}

} // namespace

anthropic_decoder::anthropic_decoder(std::string model) : model_(std::move(model)) {}

bool anthropic_decoder::has_end_marker() const {
    return is_stopped_ || (!stop_reason_.empty() && open_.empty());
}

bool anthropic_decoder::knows(std::string_view type) const {
    return answer_decoder::knows(type) ||
           is_one_of(type, {"message_start", "content_block_start", "content_block_delta",
                            "content_block_stop", "message_delta", "message_stop"});
}

wire::verdict anthropic_decoder::parse(std::string_view payload) {
    return reader_.read(payload, event_);
}

void anthropic_decoder::take(std::string_view payload, std::string_view name, std::vector<delta>& out) {
    const std::string_view type = event_.type.bytes.empty() ? name : event_.type.bytes;
    if (type == "content_block_delta") {
        take_delta(out, payload);
    } else if (type == "content_block_start") {
        start_block(out);
    } else if (type == "content_block_stop") {
        stop_block(event_.index, out);
    } else if (type == "message_start") {
        start_message(payload);
    } else if (type == "message_delta") {
        if (!event_.stop_reason.bytes.empty()) stop_reason_ = plain(event_.stop_reason);
        take_usage();
    } else if (type == "message_stop") {
        is_stopped_ = true;
        close();
    } else if (type == "error") {
        fail(wire::read_error(payload), payload);
    } else if (type == "message") {
        take_whole(payload, out);
    }
    if (!blocks_.complaint().empty()) complain(blocks_.complaint(), payload);
}

void anthropic_decoder::start_message(std::string_view payload) {
    const bool is_other = is_begun() && event_.message_id != message_id_;
    if (is_other) return complain("another message begins inside the answer", payload);
    mark_begun();
    message_id_ = event_.message_id;
    take_usage();
}

void anthropic_decoder::start_block(std::vector<delta>& out) {
    mark_begun();
    const std::int64_t index = event_.index;
    stop_block(index, out);
    open_block& made = open_.emplace_back();
    made.index = index;
    const std::string_view what = event_.part.bytes;
    if (what == "tool_use") {
        called_ = true;
        made.input = event_.input;
        return blocks_.open_call(index, plain(event_.id), plain(event_.name), out);
    }
    if (what == "text") {
        blocks_.open_text(index, out);
    } else if (is_one_of(what, {"thinking", "redacted_thinking"})) {
        blocks_.open_thinking(index, out);
        made.redacted = event_.data.bytes;
        made.signature = event_.signature.bytes;
    } else {
        made.is_ignored = true;
        return;
    }
    if (!event_.text.bytes.empty()) blocks_.append(index, event_.text, out);
}

void anthropic_decoder::take_delta(std::vector<delta>& out, std::string_view payload) {
    open_block* const to = find(event_.index);
    if (to == nullptr) return complain("a piece belongs to a block that was never started", payload);
    if (to->is_ignored) return;
    const std::string_view what = event_.part.bytes;
    if (what == "signature_delta") {
        to->signature += event_.signature.bytes;
    } else if (is_one_of(what, {"text_delta", "thinking_delta", "input_json_delta"})) {
        to->has_pieces = to->has_pieces || !event_.text.bytes.empty();
        blocks_.append(event_.index, event_.text, out);
    }
}

void anthropic_decoder::stop_block(std::int64_t index, std::vector<delta>& out) {
    open_block* const which = find(index);
    if (which == nullptr) return;
    if (!which->has_pieces && !which->input.empty()) blocks_.append_text(index, which->input, out);
    if (!which->signature.empty() || !which->redacted.empty()) {
        std::string fidelity = R"({"model":)";
        json::append_string(fidelity, model_);
        if (!which->signature.empty())
            fidelity.append(R"(,"signature":")").append(which->signature).append("\"");
        if (!which->redacted.empty())
            fidelity.append(R"(,"redacted":")").append(which->redacted).append("\"");
        fidelity += '}';
        blocks_.fidelity(index, fidelity, out);
    }
    blocks_.close(index, out);
    open_.erase(open_.begin() + (which - open_.data()));
}

// The answer of a server that does not stream.
void anthropic_decoder::take_whole(std::string_view payload, std::vector<delta>& out) {
    const auto whole = json::parse(payload);
    if (!whole) return complain_unreadable(payload);
    const auto content = whole.value().find("content");
    if (!content || !content->is_array()) return complain("the message has no content", payload);
    std::int64_t index = 0;
    for (const json::view each : content->elements()) {
        event_ = {};
        event_.index = index++;
        event_.part = inside(each.find("type"));
        event_.text = inside(each.find(event_.part.bytes == "thinking" ? "thinking" : "text"));
        event_.signature = inside(each.find("signature"));
        event_.data = inside(each.find("data"));
        event_.id = inside(each.find("id"));
        event_.name = inside(each.find("name"));
        if (const auto input = each.find("input"); input && input->is_object()) event_.input = input->raw();
        start_block(out);
        stop_block(event_.index, out);
    }
    stop_reason_ = plain(inside(whole.value().find("stop_reason")));
    static_cast<void>(reader_.read(payload, event_)); // usage once more: the event was written over
    take_usage();
    is_stopped_ = true;
    close();
}

void anthropic_decoder::take_usage() {
    const auto later = [](std::optional<std::int64_t>& known, const std::optional<std::int64_t>& said) {
        if (said) known = said;
    };
    later(counts_.input, event_.usage.input);
    later(counts_.cache_read, event_.usage.cache_read);
    later(counts_.cache_write, event_.usage.cache_write);
    later(counts_.output, event_.usage.output);
    if (!counts_.input && !counts_.output && !counts_.cache_read && !counts_.cache_write) return;
    token_counts said;
    said.cache_read = counts_.cache_read.value_or(0);
    said.cache_write = counts_.cache_write.value_or(0);
    said.output = counts_.output.value_or(0);
    said.total = counts_.input.value_or(0) + said.cache_read + said.cache_write + said.output;
    usage = said;
}

anthropic_decoder::open_block* anthropic_decoder::find(std::int64_t index) {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [index](const open_block& each) { return each.index == index; });
    return found == open_.end() ? nullptr : &*found;
}

// A block that was not stopped lacks its end: a call in it may lack arguments.
void anthropic_decoder::complete(std::vector<delta>& out) {
    while (!open_.empty())
        stop_block(open_.front().index, out);
}

thalweg::finish anthropic_decoder::why() const {
    if (is_one_of(stop_reason_, {"max_tokens", "model_context_window_exceeded"})) return finish::length;
    if (stop_reason_ == "refusal") return finish::filtered;
    if (stop_reason_ == "pause_turn") return finish::pause;
    if (called_) return finish::tool_use;
    if (is_one_of(stop_reason_, {"", "end_turn", "stop_sequence", "tool_use"})) return finish::end;
    return finish::other;
}

} // namespace thalweg::providers
