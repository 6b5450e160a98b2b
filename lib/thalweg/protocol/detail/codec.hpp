// SPDX-License-Identifier: BSL-1.0

#pragma once

// The machinery behind describe.hpp: how one C++ type is described, read and written.
//
// Everything that does not depend on the type lies in describe.cpp and works on tables: a type contributes a
// `codec` (three functions on untyped memory), a described struct a list of `field`s. One table per type,
// built once; nothing here is for users. No thread rule: tables are constant once made.

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/result.hpp>
#include <thalweg/protocol/text.hpp>

#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <boost/mp11/algorithm.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

struct doc;

namespace detail {

/// Where a value stands, from the inside out; lives on the stack of the decoder.
struct json_path {
    const json_path* parent = nullptr;
    std::string_view name = {}; ///< a member; empty = `index` counts
    std::size_t index = 0;
};

/// A chain of the structs whose schema is being written, so that a type that contains itself comes to an end.
struct open_schemas {
    const open_schemas* outer;
    const void* fields;
};

/// One type. `schema` appends the members of its schema without braces, so that a description can follow.
struct codec {
    void (*schema)(std::string& out, const open_schemas* open);
    bool (*decode)(void* target, json::view value, const json_path& at,
                   std::string& fault); ///< false: see fault
    void (*encode)(std::string& out, const void* source);
    bool (*absent)(const void* source); ///< null = the value is always there
};

/// One described member of a struct.
struct field {
    std::string_view name;
    std::string_view doc;
    const codec* type;
    void* (*member)(void* object);
    bool required;
};

// describe.cpp. Each `read_` returns false and words the fault if the value does not fit.
bool expected(std::string_view what, json::view got, const json_path& at, std::string& fault);
bool read_bool(bool& target, json::view value, const json_path& at, std::string& fault);
bool read_integer(std::uint64_t& bits, std::int64_t low, std::uint64_t high, json::view value,
                  const json_path& at, std::string& fault);
bool read_number(double& target, double limit, json::view value, const json_path& at, std::string& fault);
bool read_string(std::string& target, json::view value, const json_path& at, std::string& fault);
bool read_name(std::size_t& index, std::span<const char* const> names, json::view value, const json_path& at,
               std::string& fault);
bool read_fields(void* object, std::span<const field> fields, json::view value, const json_path& at,
                 std::string& fault);
void write_bool(std::string& out, bool value);
void write_unsigned(std::string& out, std::uint64_t value);
void write_float(std::string& out, float value);
void write_fields(std::string& out, std::span<const field> fields, const void* object);
void schema_of_names(std::string& out, std::span<const char* const> names);
void schema_of_fields(std::string& out, std::span<const field> fields, const void* defaults,
                      const open_schemas* open);
bool set_fault(std::string_view sentence, const json_path& at, std::string& fault); ///< always false
error mismatch(std::string fault);
/// A value for a sentence, on one line: containers by name, everything else as written, cut short at a
/// character.
std::string shown(json::view got);

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T, class A>
inline constexpr bool is_vector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T, class C, class A>
inline constexpr bool is_map<std::map<std::string, T, C, A>> = true;

/// char is a letter to some and a number to others, so it is neither here; long double has bytes nobody sets.
template <class T>
inline constexpr bool is_number = (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                   !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
                                   !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> &&
                                   !std::is_same_v<T, char32_t>) ||
                                  std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
inline constexpr bool is_built_in = is_number<T> || std::is_same_v<T, bool> ||
                                    std::is_same_v<T, std::string> || std::is_same_v<T, text> ||
                                    is_optional<T> || is_vector<T> || is_map<T>;

template <class T>
inline constexpr bool is_described_enum = [] {
    if constexpr (std::is_enum_v<T>) return boost::describe::has_describe_enumerators<T>::value;
    return false;
}();
template <class T>
inline constexpr bool is_described_struct = [] {
    if constexpr (std::is_class_v<T> && !is_built_in<T>)
        return boost::describe::has_describe_members<T>::value;
    return false;
}();

template <class T>
using members_of = boost::describe::describe_members<T, boost::describe::mod_public |
                                                            boost::describe::mod_inherited>;

template <class T>
consteval bool docs_are_known() {
    if constexpr (requires { T::docs; }) {
        for (const auto& entry : T::docs) {
            bool known = false;
            boost::mp11::mp_for_each<members_of<T>>(
                [&](auto member) { known = known || entry.member == member.name; });
            if (!known) return false;
        }
    }
    return true;
}

/// Whether T can be described, read and written; a "no" stops the build with a sentence.
template <class T>
consteval bool check_described() {
    if constexpr (std::is_enum_v<T>) {
        static_assert(is_described_enum<T>,
                      "thalweg: this enum is not described; write "
                      "BOOST_DESCRIBE_ENUM(type, value, ...) behind it, in its namespace");
        return is_described_enum<T>;
    } else if constexpr (std::is_class_v<T> && !is_built_in<T>) {
        constexpr bool described = is_described_struct<T>;
        static_assert(described,
                      "thalweg: this struct is not described; write "
                      "BOOST_DESCRIBE_STRUCT(type, (), (member, ...)) behind it, in its namespace");
        if constexpr (described) {
            constexpr bool made = std::is_default_constructible_v<T>;
            static_assert(made,
                          "thalweg: a described struct needs a default constructor; decoding starts from it");
            static_assert(docs_are_known<T>(),
                          "thalweg: `docs` names a member that BOOST_DESCRIBE_STRUCT does not list");
            return made;
        }
        return false;
    } else {
        static_assert(
            is_built_in<T>,
            "thalweg: this type has no form in JSON; use bool, integers, float, double, std::string, "
            "thalweg::text, std::optional, std::vector, std::map<std::string, T>, described enums and "
            "structs");
        return is_built_in<T>;
    }
}

/// Which members have an initializer, in the order of members_of<T>; means something for scalars and enums
/// only.
///
/// No trait tells this, so it is watched: over memory filled with one pattern, then with another, T is
/// default-initialized; a scalar that nobody set keeps the pattern and therefore differs. Out of line and
/// between barriers, because a compiler may otherwise drop the filling as dead.
template <class T>
[[gnu::noinline]] auto initialized_members() {
    constexpr std::size_t count = boost::mp11::mp_size<members_of<T>>::value;
    std::array<bool, count> initialized{};
    alignas(T) unsigned char storage[sizeof(T)];
    unsigned char seen[2][sizeof(T)];
    std::array<std::pair<std::size_t, std::size_t>, count> places{}; // offset and size
    for (int round = 0; round < 2; ++round) {
        std::memset(storage, round == 0 ? 0x5A : 0xA5, sizeof storage);
        asm volatile("" : : "r"(storage) : "memory");
        T* made = ::new (static_cast<void*>(storage)) T;
        asm volatile("" : : "r"(storage), "r"(made) : "memory");
        std::memcpy(seen[round], storage, sizeof storage);
        std::size_t i = 0;
        boost::mp11::mp_for_each<members_of<T>>([&](auto member) {
            auto& value = made->*member.pointer;
            places[i++] = {static_cast<std::size_t>(reinterpret_cast<unsigned char*>(&value) - storage),
                           sizeof value};
        });
        made->~T();
    }
    for (std::size_t i = 0; i < count; ++i)
        initialized[i] = std::memcmp(seen[0] + places[i].first, seen[1] + places[i].first,
                                     places[i].second) == 0;
    return initialized;
}

} // namespace detail
} // namespace thalweg
