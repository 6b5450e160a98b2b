// SPDX-License-Identifier: BSL-1.0

#pragma once

// For sources only, never for headers: it brings simdjson with it. One parser, and what every decoder of
// events asks of it: the members of an object in any order, strings as they lie in the payload, counts in
// whatever form they come. Members nobody asks for are skipped and not checked beyond the grammar that
// simdjson needs to skip them (H-13).
//
// Every reading function returns false when the grammar or a type is broken; then nothing else may be read,
// and complaint() tells which type, if it was one. No thread rule.

#include <thalweg/net/sse.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/json_string.hpp>

#include <algorithm>
#include <cstdint>
#include <simdjson.h>
#include <string>
#include <string_view>

namespace thalweg::wire {

class json_reader {
public:
    using value = simdjson::ondemand::value;
    using object = simdjson::ondemand::object;
    using array = simdjson::ondemand::array;
    using key = simdjson::ondemand::raw_json_string;
    using type = simdjson::ondemand::json_type;

    static_assert(sse_parser::padding >= simdjson::SIMDJSON_PADDING);
    static_assert(sse_parser::padding >= sizeof(std::uint64_t));

    /// Parses `payload` and gives its object to `read_root(object&)`, which returns false as above.
    /// Precondition: sse_parser::padding readable bytes follow the payload. Cost: no allocation once the
    /// buffers have grown.
    template <class Use>
    [[nodiscard]] verdict read(std::string_view payload, Use read_root) {
        complaint_.clear();
        if (parser_.capacity() < payload.size() || parser_.capacity() == 0) {
            const std::size_t grown = std::max({first_capacity, payload.size(), 2 * parser_.capacity()});
            if (parser_.allocate(grown) != simdjson::SUCCESS) return verdict::not_json;
        }
        const simdjson::padded_string_view json(payload.data(), payload.size(),
                                                payload.size() + sse_parser::padding);
        simdjson::ondemand::document document;
        const simdjson::error_code failed = parser_.iterate(json).get(document);
        if (failed == simdjson::UTF8_ERROR) return verdict::bad_utf8;
        object root;
        if (failed != simdjson::SUCCESS || document.get_object().get(root) != simdjson::SUCCESS)
            return verdict::not_json;
        if (!read_root(root)) return complaint_.empty() ? verdict::not_json : verdict::bad_shape;
        const bool ends_there = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
        return ends_there ? verdict::good : verdict::not_json;
    }

    /// The sentence of verdict::bad_shape.
    [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

    /// False, and the sentence: `name` is not `wanted`.
    bool unexpected(std::string_view name, std::string_view wanted) {
        complaint_.assign("\"").append(name).append("\" is not ").append(wanted);
        return false;
    }

    /// A string; null counts as an empty one.
    bool read_string(value& from, std::string_view name, raw_string& found) {
        const type what = type_of(from);
        if (what == type::null) return true;
        if (what != type::string) return unexpected(name, "a string");
        key raw;
        if (from.get_raw_json_string().get(raw) != simdjson::SUCCESS) return false;
        found = string_at(raw.raw());
        return true;
    }

    /// The same for members that are of no consequence: any other type counts as absent.
    bool read_lenient(value& from, raw_string& found) {
        return type_of(from) != type::string || read_string(from, {}, found);
    }

    /// Calls `use(key, value&)` for each member of an object, in the order of the text. By reference: a copy
    /// of a value that was just made stalls the processor.
    template <class Use>
    static bool each_member(object& in, Use use) {
        for (auto field : in) {
            if (field.error() != simdjson::SUCCESS) return false;
            auto& member = field.value_unsafe();
            if (!use(member.key(), member.value())) return false;
        }
        return true;
    }

    /// The same for a value that has to be an object; null counts as one without members.
    template <class Use>
    bool each_member(value& in, std::string_view name, Use use) {
        const type what = type_of(in);
        if (what == type::null) return true;
        if (what != type::object) return unexpected(name, "an object");
        object found;
        return read_object(in, found) && each_member(found, use);
    }

    template <class Use>
    static bool each_element(array& in, Use use) {
        for (auto element : in)
            if (element.error() != simdjson::SUCCESS || !use(element.value_unsafe())) return false;
        return true;
    }

    /// The same for a value that has to be an array; null counts as an empty one.
    template <class Use>
    bool each_element(value& in, std::string_view name, Use use) {
        const type what = type_of(in);
        if (what == type::null) return true;
        if (what != type::array) return unexpected(name, "an array");
        array found;
        return read_array(in, found) && each_element(found, use);
    }

    static type type_of(value& of) {
        type what = type::null;
        if (of.type().get(what) != simdjson::SUCCESS) return type::null;
        return what;
    }

    static bool read_object(value& from, object& found) {
        return from.get_object().get(found) == simdjson::SUCCESS;
    }

    static bool read_array(value& from, array& found) {
        return from.get_array().get(found) == simdjson::SUCCESS;
    }

    /// The JSON text of any value, without blanks behind it.
    static bool read_json(value& from, std::string_view& found) {
        if (simdjson::to_json_string(from).get(found) != simdjson::SUCCESS) return false;
        while (!found.empty() && static_cast<unsigned char>(found.back()) <= ' ')
            found.remove_suffix(1);
        return true;
    }

    /// A number that counts something: never negative; 0 where it is no number.
    static std::int64_t read_count(value& from) {
        std::int64_t count = 0;
        double number = 0;
        if (type_of(from) != type::number) return 0;
        if (from.get_int64().get(count) == simdjson::SUCCESS) return std::max<std::int64_t>(count, 0);
        if (from.get_double().get(number) != simdjson::SUCCESS || !(number > 0)) return 0;
        return static_cast<std::int64_t>(std::min(number, 9e15));
    }

private:
    static constexpr std::size_t first_capacity = 4096;

    simdjson::ondemand::parser parser_;
    std::string complaint_;
};

} // namespace thalweg::wire
