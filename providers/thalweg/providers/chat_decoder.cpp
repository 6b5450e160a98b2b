// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat_decoder.hpp>

#include <thalweg/net/sse.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <utility>

namespace thalweg::providers {

namespace {

using detail::piece_kind;
using detail::raw_string;

constexpr std::size_t most_quoted = 512;
constexpr std::size_t most_waiting_text = std::size_t{64} << 20;

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    if (!text.empty() && blanks.find(text.front()) == std::string_view::npos &&
        blanks.find(text.back()) == std::string_view::npos)
        return text;
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The inside of a JSON string, given with its quotes.
raw_string inside(std::string_view quoted) {
    const auto bytes = quoted.substr(1, quoted.size() - 2);
    return {bytes, bytes.find('\\') != std::string_view::npos};
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const auto each : words)
        if (word == each) return true;
    return false;
}

} // namespace

std::string quoted_start(std::string_view payload) {
    std::string said = "it begins with ";
    json::append_string(said, utf8::make_valid(payload.substr(0, most_quoted)));
    return said;
}

chat_decoder::chat_decoder(std::string model) : model_(std::move(model)) {}

void chat_decoder::event(std::string_view data, std::string_view type, std::vector<delta>& out) {
    if (is_decided()) return;
    const std::string_view payload = trim(data);
    if (payload.empty()) return; // a sign of life
    if (payload == "[DONE]") {
        done_ = true;
        return;
    }
    read(payload, type, out);
    if (type == "error" && !is_decided()) fail(detail::read_error(payload), payload);
}

void chat_decoder::body(std::string_view json, std::vector<delta>& out) {
    if (is_decided()) return;
    std::string padded;
    padded.reserve(json.size() + sse_parser::padding);
    padded = json;
    const std::string_view payload = trim(padded);
    if (payload.empty()) return complain("the answer is empty", {});
    read(payload, {}, out);
    if (is_decided()) return;
    if (auto error = said_ || !finish_reason_.empty() ? std::nullopt : detail::read_error(padded))
        return fail(std::move(error), padded);
    // It is complete JSON with an answer in it; a body of that kind needs no other sign of its end.
    if (chunk_.has_choices)
        done_ = true;
    else
        complain("the answer holds neither choices nor an error", padded);
}

void chat_decoder::stray_lines(std::string_view lines, std::vector<delta>& out) {
    if (is_decided() || has_end_marker() || lines.empty()) return;
    if (!begun_) return body(lines, out);
    if (auto error = detail::read_error(lines)) fail(std::move(error), lines);
}

void chat_decoder::read(std::string_view payload, std::string_view type, std::vector<delta>& out) {
    using verdict = detail::chunk_reader::verdict;
    const auto messages = said_ ? detail::message_member::skip : detail::message_member::read;
    verdict got = reader_.read(payload, messages, chunk_);
    if (got == verdict::bad_utf8) {
        padded_ = utf8::make_valid(payload);
        padded_.reserve(padded_.size() + sse_parser::padding);
        payload = padded_;
        got = reader_.read(payload, messages, chunk_);
    }
    if (got == verdict::good) return take(payload, out);
    // Names that the protocol does not know may carry what they like.
    if (!one_of(type, {"", "message", "error"})) return;
    if (type == "error") return;
    if (auto error = payload.front() == '[' ? detail::read_error(payload) : std::nullopt)
        return fail(std::move(error), payload);
    if (got == verdict::bad_shape) return complain(reader_.complaint(), payload);
    complain_unreadable(payload);
}

