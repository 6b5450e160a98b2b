// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/sse.hpp>

#include <thalweg/net/padded.hpp>
#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <utility>

namespace thalweg {

using detail::append_padded;

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view trim_blanks(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Whether data whose last line was never terminated is all there nevertheless.
bool is_whole(std::string_view data) {
    data = trim_blanks(data);
    return data == "[DONE]" || (!data.empty() && !json::check(data));
}

// Whether a line that is no field may be part of a JSON text. Bare scalars (the elements of an array printed
// on several lines) count only inside a text that has begun.
bool looks_like_json(std::string_view line, bool inside_text) {
    line = trim_blanks(line);
    if (line.empty()) return false;
    if (std::string_view{"{}[]\","}.find(line.front()) != std::string_view::npos) return true;
    if (!inside_text) return false;
    if (line.back() == ',') line.remove_suffix(1);
    if (line == "null" || line == "true" || line == "false") return true;
    return line.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
}

} // namespace

sse_parser::sse_parser(sse_limits limits) : limits_{limits} {}

std::size_t sse_parser::find(char c) const {
    if (position_ < bytes_.size() && bytes_[position_] == c) return position_;
    const auto at = bytes_.find(c, position_);
    return at == std::string_view::npos ? bytes_.size() : at;
}

void sse_parser::feed(std::string_view bytes) {
    assert((position_ == bytes_.size() || !error_.empty()) &&
           "call next() until it is null before feeding more");
    if (delivered_) clear_block();
    fed_before_ += bytes_.size();
    bytes_ = bytes;
    position_ = 0;
    next_lf_ = find('\n');
    next_cr_ = find('\r');
}

const sse_event* sse_parser::next() {
    if (delivered_) clear_block();
    if (!error_.empty()) return nullptr;
    if (std::exchange(last_block_ready_, false)) return dispatch();
    if (position_ == bytes_.size()) return nullptr;
    if (mark_ < byte_order_mark.size()) skip_byte_order_mark();
    if (swallow_lf_ && position_ < bytes_.size()) {
        if (bytes_[position_] == '\n') ++position_;
        swallow_lf_ = false;
    }
    while (position_ < bytes_.size()) {
        if (next_lf_ < position_) next_lf_ = find('\n');
        if (next_cr_ < position_) next_cr_ = find('\r');
        const auto line_end = std::min(next_lf_, next_cr_);
        if (line_end == bytes_.size()) {
            stash_rest();
            break;
        }
        if (take_whole_line(line_end)) return dispatch();
        if (!error_.empty()) return nullptr;
    }
    keep_views();
    return nullptr;
}

// Consumes the line that ends at `line_end`; true if it was the empty line behind a block with data.
bool sse_parser::take_whole_line(std::size_t line_end) {
    const auto start = position_;
    const auto piece = bytes_.substr(start, line_end - start);
    position_ = line_end + 1;
    if (bytes_[line_end] == '\r') {
        if (position_ == bytes_.size())
            swallow_lf_ = true;
        else if (bytes_[position_] == '\n')
            ++position_;
    }
    if (line_.empty()) {
        if (piece.empty()) {
            if (has_data_) return true;
            clear_block();
        } else if (piece.size() > limits_.line) {
            line_at_ = fed_before_ + start;
            fail_line_too_long();
        } else {
            take_line(piece, false);
        }
        return false;
    }
    if (line_.size() + piece.size() > limits_.line) {
        fail_line_too_long();
        return false;
    }
    append_padded(line_, piece);
    take_line(line_, true);
    line_.clear();
    return false;
}

sse_parser::line_kind sse_parser::take_line(std::string_view line, bool buffered) {
    if (line.front() == ':') return line_kind::comment;
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);

    if (name == "data") {
        take_data(value, buffered);
    } else if (name == "event") {
        type_buffered_ = buffered;
        if (buffered)
            type_.assign(value);
        else
            type_view_ = value;
    } else if (name == "id") {
        if (value.find('\0') == std::string_view::npos) last_id_.assign(value);
    } else if (name == "retry") {
        take_retry(value);
    } else {
        return take_stray(line) ? line_kind::stray_json : line_kind::ignored;
    }
    return line_kind::field;
}

