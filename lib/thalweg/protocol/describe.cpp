// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/describe.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace thalweg::detail {

namespace {

void append_place(std::string& out, const json_path& at) {
    if (at.parent) append_place(out, *at.parent);
    if (!at.name.empty()) {
        if (!out.empty()) out += '.';
        out += at.name;
    } else if (at.parent) {
        out += '[';
        json::append_int(out, static_cast<std::int64_t>(at.index));
        out += ']';
    }
}

std::string known_members(std::span<const field> fields) {
    std::string out;
    for (const field& f : fields) {
        if (!out.empty()) out += ", ";
        out += f.name;
    }
    return out.empty() ? "there are none" : "known are " + out;
}

std::string_view kind_of(const field& f, std::string& buffer) {
    // The schema's own word, so that sentence and schema agree: `"type":"array","items":...` gives "array".
    f.type->schema(buffer, nullptr);
    constexpr std::string_view start = R"("type":")";
    std::string_view kind = std::string_view(buffer).substr(start.size());
    return kind.substr(0, kind.find('"'));
}

} // namespace

std::string shown(json::view got) {
    constexpr std::size_t longest = 40;
    if (got.is_object()) return "an object";
    if (got.is_array()) return "an array";
    std::string_view raw = got.raw();
    if (raw.size() <= longest) return std::string(raw);
    std::size_t cut = longest;
    while (cut > 0 && (static_cast<unsigned char>(raw[cut]) & 0xC0) == 0x80)
        --cut;
    return std::string(raw.substr(0, cut)) + "...";
}

bool set_fault(std::string_view sentence, const json_path& at, std::string& fault) {
    fault.clear();
    append_place(fault, at);
    if (!fault.empty()) fault += ": ";
    fault += sentence;
    return false;
}

bool expected(std::string_view what, json::view got, const json_path& at, std::string& fault) {
    return set_fault("expected " + std::string(what) + ", got " + shown(got), at, fault);
}

error mismatch(std::string fault) {
    return error(json::errc::shape, std::move(fault));
}

result<json::view> parse_arguments(const tool_call& call) {
    std::string_view arguments = call.arguments().view();
    if (arguments.find_first_not_of(" \t\r\n") == std::string_view::npos) arguments = "{}";
    auto parsed = json::parse(arguments);
    if (!parsed) return wrong_arguments(call, parsed.error());
    return parsed;
}

error wrong_arguments(const tool_call& call, const error& why) {
    return error(why.code(), "Invalid arguments for " + call.name().str() + ": " + why.message());
}

bool read_bool(bool& target, json::view value, const json_path& at, std::string& fault) {
    const auto read = value.as_bool();
    if (!read) return expected("true or false", value, at, fault);
    target = *read;
    return true;
}

bool read_integer(std::uint64_t& bits, std::int64_t low, std::uint64_t high, json::view value,
                  const json_path& at, std::string& fault) {
    if (value.type() != json::type::number) return expected("an integer", value, at, fault);
    std::string_view digits = value.raw();
    const bool negative = digits.front() == '-';
    if (negative) digits.remove_prefix(1);

    std::uint64_t magnitude = 0;
    auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
    if (stop != digits.data() + digits.size()) {     // 1.0, 1e3: an integer in another dress, or none
        constexpr double exact = 9007199254740992.0; // 2^53
        const auto number = value.as_double();
        if (!number || std::trunc(*number) != *number) return expected("an integer", value, at, fault);
        if (std::abs(*number) <= exact) {
            magnitude = static_cast<std::uint64_t>(std::abs(*number));
            code = {};
        } else {
            code = std::errc::result_out_of_range;
        }
    }
    const std::uint64_t lowest = std::uint64_t(0) - static_cast<std::uint64_t>(low);
    if (code != std::errc{} || magnitude > (negative ? lowest : high)) {
        std::string range = "an integer from ";
        json::append_int(range, low);
        range += " to ";
        write_unsigned(range, high);
        return expected(range, value, at, fault);
    }
    bits = negative ? std::uint64_t(0) - magnitude : magnitude;
    return true;
}