void chat_decoder::take(std::string_view payload, std::vector<delta>& out) {
    begun_ = begun_ || chunk_.has_choices;
    if (chunk_.usage) usage_ = chunk_.usage;
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
        if (malformed_) return;
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
        detail::string_joiner joiner;
        if (!joiner.append(chunk_.finish_reason->bytes, finish_reason_)) return complain_unreadable(payload);
        joiner.flush(finish_reason_);
    }
    if (chunk_.is_error_object) return fail(detail::read_error(payload), payload);
    if (!chunk_.error.empty()) {
        const auto error = json::parse(chunk_.error);
        if (!error) return complain_unreadable(payload);
        fail(detail::read_error_value(error.value()), payload);
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
    close(out);
    open_ = kind;
    if (kind == block::none) return;
    if (calls_.is_live()) {
        waiting_.push_back({kind, {}});
    } else if (kind == block::refusal) {
        out.push_back(delta::begin_text());
    }
}

// What belongs to the open block is said; the block itself closes when the next one opens.
void chat_decoder::close(std::vector<delta>& out) {
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
        close(out);
    }
}

void chat_decoder::fail(std::optional<detail::provider_error> error, std::string_view payload) {
    failed_ = true;
    error_ = std::move(error);
    if (error_) return;
    error_.emplace();
    error_->message = "an error without a reason; " + quoted_start(payload);
}

void chat_decoder::complain(std::string_view why, std::string_view payload) {
    if (malformed_) return;
    malformed_ = true;
    complaint_ = why;
    if (!payload.empty()) complaint_.append("; ").append(quoted_start(payload));
}

void chat_decoder::complain_unreadable(std::string_view payload) {
    const auto wrong = json::check(payload);
    if (!wrong) return complain("an event is JSON, but no object", payload);
    std::string why = "an event is not JSON: ";
    if (wrong->at_end) why += "the input ended early: ";
    why.append("expected ").append(wrong->expected).append(" at byte ").append(std::to_string(wrong->offset));
    complain(why, payload);
}

thalweg::finish chat_decoder::why() const {
    const std::string_view reason = finish_reason_;
    if (one_of(reason, {"length", "model_length", "model_context_window_exceeded"}))
        return thalweg::finish::length;
    if (one_of(reason, {"content_filter", "sensitive"})) return thalweg::finish::filtered;
    if (called_) return thalweg::finish::tool_use;
    if (one_of(reason, {"", "stop", "end", "eos", "tool_calls", "function_call"}))
        return thalweg::finish::end;
    return thalweg::finish::other;
}

// Everything that was open or had to wait, in the order of the answer.
void chat_decoder::finish_blocks(std::vector<delta>& out) {
    const bool was_live = calls_.is_live();
    close(out);
    if (!was_live && open_ != block::none) out.push_back(delta::end());
    open_ = block::none;
    calls_.finish_live(out);
    say_waiting(out);
    if (open_ != block::none) out.push_back(delta::end());
    open_ = block::none;
    close(out); // opaque details that came behind everything else
    std::string wrong;
    if (!calls_.finish_waiting(out, wrong)) complain(wrong, {});
}

chat_ending chat_decoder::finish(std::vector<delta>& out) {
    const bool gave_up = one_of(finish_reason_, {"error", "insufficient_system_resource", "network_error"});
    if (gave_up && !failed_ && !malformed_) {
        failed_ = true;
        error_.emplace();
        error_->message = "the provider gave the answer up";
        error_->code = finish_reason_;
    }
    chat_ending ending;
    if (!malformed_ && !failed_ && has_end_marker()) {
        finish_blocks(out);
        ending.why = why();
        const bool is_cut = ending.why == thalweg::finish::length || ending.why == thalweg::finish::filtered;
        // The wire has not said that the last block is over: a call may lack its arguments.
        if (is_cut && !out.empty() && out.back().kind() == delta::type::end) out.pop_back();
        if (usage_) out.push_back(delta::usage(*usage_));
    }
    ending.status = malformed_         ? chat_status::malformed
                    : failed_          ? chat_status::failed
                    : has_end_marker() ? chat_status::completed
                                       : chat_status::unfinished;
    ending.raw_finish_reason = finish_reason_;
    ending.error = std::move(error_);
    ending.complaint = std::move(complaint_);
    ending.usage = usage_;
    return ending;
}

} // namespace thalweg::providers
