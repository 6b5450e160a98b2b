// SPDX-License-Identifier: BSL-1.0

#pragma once

// Described structs as JSON: the schema a model is shown, the arguments it sends back, the values a tool
// returns.
//
//     struct forecast_args {
//         std::string city;
//         int days = 1;                                    // has a default: optional for the model
//         static constexpr thalweg::doc docs[] = {{"city", "Name of the city"}, {"days", "1 to 14"}};
//     };
//     BOOST_DESCRIBE_STRUCT(forecast_args, (), (city, days))
//
// Members may be bool, integers, float, double, std::string, thalweg::text, enums described by
// BOOST_DESCRIBE_ENUM (their names as strings), std::optional, std::vector, std::map<std::string, T> and
// described structs, in any nesting. Anything else stops the build with a sentence.
//
// A member may be left out by the caller if it has a default that can be seen: a scalar or an enum with an
// initializer, a string, vector or map that is not empty in `T{}`, and every std::optional. Nested structs
// are required. The default stands in the schema.
//
// A struct has a default constructor, and it is run a few times more often than one might think (to look at
// the defaults), so it should have no effects. No thread rule: everything here may be called from any thread.

#include <thalweg/protocol/detail/codec_of.hpp>
#include <thalweg/protocol/environment.hpp>

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

namespace thalweg {

namespace detail {
result<json::view> parse_arguments(const tool_call& call); ///< the view points into the call
error wrong_arguments(const tool_call& call, const error& why);
} // namespace detail

/// One sentence about one member, for the model: `static constexpr thalweg::doc docs[] = {{"city", "..."}};`
/// A `docs` that names a member which is not described stops the build.
struct doc {
    std::string_view member;
    std::string_view text;
};

/// The JSON Schema of T, a described struct, as JSON text: an object with its properties, the required ones,
/// and no others allowed. A struct that contains itself is written as a plain object where it returns.
template <class T>
[[nodiscard]] text schema() {
    static_assert(detail::check_described<T>());
    static_assert(detail::is_described_struct<T>, "thalweg: a schema is made from a described struct");
    std::string out = "{";
    detail::codec_of<T>.schema(out, nullptr);
    out += '}';
    return text(out);
}

/// Reads a T. Strict: unknown members, members given twice, missing ones, wrong types and numbers out of
/// range are errors, and the message is one sentence that starts with the place: `path[1].lat: expected a
/// number, got "north"`. What is lenient: an integer may be written 1.0, and null stands for an empty
/// std::optional.
///
/// `place` names the value itself and comes first in the message; may be empty.
/// Text that has no form in UTF-8 (an unpaired surrogate escape) arrives as U+FFFD.
template <class T>
[[nodiscard]] result<T> decode(json::view value, std::string_view place = {}) {
    static_assert(detail::check_described<T>());
    T target{};
    std::string fault;
    const detail::json_path at{nullptr, place};
    if (!detail::codec_of<T>.decode(&target, value, at, fault)) return detail::mismatch(std::move(fault));
    return target;
}

/// Appends the JSON form of `value`: everything decode() reads, plus what is in members that have a default.
/// Empty optionals of a struct are left out. A float or double that is not finite becomes null.
template <class T>
void encode(std::string& out, const T& value) {
    static_assert(detail::check_described<T>());
    detail::codec_of<T>.encode(out, &value);
}

template <class T>
result<T> tool_call::decode() const {
    auto arguments = detail::parse_arguments(*this);
    if (!arguments) return arguments.error();
    auto decoded = thalweg::decode<T>(arguments.value());
    if (!decoded) return detail::wrong_arguments(*this, decoded.error());
    return decoded;
}

} // namespace thalweg