void sse_parser::take_data(std::string_view value, bool buffered) {
    if (!has_data_) {
        if (value.size() > limits_.event) return fail_event_too_big();
        has_data_ = true;
        data_buffered_ = buffered;
        if (buffered) {
            data_offset_ = static_cast<std::size_t>(value.data() - line_.data());
            if (value.empty()) data_offset_ = line_.size();
            data_.swap(line_);
        } else {
            data_view_ = value;
        }
        return;
    }
    if (!data_buffered_) keep_views();
    if (data_.size() - data_offset_ + 1 + value.size() > limits_.event) return fail_event_too_big();
    append_padded(data_, "\n");
    append_padded(data_, value);
}

void sse_parser::take_retry(std::string_view value) {
    std::int64_t count = 0;
    const auto all_digits = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
    if (!all_digits) return;
    const auto [_, code] = std::from_chars(value.data(), value.data() + value.size(), count);
    if (code == std::errc{}) retry_ = std::chrono::milliseconds{count};
}

bool sse_parser::take_stray(std::string_view line) {
    if (!looks_like_json(line, !stray_.empty())) return false;
    if (stray_.size() + line.size() < limits_.stray) stray_.append(line).push_back('\n');
    return true;
}

void sse_parser::skip_byte_order_mark() {
    while (mark_ < byte_order_mark.size() && position_ < bytes_.size()) {
        if (bytes_[position_] != byte_order_mark[mark_]) {
            append_padded(line_, byte_order_mark.substr(0, mark_));
            mark_ = byte_order_mark.size();
            return;
        }
        ++mark_;
        ++position_;
    }
}

void sse_parser::stash_rest() {
    const auto rest = bytes_.substr(position_);
    if (line_.empty()) line_at_ = fed_before_ + position_;
    position_ = bytes_.size();
    if (line_.size() + rest.size() > limits_.line) return fail_line_too_long();
    append_padded(line_, rest);
}

// Copies what still points into the current feed.
void sse_parser::keep_views() {
    if (has_data_ && !data_buffered_) {
        data_.clear();
        append_padded(data_, data_view_);
        data_offset_ = 0;
        data_buffered_ = true;
    }
    if (!type_buffered_) {
        type_.assign(type_view_);
        type_buffered_ = true;
    }
}

const sse_event* sse_parser::dispatch() {
    event_.data = data_buffered_ ? std::string_view{data_}.substr(data_offset_) : data_view_;
    event_.type = type_buffered_ ? std::string_view{type_} : type_view_;
    event_.id = last_id_;
    delivered_ = true;
    return &event_;
}

void sse_parser::clear_block() {
    has_data_ = data_buffered_ = type_buffered_ = delivered_ = false;
    type_view_ = {};
}

void sse_parser::finish(body_end end) {
    assert((position_ == bytes_.size() || !error_.empty()) &&
           "call next() until it is null before finishing");
    if (delivered_) clear_block();
    if (!error_.empty()) return;
    if (mark_ < byte_order_mark.size()) append_padded(line_, byte_order_mark.substr(0, mark_));
    mark_ = byte_order_mark.size();
    if (end == body_end::broken) {
        cut_ = has_data_ || !line_.empty();
        return;
    }
    const bool open_line = !line_.empty();
    auto kind = line_kind::comment;
    if (open_line) kind = take_line(line_, true);
    if (!error_.empty()) return;
    if (has_data_) {
        keep_views();
        last_block_ready_ = !open_line || is_whole(std::string_view{data_}.substr(data_offset_));
        cut_ = !last_block_ready_;
    } else {
        cut_ = kind == line_kind::field || kind == line_kind::ignored;
    }
}

void sse_parser::fail_line_too_long() {
    error_ = "the event stream has a line longer than " + std::to_string(limits_.line) + " bytes (at byte " +
             std::to_string(line_at_) + ")";
}

void sse_parser::fail_event_too_big() {
    error_ = "the event stream has an event with more than " + std::to_string(limits_.event) +
             " bytes of data";
}

} // namespace thalweg
