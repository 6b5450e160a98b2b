// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat/decoder.hpp>

#include <thalweg/net/sse.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <utility>

namespace thalweg::providers {

namespace {

using detail::piece_kind;
using wire::is_one_of;
using wire::raw_string;

constexpr std::size_t most_waiting_text = std::size_t{64} << 20;

// The inside of a JSON string, given with its quotes.
raw_string inside(std::string_view quoted) {
    const auto bytes = quoted.substr(1, quoted.size() - 2);
    return {bytes, bytes.find('\\') != std::string_view::npos};
}

} // namespace

chat_decoder::chat_decoder(std::string model) : model_(std::move(model)) {}

wire::verdict chat_decoder::parse(std::string_view payload) {
    const auto messages = said_ ? detail::message_member::skip : detail::message_member::read;
    return reader_.read(payload, messages, chunk_);
}

void chat_decoder::take_done() {
    is_done_ = true;
    close();
}

void chat_decoder::take(std::string_view payload, std::string_view /*type*/, std::vector<delta>& out) {
    if (chunk_.has_choices) mark_begun();
    if (chunk_.usage) usage = chunk_.usage;
    if (!chunk_.thinking_name.empty() && thinking_name_.empty()) thinking_name_ = chunk_.thinking_name;
    // Thinking stands before text in a chunk that has both; signatures behind the thinking they sign.
    bool thought = false;
    for (const auto& piece : chunk_.pieces) {
        const bool is_thinking = piece.kind == piece_kind::thinking;
        if (!is_thinking && !chunk_.details.empty()) take_details(out, !thought);
        thought = thought || is_thinking;
        say(is_thinking                         ? block::thinking
            : piece.kind == piece_kind::refusal ? block::refusal
                                                : block::text,
            piece.raw, out);
        if (is_unreadable()) return;
    }
    if (!chunk_.details.empty()) take_details(out, !thought);
    for (const auto& call : chunk_.calls) {
        if (!calls_.is_live()) open(block::none, out);
        said_ = called_ = true;
        std::string why;
        if (!calls_.take(call, out, why)) return complain(why, payload);
    }
    if (chunk_.finish_reason) {
        finish_reason_.clear();
        wire::string_joiner joiner;
        if (!joiner.append(chunk_.finish_reason->bytes, finish_reason_)) return complain_unreadable(payload);
        joiner.flush(finish_reason_);
    }
    if (chunk_.is_error_object) return fail(wire::read_error(payload), payload);
    if (!chunk_.error.empty()) {
        const auto error = json::parse(chunk_.error);
        if (!error) return complain_unreadable(payload);
        fail(wire::read_error_value(error.value()), payload);
    }
}

void chat_decoder::take_details(std::vector<delta>& out, bool as_thinking) {
    const std::string_view array = std::exchange(chunk_.details, {});
    const auto parsed = json::parse(array);
    if (!parsed) return complain("\"reasoning_details\" is not JSON: " + parsed.error().message(), array);
    for (const json::view each : parsed.value().elements()) {
        if (!as_thinking) break;
        for (const char* name : {"text", "summary"})
            if (const auto found = each.find(name); found && found->is_string())
                say(block::thinking, inside(found->raw()), out);
    }
    details_.add(parsed.value());
}

void chat_decoder::say(block kind, const raw_string& raw, std::vector<delta>& out) {
    if (raw.bytes.empty()) return;
    said_ = true;
    if (open_ != kind) open(kind, out);
    if (!raw.escaped && !joiner_.waits()) return emit(raw.bytes, out);
    scratch_.clear();
    if (!joiner_.append(raw.bytes, scratch_))
        return complain("a text holds an escape that JSON does not know", raw.bytes);
    emit(scratch_, out);
}

void chat_decoder::emit(std::string_view text, std::vector<delta>& out) {
    if (text.empty()) return;
    if (calls_.is_live()) {
        waiting_.back().text += text;
        waiting_bytes_ += text.size();
        if (waiting_bytes_ > most_waiting_text)
            complain("the answer has too much text behind a tool call", text);
        return;
    }
    out.push_back(open_ == block::thinking ? delta::thinking(text) : delta::text(text));
}

// A refusal is text that can be told apart by its fidelity, so it gets a block of its own.
void chat_decoder::open(block kind, std::vector<delta>& out) {
    if (open_ == kind && kind != block::none) return;
    close_block(out);
    open_ = kind;
    if (kind == block::none) return;
    if (calls_.is_live()) {
        waiting_.push_back({kind, {}});
    } else if (kind == block::refusal) {
        out.push_back(delta::begin_text());
    }
}

// What belongs to the open block is said; the block itself closes when the next one opens.
void chat_decoder::close_block(std::vector<delta>& out) {
    if (joiner_.waits()) {
        scratch_.clear();
        joiner_.flush(scratch_);
        emit(scratch_, out);
    }
    if (calls_.is_live()) return;
    if (open_ == block::thinking || open_ == block::none) add_thinking_fidelity(out);
    if (open_ == block::refusal) {
        out.push_back(delta::fidelity(R"({"refusal":true})"));
        out.push_back(delta::end());
        open_ = block::none;
    }
}

void chat_decoder::add_thinking_fidelity(std::vector<delta>& out) {
    const bool unusual = open_ == block::thinking && !thinking_name_.empty() &&
                         thinking_name_ != detail::thinking_names.front();
    if (details_.empty() && !unusual) return;
    std::string json = R"({"model":)";
    json::append_string(json, model_);
    if (details_.empty()) {
        json += R"(,"field":)";
        json::append_string(json, thinking_name_);
    } else {
        json += R"(,"reasoning_details":)";
        details_.take(json);
    }
    json += '}';
    if (open_ == block::none) out.push_back(delta::begin_thinking());
    out.push_back(delta::fidelity(json));
    if (open_ == block::none) out.push_back(delta::end());
}

void chat_decoder::say_waiting(std::vector<delta>& out) {
    for (const waiting_piece& each : waiting_) {
        open_ = each.kind;
        if (each.kind == block::refusal) out.push_back(delta::begin_text());
        if (!each.text.empty())
            out.push_back(each.kind == block::thinking ? delta::thinking(each.text) : delta::text(each.text));
        close_block(out);
    }
}

thalweg::finish chat_decoder::why() const {
    const std::string_view reason = finish_reason_;
    if (is_one_of(reason, {"length", "model_length", "model_context_window_exceeded"}))
        return thalweg::finish::length;
    if (is_one_of(reason, {"content_filter", "sensitive"})) return thalweg::finish::filtered;
    if (called_) return thalweg::finish::tool_use;
    if (is_one_of(reason, {"", "stop", "end", "eos", "tool_calls", "function_call"}))
        return thalweg::finish::end;
    return thalweg::finish::other;
}

// Everything that was open or had to wait, in the order of the answer.
void chat_decoder::finish_blocks(std::vector<delta>& out) {
    const bool was_live = calls_.is_live();
    close_block(out);
    if (!was_live && open_ != block::none) out.push_back(delta::end());
    open_ = block::none;
    calls_.finish_live(out);
    say_waiting(out);
    if (open_ != block::none) out.push_back(delta::end());
    open_ = block::none;
    close_block(out); // opaque details that came behind everything else
    std::string wrong;
    if (!calls_.finish_waiting(out, wrong)) complain(wrong, {});
}

void chat_decoder::conclude() {
    if (!is_one_of(finish_reason_, {"error", "insufficient_system_resource", "network_error"})) return;
    wire::provider_error error;
    error.message = "the provider gave the answer up";
    error.code = finish_reason_;
    fail(std::move(error), {});
}

void chat_decoder::complete(std::vector<delta>& out) {
    finish_blocks(out);
    const thalweg::finish why_it_ended = why();
    const bool is_cut = why_it_ended == thalweg::finish::length || why_it_ended == thalweg::finish::filtered;
    // The wire has not said that the last block is over: a call may lack its arguments.
    if (is_cut && !out.empty() && out.back().kind() == delta::type::end) out.pop_back();
}

} // namespace thalweg::providers
