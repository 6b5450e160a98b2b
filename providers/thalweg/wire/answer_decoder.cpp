// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/answer_decoder.hpp>

#include <thalweg/net/sse.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <utility>

namespace thalweg::wire {

namespace {

constexpr std::size_t most_quoted = 512;

std::string_view trim(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    if (!text.empty() && blanks.find(text.front()) == std::string_view::npos &&
        blanks.find(text.back()) == std::string_view::npos)
        return text;
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

} // namespace

std::string quoted_start(std::string_view payload) {
    std::string said = "it begins with ";
    json::append_string(said, utf8::make_valid(payload.substr(0, most_quoted)));
    return said;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const auto each : words)
        if (word == each) return true;
    return false;
}

void answer_decoder::event(std::string_view data, std::string_view type, std::vector<delta>& out) {
    if (is_decided()) return;
    const std::string_view payload = trim(data);
    if (payload.empty()) return; // a sign of life
    if (payload == "[DONE]") return take_done();
    read(payload, type, out);
    if (type == "error" && !is_decided()) fail(read_error(payload), payload);
}

void answer_decoder::body(std::string_view json, std::vector<delta>& out) {
    if (is_decided()) return;
    std::string padded;
    padded.reserve(json.size() + sse_parser::padding);
    padded = json;
    const std::string_view payload = trim(padded);
    if (payload.empty()) return complain("the answer is empty", {});
    read(payload, {}, out);
    if (is_decided() || has_end_marker()) return;
    if (auto error = read_error(payload)) return fail(std::move(error), payload);
    // It is complete JSON with an answer in it; a body of that kind needs no other sign of its end.
    if (is_whole_body())
        close();
    else
        complain("the answer holds neither an answer of the protocol nor an error", payload);
}

void answer_decoder::stray_lines(std::string_view lines, std::vector<delta>& out) {
    if (is_decided() || has_end_marker() || lines.empty()) return;
    if (!begun_) return body(lines, out);
    if (auto error = read_error(lines)) fail(std::move(error), lines);
}

bool answer_decoder::knows(std::string_view type) const {
    return is_one_of(type, {"", "message", "error"});
}

void answer_decoder::read(std::string_view payload, std::string_view type, std::vector<delta>& out) {
    verdict got = parse(payload);
    if (got == verdict::bad_utf8) {
        padded_ = utf8::make_valid(payload);
        padded_.reserve(padded_.size() + sse_parser::padding);
        payload = padded_;
        got = parse(payload);
    }
    if (got == verdict::good) return take(payload, type, out);
    if (!knows(type) || type == "error") return; // an error event need not be JSON
    if (auto error = payload.front() == '[' ? read_error(payload) : std::nullopt)
        return fail(std::move(error), payload);
    if (got == verdict::bad_shape) return complain(bad_shape(), payload);
    complain_unreadable(payload);
}

void answer_decoder::fail(std::optional<provider_error> error, std::string_view payload) {
    if (failed_ || malformed_) return;
    failed_ = true;
    error_ = std::move(error);
    if (error_) return;
    error_.emplace();
    error_->message = "an error without a reason; " + quoted_start(payload);
}

void answer_decoder::fail_for_good(provider_error error) {
    permanent_ = permanent_ || (!failed_ && !malformed_);
    fail(std::move(error), {});
}

void answer_decoder::complain(std::string_view why, std::string_view payload) {
    if (malformed_) return;
    malformed_ = true;
    complaint_ = why;
    if (!payload.empty()) complaint_.append("; ").append(quoted_start(payload));
}

void answer_decoder::complain_unreadable(std::string_view payload) {
    const auto wrong = json::check(payload);
    if (!wrong) return complain("an event is JSON, but no object", payload);
    std::string why = "an event is not JSON: ";
    if (wrong->at_end) why += "the input ended early: ";
    why.append("expected ").append(wrong->expected).append(" at byte ").append(std::to_string(wrong->offset));
    complain(why, payload);
}

answer_ending answer_decoder::finish(std::vector<delta>& out) {
    if (!malformed_ && !failed_) conclude();
    answer_ending ending;
    const bool is_whole = closed_ || has_end_marker();
    if (!malformed_ && !failed_ && is_whole) {
        complete(out);
        ending.why = why();
        if (usage) out.push_back(delta::usage(*usage));
    }
    ending.status = malformed_ ? answer_status::malformed
                    : failed_  ? answer_status::failed
                    : is_whole ? answer_status::completed
                               : answer_status::unfinished;
    ending.raw_stop_reason = text(raw_stop_reason());
    ending.end_marker = end_marker();
    ending.error = std::move(error_);
    ending.complaint = std::move(complaint_);
    ending.usage = usage;
    ending.permanent = permanent_;
    return ending;
}

} // namespace thalweg::wire