bool read_number(double& target, double limit, json::view value, const json_path& at, std::string& fault) {
    if (value.type() != json::type::number) return expected("a number", value, at, fault);
    const auto read = value.as_double();
    if (!read || !(std::abs(*read) <= limit)) return expected("a number of a smaller size", value, at, fault);
    target = *read;
    return true;
}

bool read_string(std::string& target, json::view value, const json_path& at, std::string& fault) {
    auto read = value.as_string();
    if (!read) return expected("a string", value, at, fault);
    target = std::move(*read);
    if (!utf8::is_valid(target)) target = utf8::make_valid(target); // an unpaired surrogate escape
    return true;
}

bool read_name(std::size_t& index, std::span<const char* const> names, json::view value, const json_path& at,
               std::string& fault) {
    if (const auto name = value.as_string()) {
        const auto found = std::find(names.begin(), names.end(), std::string_view(*name));
        if (found != names.end()) {
            index = static_cast<std::size_t>(found - names.begin());
            return true;
        }
    }
    std::string all = "one of ";
    for (const char* name : names) {
        if (name != names.front()) all += ", ";
        json::append_string(all, name);
    }
    return expected(all, value, at, fault);
}

bool read_fields(void* object, std::span<const field> fields, json::view value, const json_path& at,
                 std::string& fault) {
    if (!value.is_object()) return expected("an object", value, at, fault);
    std::vector<bool> given(fields.size());
    for (json::member entry : value.members()) {
        const std::string_view key = entry.key.view();
        const auto found = std::find_if(fields.begin(), fields.end(),
                                        [&](const field& f) { return f.name == key; });
        const json_path place{&at, key};
        if (found == fields.end()) return set_fault("unknown member; " + known_members(fields), place, fault);
        const auto index = static_cast<std::size_t>(found - fields.begin());
        if (given[index]) return set_fault("given twice", place, fault);
        given[index] = true;
        if (!found->type->decode(found->member(object), entry.value, place, fault)) return false;
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (given[i] || !fields[i].required) continue;
        std::string buffer;
        const json_path place{&at, fields[i].name};
        return set_fault("required, but missing (" + std::string(kind_of(fields[i], buffer)) + ")", place,
                         fault);
    }
    return true;
}

void write_bool(std::string& out, bool value) {
    out += value ? "true" : "false";
}

void write_unsigned(std::string& out, std::uint64_t value) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void write_float(std::string& out, float value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void write_fields(std::string& out, std::span<const field> fields, const void* object) {
    char separator = '{';
    for (const field& f : fields) {
        const void* member = f.member(const_cast<void*>(object)); // only the address is taken
        if (f.type->absent && f.type->absent(member)) continue;
        out += std::exchange(separator, ',');
        json::append_string(out, f.name);
        out += ':';
        f.type->encode(out, member);
    }
    out += separator == '{' ? "{}" : "}";
}

void schema_of_names(std::string& out, std::span<const char* const> names) {
    out += R"("type":"string","enum":[)";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) out += ',';
        json::append_string(out, names[i]);
    }
    out += ']';
}

void schema_of_fields(std::string& out, std::span<const field> fields, const void* defaults,
                      const open_schemas* open) {
    out += R"("type":"object")";
    for (const open_schemas* outer = open; outer; outer = outer->outer)
        if (outer->fields == fields.data()) return; // contains itself
    const open_schemas here{open, fields.data()};

    std::string required;
    char separator = '{';
    out += R"(,"properties":)";
    for (const field& f : fields) {
        out += std::exchange(separator, ',');
        json::append_string(out, f.name);
        out += ":{";
        f.type->schema(out, &here);
        if (!f.doc.empty()) {
            out += R"(,"description":)";
            json::append_string(out, f.doc);
        }
        const void* value = f.member(const_cast<void*>(defaults)); // only the address is taken
        if (!f.required && !(f.type->absent && f.type->absent(value))) {
            out += R"(,"default":)";
            f.type->encode(out, value);
        }
        out += '}';
        if (f.required) {
            if (!required.empty()) required += ',';
            json::append_string(required, f.name);
        }
    }
    out += separator == '{' ? "{}" : "}";
    out += R"(,"required":[)" + required + R"(],"additionalProperties":false)";
}

} // namespace thalweg::detail
