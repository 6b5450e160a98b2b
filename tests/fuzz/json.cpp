// SPDX-License-Identifier: BSL-1.0

// Any bytes: the checker and simdjson agree on what is JSON and on the values in it, and a message that is
// read and written stays the same from then on. They differ by intent on unpaired surrogate escapes and on
// numbers beyond any machine type (ours are valid) and on the depth that is allowed.

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/message.hpp>

#include <simdjson.h>

#include <cstdint>
#include <cstdlib>

namespace json = thalweg::json;
namespace dom = simdjson::dom;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void compare(dom::element theirs, json::view ours);

void compare_members(dom::object theirs, json::view ours) {
    auto member = ours.members().begin();
    for (const auto& [key, value] : theirs) {
        require(member != std::default_sentinel);
        require((*member).key == key);
        compare(value, (*member).value);
        ++member;
    }
    require(member == std::default_sentinel);
}

void compare_elements(dom::array theirs, json::view ours) {
    auto element = ours.elements().begin();
    for (const dom::element value : theirs) {
        require(element != std::default_sentinel);
        compare(value, *element);
        ++element;
    }
    require(element == std::default_sentinel);
}

void compare(dom::element theirs, json::view ours) {
    switch (theirs.type()) {
    case dom::element_type::OBJECT: return compare_members(theirs.get_object().value_unsafe(), ours);
    case dom::element_type::ARRAY: return compare_elements(theirs.get_array().value_unsafe(), ours);
    case dom::element_type::STRING: return require(ours.as_string() == theirs.get_string().value_unsafe());
    case dom::element_type::INT64: return require(ours.as_int() == theirs.get_int64().value_unsafe());
    case dom::element_type::UINT64: return require(ours.type() == json::type::number && !ours.as_int());
    case dom::element_type::DOUBLE: return require(ours.as_double() == theirs.get_double().value_unsafe());
    case dom::element_type::BOOL: return require(ours.as_bool() == theirs.get_bool().value_unsafe());
    case dom::element_type::NULL_VALUE: return require(ours.is_null());
    }
}

// Strings that are written are read back, whatever was in them.
void write_strings(json::view value) {
    for (const json::view element : value.elements())
        write_strings(element);
    for (const auto member : value.members())
        write_strings(member.value);
    if (!value.is_string()) return;
    const auto content = *value.as_string();
    std::string written;
    json::append_string(written, content);
    const auto read = json::parse(written);
    require(read.has_value());
    std::string again;
    json::append_string(again, *read.value().as_string());
    require(again == written);
}

void check_against_simdjson(std::string_view text) {
    static dom::parser parser;
    const auto mistake = json::check(text);
    const auto ours = json::parse(text);
    require(ours.has_value() == !mistake);
    dom::element theirs;
    const auto error = parser.parse(text.data(), text.size()).get(theirs);
    if (mistake) {
        require(mistake->offset <= text.size());
        require(!mistake->at_end || mistake->offset == text.size() || mistake->expected == "valid UTF-8");
        const bool too_deep = mistake->expected.find("levels") != std::string_view::npos;
        require(error != simdjson::SUCCESS || too_deep);
        return;
    }
    write_strings(ours.value());
    if (error == simdjson::SUCCESS) return compare(theirs, ours.value());
    require(error == simdjson::NUMBER_ERROR || error == simdjson::STRING_ERROR);
    if (error == simdjson::STRING_ERROR) require(text.find("\\u") != std::string_view::npos);
}

void check_message(std::string_view text) {
    const auto first = thalweg::parse_message(text, {.require_timestamp = false});
    if (!first) return;
    const std::string written = to_json(first.value());
    require(written.find('\n') == std::string::npos);
    require(!json::check(written));
    const auto second = thalweg::parse_message(written, {.require_timestamp = false});
    require(second.has_value());
    require(second.value().kind() == first.value().kind());
    require(to_json(second.value()) == written);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(input), size};
    check_against_simdjson(text);
    check_message(text);
    return 0;
}
