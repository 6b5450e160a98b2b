// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/object_reader.hpp>

#include <algorithm>

namespace thalweg::detail {

void read_context::reject(std::string_view at, std::string_view path, std::string_view expected) {
    if (failed()) return;
    error_.append("expected ").append(expected).append(" at byte ");
    error_.append(std::to_string(at.data() - whole_.data()));
    if (!path.empty()) error_.append(" (").append(path).append(")");
}

object_reader::object_reader(read_context& context, json::view value, std::string path)
    : context_(&context), value_(value), path_(std::move(path)) {
    if (context.failed()) return;
    if (!value.is_object()) context.reject(value.raw(), path_, "an object");
    for (json::member m : value.members())
        entries_.push_back({std::move(m), false});
}

object_reader::entry* object_reader::find(std::string_view name) {
    entry* found = nullptr;
    for (entry& e : entries_) {
        if (e.member.key != name) continue;
        if (found != nullptr) {
            context_->reject(e.member.key_raw, path_of(name), "this member only once, but found it again");
            break;
        }
        found = &e;
        e.known = true;
    }
    return found;
}

json::view object_reader::required(std::string_view name, std::string_view expected) {
    const entry* found = find(name);
    if (found != nullptr) return found->member.value;
    if (!failed()) {
        std::string sentence("the member \"");
        sentence.append(name).append("\" with ").append(expected).append(" in the object");
        context_->reject(value_.raw(), path_, sentence);
    }
    return {};
}

std::optional<json::view> object_reader::optional(std::string_view name) {
    const entry* found = find(name);
    if (found == nullptr || found->member.value.is_null()) return std::nullopt;
    return found->member.value;
}

void object_reader::reject(json::view at, std::string_view name, std::string_view expected) {
    if (!failed()) context_->reject(at.raw(), path_of(name), expected);
}

void object_reader::reject(std::string_view name, std::string_view expected) {
    if (failed()) return;
    const entry* found = find(name);
    reject(found == nullptr ? value_ : found->member.value, name, expected);
}

text object_reader::string(std::string_view name) {
    const json::view value = required(name, "a string");
    auto read = value.as_text();
    if (!read) reject(value, name, "a string");
    return read ? std::move(*read) : text();
}

std::optional<text> object_reader::optional_string(std::string_view name) {
    const auto found = optional(name);
    if (!found) return std::nullopt;
    auto read = found->as_text();
    if (!read) reject(*found, name, "a string");
    return read;
}

std::int64_t object_reader::integer(std::string_view name) {
    const json::view value = required(name, "an integer");
    const auto read = value.as_int();
    if (!read) reject(value, name, "an integer");
    return read.value_or(0);
}

object_reader object_reader::object(std::string_view name) {
    return object_reader(*context_, required(name, "an object"), path_of(name));
}

std::vector<object_reader> object_reader::objects(std::string_view name) {
    std::vector<object_reader> read;
    const json::view array = required(name, "an array");
    if (!array.is_array()) reject(array, name, "an array");
    for (const json::view element : array.elements()) {
        read.emplace_back(*context_, element, path_of(name) + '[' + std::to_string(read.size()) + ']');
    }
    return read;
}

std::vector<text> object_reader::strings(std::string_view name) {
    return read_strings(required(name, "an array of strings"), name);
}

std::vector<text> object_reader::optional_strings(std::string_view name) {
    const auto found = optional(name);
    return found ? read_strings(*found, name) : std::vector<text>();
}

std::vector<text> object_reader::read_strings(json::view array, std::string_view name) {
    std::vector<text> read;
    if (!array.is_array()) reject(array, name, "an array of strings");
    for (const json::view element : array.elements()) {
        auto value = element.as_text();
        if (!value)
            reject(element, name, "a string");
        else
            read.push_back(std::move(*value));
    }
    return read;
}

std::size_t object_reader::index(json::view value, std::string_view name,
                                 std::span<const std::string_view> names) {
    const auto written = value.as_text();
    const auto found = written && !written->empty() ? std::find(names.begin(), names.end(), written->view())
                                                    : names.end();
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    reject(value, name, choice(names));
    return 0;
}

std::string object_reader::choice(std::span<const std::string_view> names) {
    std::string sentence = "one of";
    char separator = ' ';
    for (const std::string_view name : names) {
        if (name.empty()) continue;
        sentence += separator;
        sentence.append(name);
        separator = '|';
    }
    return sentence;
}

std::string object_reader::path_of(std::string_view name) const {
    std::string path = path_;
    if (!path.empty()) path += '.';
    return path.append(name);
}

text object_reader::unknown_members() const {
    std::string found;
    for (const entry& e : entries_) {
        if (e.known) continue;
        found += ',';
        found.append(e.member.key_raw);
        found += ':';
        const std::string_view value = e.member.value.raw();
        if (value.find_first_of("\r\n") == std::string_view::npos)
            found.append(value);
        else
            json::append_compact(found, value);
    }
    return text(found);
}

void object_reader::note_unknown_in(const object_reader& inner) {
    nested_unknown_ = nested_unknown_ || std::any_of(inner.entries_.begin(), inner.entries_.end(),
                                                     [](const entry& e) { return !e.known; });
}

} // namespace thalweg::detail
