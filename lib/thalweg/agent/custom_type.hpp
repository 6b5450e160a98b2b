// SPDX-License-Identifier: BSL-1.0

#pragma once

// A program's own message types in an agent's transcript (R-EVT-89).
//
//     struct note {
//         static constexpr std::string_view role = "note";
//         std::string body;
//     };
//     BOOST_DESCRIBE_STRUCT(note, (), (body))
//
// Such a message is stored, shown and saved like every other: in JSON it is an object with its role and its
// described members. What the model sees of it is for the conversion at the model boundary to say.
//
// No thread rule: everything here may be called from any thread.

#include <thalweg/protocol/describe.hpp>

#include <boost/mp11/algorithm.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace thalweg {

/// What readers know about one of the program's types: the table entry behind custom_types().
struct custom_type {
    std::string_view role;
    /// Reads the type's members from an object; members it does not know are skipped.
    result<std::shared_ptr<const void>> (*read)(json::view object);
};

namespace detail {

template <class T>
using described_members = boost::describe::describe_members<T, boost::describe::mod_any_access>;

/// The object with only those of its members that `is_known`.
[[nodiscard]] std::string known_members(json::view object, bool (*is_known)(std::string_view));

template <class T>
constexpr bool has_member(std::string_view name) {
    bool found = false;
    boost::mp11::mp_for_each<described_members<T>>(
        [&](auto member) { found = found || member.name == name; });
    return found;
}

template <class T>
consteval bool check_custom() {
    constexpr bool has_role = requires { std::string_view(T::role); };
    static_assert(has_role, "thalweg: a custom message needs `static constexpr std::string_view role = "
                            "\"…\";`");
    static_assert(is_described_struct<T>,
                  "thalweg: a custom message is a struct described by BOOST_DESCRIBE_STRUCT");
    if constexpr (has_role && is_described_struct<T>) {
        static_assert(!has_member<T>("role") && !has_member<T>("timestamp"),
                      "thalweg: `role` and `timestamp` are members of every message; call yours otherwise");
        constexpr std::string_view role = T::role;
        static_assert(!role.empty() && role != "user" && role != "assistant" && role != "toolResult",
                      "thalweg: the role of a custom message may not be one of the agent's own");
    }
    return true;
}

template <class T>
result<std::shared_ptr<const void>> read_custom(json::view object) {
    const std::string known = known_members(object,
                                            [](std::string_view name) { return has_member<T>(name); });
    const auto parsed = json::parse(known);
    if (!parsed) return parsed.error();
    auto decoded = thalweg::decode<T>(parsed.value());
    if (!decoded) return decoded.error();
    return std::shared_ptr<const void>(std::make_shared<const T>(std::move(decoded.value())));
}

} // namespace detail

/// The entry of T; its address tells types apart.
template <class T>
inline constexpr custom_type custom_type_of{
    detail::check_custom<T>() ? std::string_view(T::role) : std::string_view(), &detail::read_custom<T>};

/// The table of the types a program uses: what readers and the agent view take.
template <class... Custom>
[[nodiscard]] std::span<const custom_type* const> custom_types() noexcept {
    static constexpr std::array<const custom_type*, sizeof...(Custom)> table{&custom_type_of<Custom>...};
    return table;
}

} // namespace thalweg
