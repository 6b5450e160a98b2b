// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/request_body.hpp>

#include <thalweg/protocol/utf8.hpp>

#include <utility>

namespace thalweg::wire {

std::string extra_fault(std::string_view extra) {
    if (extra.empty()) return {};
    const auto parsed = json::parse(extra);
    if (!parsed) return "option extra is not JSON: " + parsed.error().message();
    return parsed.value().is_object() ? "" : "option extra is no JSON object";
}

request_body::request_body(std::string_view extra) {
    if (const auto parsed = extra.empty() ? json::parse("{}") : json::parse(extra)) extra_ = parsed.value();
}

bool request_body::member(std::string_view name) {
    if (extra_.find(name)) return false;
    add_name(name);
    return true;
}

void request_body::add(std::string_view name, std::string_view text) {
    if (member(name)) append_text(out_, text);
}

void request_body::add_json(std::string_view name, std::string_view json) {
    if (member(name)) out_ += json;
}

void request_body::add_int(std::string_view name, std::int64_t value) {
    if (member(name)) json::append_int(out_, value);
}

void request_body::add_double(std::string_view name, double value) {
    if (member(name)) json::append_double(out_, value);
}

std::string request_body::finish() {
    for (const json::member& each : extra_.members()) {
        add_name(each.key);
        json::append_compact(out_, each.value.raw());
    }
    return std::move(out_ += '}');
}

void request_body::add_name(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    json::append_string(out_, name);
    out_ += ':';
}

void append_text(std::string& out, std::string_view text) {
    if (utf8::is_valid(text))
        json::append_string(out, text);
    else
        json::append_string(out, utf8::make_valid(text));
}

void append_schema(std::string& out, std::string_view schema) {
    const auto parsed = json::parse(schema);
    if (parsed && parsed.value().is_object())
        json::append_compact(out, schema);
    else
        out += R"({"type":"object","properties":{}})";
}

} // namespace thalweg::wire
