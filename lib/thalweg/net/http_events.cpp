// SPDX-License-Identifier: BSL-1.0

#include <thalweg/net/http_events.hpp>

#include <algorithm>
#include <utility>

namespace thalweg::http {

namespace {

constexpr std::size_t most_excerpt = 512;
constexpr std::size_t most_error_body = std::size_t{64} << 10;

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

request accepting_events(request what) {
    const auto names_accept = [](const header& each) { return same_name(each.name, "accept"); };
    if (std::none_of(what.headers.begin(), what.headers.end(), names_accept))
        what.headers.push_back({"Accept", "text/event-stream"});
    return what;
}

std::string_view media_type(const response_head& head) {
    auto type = head.find("content-type").value_or(std::string_view());
    type = type.substr(0, type.find(';'));
    while (!type.empty() && type.back() == ' ')
        type.remove_suffix(1);
    return type;
}

// What to make of a body. Some servers label a stream as plain text or bytes, or as JSON; so a label only
// decides where the first byte does not contradict it.
enum class body_kind : std::uint8_t { error, json, undecided, events, foreign };

body_kind kind_of(const response_head& head) {
    if (head.status < 200 || head.status >= 300) return body_kind::error;
    const auto type = media_type(head);
    if (same_name(type, "application/json")) return body_kind::undecided;
    for (const auto* known :
         {"", "text/event-stream", "text/plain", "application/octet-stream", "application/x-ndjson"})
        if (same_name(type, known)) return body_kind::events;
    return body_kind::foreign;
}

// Of a body that is labelled as JSON, by all of it that has arrived.
body_kind kind_of_json(std::string_view bytes) {
    const auto at = bytes.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos) return body_kind::undecided;
    return bytes[at] == '{' || bytes[at] == '[' ? body_kind::json : body_kind::events;
}

/// Takes the bytes of one answer and says what they are.
class answer_reader {
public:
    answer_reader(const exchange& of, const response_head& head, sse_limits limits)
        : exchange_(&of), head_(&head), limits_(limits), parser_(limits), kind_(kind_of(head)) {}

    /// Returns whether more should be read.
    bool take(std::string_view bytes) {
        if (bytes.empty()) return end_of_body();
        outcome_.excerpt.append(bytes.substr(0, most_excerpt - outcome_.excerpt.size()));
        switch (kind_) {
        case body_kind::events: parser_.feed(bytes); return true;
        case body_kind::error: return collect(bytes, most_error_body);
        case body_kind::json: return collect(bytes, limits_.event);
        case body_kind::undecided: return decide(bytes);
        case body_kind::foreign: return outcome_.excerpt.size() < most_excerpt;
        }
        return false;
    }

    /// The next event of what was taken last.
    const sse_event* next() { return parser_.next(); }
    [[nodiscard]] bool failed() const noexcept { return !parser_.error().empty(); }

    events_outcome finish() {
        if (!ended_) { // left early: everything decisive is known
            outcome_.kind = kind_ == body_kind::error ? outcome_kind::http_error : outcome_kind::malformed;
            outcome_.head = *head_;
        }
        if (failed()) {
            complain(parser_.error());
        } else if (outcome_.kind == outcome_kind::ok && outcome_.excerpt.empty()) {
            complain("the answer (HTTP status " + std::to_string(head_->status) + ") has no body");
        } else if (kind_ == body_kind::foreign && (!ended_ || outcome_.kind == outcome_kind::ok)) {
            complain("the answer is " + std::string(media_type(*head_)) + ", not an event stream");
            outcome_.foreign = true;
        } else if (!ended_ && kind_ == body_kind::error) {
            outcome_.message = std::string(exchange_->label()) + ": HTTP status " +
                               std::to_string(head_->status);
        } else if (!ended_) {
            complain("the answer exceeds " + std::to_string(limits_.event) + " bytes");
        }
        outcome_.stray = parser_.stray();
        outcome_.cut = parser_.cut();
        return std::move(outcome_);
    }

private:
    bool end_of_body() {
        ended_ = true;
        static_cast<outcome&>(outcome_) = exchange_->result();
        parser_.finish(outcome_.kind == outcome_kind::ok ? body_end::clean : body_end::broken);
        return false;
    }

    bool collect(std::string_view bytes, std::size_t limit) {
        outcome_.body.append(bytes.substr(0, limit - outcome_.body.size()));
        return outcome_.body.size() < limit;
    }

    // Blanks are kept until something follows them: they belong to whatever that is.
    bool decide(std::string_view bytes) {
        const bool fits = collect(bytes, limits_.event);
        kind_ = kind_of_json(outcome_.body);
        if (kind_ != body_kind::events) return fits;
        kept_ = std::exchange(outcome_.body, {});
        parser_.feed(kept_);
        return true;
    }

    void complain(std::string_view why) {
        outcome_.kind = outcome_kind::malformed;
        outcome_.message.assign(exchange_->label()).append(": ").append(why);
    }

    const exchange* exchange_;
    const response_head* head_;
    sse_limits limits_;
    sse_parser parser_;
    events_outcome outcome_;
    body_kind kind_;
    std::string kept_;
    bool ended_ = false;
};

events_outcome without_answer(const outcome& why) {
    events_outcome result;
    static_cast<outcome&>(result) = why;
    return result;
}

} // namespace

stream<sse_event, events_outcome> events(client& on, request what, sse_limits limits) {
    exchange running = on.send(accepting_events(std::move(what)));
    const response_head* head = co_await running.head();
    if (head == nullptr) co_return without_answer(running.result());
    answer_reader reader(running, *head, limits);
    bool more = true;
    while (more) {
        const std::string_view bytes = co_await running.read();
        more = reader.take(bytes);
        while (const sse_event* event = reader.next()) {
            sse_event item = *event;
            co_yield std::move(item);
        }
        more = more && !reader.failed();
    }
    co_return reader.finish();
}

} // namespace thalweg::http
