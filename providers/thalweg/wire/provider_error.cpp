// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/provider_error.hpp>

#include <thalweg/protocol/utf8.hpp>
#include <thalweg/wire/retry_hint.hpp>

#include <charconv>

namespace thalweg::wire {

namespace {

constexpr std::size_t longest_message = 4096; // code points

// A text, or the JSON text of anything else but null. Unpaired surrogates become visible.
std::string words(const std::optional<json::view>& value) {
    if (!value || value->is_null()) return {};
    const auto as_text = value->as_string();
    const std::string valid = utf8::make_valid(as_text ? *as_text : std::string(value->raw()));
    return std::string(utf8::truncate(valid, longest_message));
}

int http_status(std::string_view digits) {
    int number = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool whole = failed == std::errc() && end == digits.data() + digits.size();
    return whole && number >= 100 && number < 600 ? number : 0;
}

void read_code(const json::view& error, provider_error& into) {
    for (const char* name : {"code", "status_code", "status"}) {
        const std::string said = words(error.find(name));
        if (said.empty()) continue;
        const int number = http_status(said);
        if (number != 0 && into.status == 0) into.status = number;
        if (number == 0 && into.code.empty()) into.code = said;
    }
}

// A gateway passes on what the server behind it said.
void read_metadata(const json::view& error, provider_error& into) {
    const auto metadata = error.find("metadata");
    if (!metadata) return;
    const std::string behind = words(metadata->find("raw"));
    const std::string who = words(metadata->find("provider_name"));
    if (!who.empty()) into.message += " (" + who + ")";
    if (!behind.empty()) into.message += ": " + behind;
}

void read_details(const json::view& error, provider_error& into) {
    const auto details = error.find("details");
    if (!details) return;
    for (const json::view each : details->elements()) {
        const auto delay = each.find("retryDelay");
        if (!delay) continue;
        into.retry_delay = parse_duration(words(delay));
        if (into.retry_delay) return;
    }
}

provider_error read_fields(const json::view& error) {
    provider_error read;
    read.message = words(error.find("message"));
    read.type = words(error.find("type"));
    read_code(error, read);
    read_metadata(error, read);
    read_details(error, read);
    return read;
}

} // namespace

std::string provider_error::sentence() const {
    std::string said = type;
    if (!code.empty() && code != type) said += (said.empty() ? "" : ", ") + code;
    if (!message.empty()) said += (said.empty() ? "" : ": ") + message;
    if (said.empty()) return "no reason given";
    return said;
}

std::optional<provider_error> read_error_value(const json::view& value) {
    if (value.is_object()) {
        provider_error read = read_fields(value);
        const bool says_nothing = read.message.empty() && read.type.empty() && read.code.empty();
        if (says_nothing) read.message = words(value);
        return read;
    }
    if (value.is_array()) {
        for (const json::view each : value.elements())
            if (auto read = read_error_value(each)) return read;
        return std::nullopt;
    }
    const auto said = value.as_string();
    if (!said || said->empty()) return std::nullopt;
    provider_error read;
    read.message = words(value);
    return read;
}

std::optional<provider_error> read_error(std::string_view json) {
    const auto parsed = json::parse(json);
    if (!parsed) return std::nullopt;
    json::view body = parsed.value();
    if (body.is_array()) {
        const auto elements = body.elements();
        if (elements.begin() == elements.end()) return std::nullopt;
        body = *elements.begin();
    }
    if (!body.is_object()) return read_error_value(body);
    if (const auto error = body.find("error")) {
        auto read = read_error_value(*error);
        // Some put the details beside a short word: {"error":"Unauthorized","message":"…","status":401}.
        if (read && !error->is_object()) {
            const provider_error beside = read_fields(body);
            if (!beside.message.empty()) read->message += ": " + beside.message;
            read->type = beside.type;
            read->code = beside.code;
            read->status = beside.status;
        }
        return read;
    }
    if (const auto detail = body.find("detail")) {
        provider_error read;
        read.message = words(detail);
        return read;
    }
    if (!body.find("message")) return std::nullopt;
    return read_fields(body);
}

} // namespace thalweg::wire
