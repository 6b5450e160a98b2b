// SPDX-License-Identifier: BSL-1.0

#pragma once

// One codec per type: the part of describe.hpp that is a template. See codec.hpp for the tables it fills.

#include <thalweg/protocol/detail/codec.hpp>

namespace thalweg::detail {

template <class T>
std::span<const field> fields_of();

template <class T>
struct codec_functions {
    static_assert(check_described<T>());

    static void schema(std::string& out, const open_schemas* open);
    static bool decode(void* target, json::view value, const json_path& at, std::string& fault);
    static void encode(std::string& out, const void* source);
    static bool absent(const void* source) {
        if constexpr (is_optional<T>) return !static_cast<const T*>(source)->has_value();
        return false;
    }
};

template <class T>
inline constexpr codec codec_of{&codec_functions<T>::schema, &codec_functions<T>::decode,
                                &codec_functions<T>::encode,
                                is_optional<T> ? &codec_functions<T>::absent : nullptr};

template <class E>
inline constexpr auto names_of = [] {
    using list = boost::describe::describe_enumerators<E>;
    std::array<const char*, boost::mp11::mp_size<list>::value> names{};
    std::size_t i = 0;
    boost::mp11::mp_for_each<list>([&](auto entry) { names[i++] = entry.name; });
    return names;
}();

template <class E>
inline constexpr auto values_of = [] {
    using list = boost::describe::describe_enumerators<E>;
    std::array<E, boost::mp11::mp_size<list>::value> values{};
    std::size_t i = 0;
    boost::mp11::mp_for_each<list>([&](auto entry) { values[i++] = entry.value; });
    return values;
}();

template <class T>
void codec_functions<T>::schema(std::string& out, const open_schemas* open) {
    if constexpr (std::is_same_v<T, bool>) {
        out += R"("type":"boolean")";
    } else if constexpr (std::is_integral_v<T>) {
        out += R"("type":"integer")";
    } else if constexpr (std::is_floating_point_v<T>) {
        out += R"("type":"number")";
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, text>) {
        out += R"("type":"string")";
    } else if constexpr (is_optional<T>) {
        codec_of<typename T::value_type>.schema(out, open);
    } else if constexpr (is_vector<T>) {
        out += R"("type":"array","items":{)";
        codec_of<typename T::value_type>.schema(out, open);
        out += '}';
    } else if constexpr (is_map<T>) {
        out += R"("type":"object","additionalProperties":{)";
        codec_of<typename T::mapped_type>.schema(out, open);
        out += '}';
    } else if constexpr (std::is_enum_v<T>) {
        schema_of_names(out, names_of<T>);
    } else {
        const T defaults{};
        schema_of_fields(out, fields_of<T>(), &defaults, open);
    }
}

template <class T>
bool codec_functions<T>::decode(void* target, json::view value, const json_path& at, std::string& fault) {
    T& result = *static_cast<T*>(target);
    if constexpr (std::is_same_v<T, bool>) {
        return read_bool(result, value, at, fault);
    } else if constexpr (std::is_integral_v<T>) {
        std::uint64_t bits = 0;
        if (!read_integer(bits, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                          static_cast<std::uint64_t>(std::numeric_limits<T>::max()), value, at, fault))
            return false;
        result = static_cast<T>(bits);
        return true;
    } else if constexpr (std::is_floating_point_v<T>) {
        double number = 0;
        if (!read_number(number, static_cast<double>(std::numeric_limits<T>::max()), value, at, fault))
            return false;
        result = static_cast<T>(number);
        return true;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return read_string(result, value, at, fault);
    } else if constexpr (std::is_same_v<T, text>) {
        std::string bytes;
        if (!read_string(bytes, value, at, fault)) return false;
        result = text(bytes);
        return true;
    } else if constexpr (is_optional<T>) {
        result.reset();
        if (value.is_null()) return true;
        typename T::value_type inner{};
        if (!codec_of<typename T::value_type>.decode(&inner, value, at, fault)) return false;
        result = std::move(inner);
        return true;
    } else if constexpr (is_vector<T>) {
        if (!value.is_array()) return expected("an array", value, at, fault);
        result.clear();
        std::size_t index = 0;
        for (json::view element : value.elements()) {
            typename T::value_type inner{};
            const json_path place{&at, {}, index++};
            if (!codec_of<typename T::value_type>.decode(&inner, element, place, fault)) return false;
            result.push_back(std::move(inner));
        }
        return true;
    } else if constexpr (is_map<T>) {
        if (!value.is_object()) return expected("an object", value, at, fault);
        result.clear();
        for (json::member entry : value.members()) {
            std::string key = entry.key.str();
            typename T::mapped_type inner{};
            const json_path place{&at, key};
            if (!codec_of<typename T::mapped_type>.decode(&inner, entry.value, place, fault)) return false;
            if (!result.emplace(key, std::move(inner)).second) return set_fault("given twice", place, fault);
        }
        return true;
    } else if constexpr (std::is_enum_v<T>) {
        std::size_t index = 0;
        if (!read_name(index, names_of<T>, value, at, fault)) return false;
        result = values_of<T>[index];
        return true;
    } else {
        return read_fields(target, fields_of<T>(), value, at, fault);
    }
}

template <class T>
void codec_functions<T>::encode(std::string& out, const void* source) {
    const T& value = *static_cast<const T*>(source);
    if constexpr (std::is_same_v<T, bool>) {
        write_bool(out, value);
    } else if constexpr (std::is_unsigned_v<T>) {
        write_unsigned(out, value);
    } else if constexpr (std::is_integral_v<T>) {
        json::append_int(out, value);
    } else if constexpr (std::is_same_v<T, float>) {
        write_float(out, value);
    } else if constexpr (std::is_same_v<T, double>) {
        json::append_double(out, value);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, text>) {
        json::append_string(out, value);
    } else if constexpr (is_optional<T>) {
        if (value)
            codec_of<typename T::value_type>.encode(out, &*value);
        else
            out += "null";
    } else if constexpr (is_vector<T>) {
        char separator = '[';
        for (const typename T::value_type& element : value) {
            out += std::exchange(separator, ',');
            codec_of<typename T::value_type>.encode(out, &element);
        }
        out += separator == '[' ? "[]" : "]";
    } else if constexpr (is_map<T>) {
        char separator = '{';
        for (const auto& [key, element] : value) {
            out += std::exchange(separator, ',');
            json::append_string(out, key);
            out += ':';
            codec_of<typename T::mapped_type>.encode(out, &element);
        }
        out += separator == '{' ? "{}" : "}";
    } else if constexpr (std::is_enum_v<T>) {
        for (std::size_t i = 0; i < values_of<T>.size(); ++i)
            if (values_of<T>[i] == value) return json::append_string(out, names_of<T>[i]);
        json::append_int(out, static_cast<std::int64_t>(value)); // a value without a name
    } else {
        write_fields(out, fields_of<T>(), source);
    }
}

template <class T>
std::string_view doc_of(std::string_view member) {
    if constexpr (requires { T::docs; })
        for (const auto& entry : T::docs)
            if (entry.member == member) return entry.text;
    return {};
}

/// Whether a call may leave the member out: it has an initializer that can be seen (see describe.hpp).
template <class M>
bool may_be_left_out(const M& in_defaults, bool initialized) {
    if constexpr (is_optional<M>)
        return true;
    else if constexpr (std::is_arithmetic_v<M> || std::is_enum_v<M>)
        return initialized;
    else if constexpr (is_described_struct<M>)
        return false;
    else
        return !in_defaults.empty();
}

template <class T>
std::span<const field> fields_of() {
    static const auto fields = [] {
        constexpr std::size_t count = boost::mp11::mp_size<members_of<T>>::value;
        std::array<field, count> list{};
        const auto initialized = initialized_members<T>();
        const T defaults{};
        std::size_t i = 0;
        boost::mp11::mp_for_each<members_of<T>>([&](auto member) {
            using value_type = std::remove_cvref_t<decltype(defaults.*member.pointer)>;
            list[i] = {
                member.name, doc_of<T>(member.name), &codec_of<value_type>,
                [](void* object) -> void* { return &(static_cast<T*>(object)->*decltype(member)::pointer); },
                !may_be_left_out(defaults.*member.pointer, initialized[i])};
            ++i;
        });
        return list;
    }();
    return fields;
}

} // namespace thalweg::detail
