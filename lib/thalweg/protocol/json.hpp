// SPDX-License-Identifier: BSL-1.0

#pragma once

// Reading and writing JSON text without building a tree.
//
// parse() checks a whole text strictly once (RFC 8259; UTF-8; nothing behind the value) and gives a view of
// it: two pointers into the caller's bytes. Numbers nobody interprets and members nobody knows keep their
// exact bytes (H-15, R-PRO-04), and every error names a byte offset and what was expected there.
//
// A view is valid as long as the bytes it was parsed from. No thread rule; nothing is shared.
// Bulk decoding of provider streams is simdjson's work, not this header's.

#include <thalweg/protocol/result.hpp>
#include <thalweg/protocol/text.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace thalweg::json {

enum class type : std::uint8_t { null, boolean, number, string, array, object };

/// Where a text stops being JSON.
struct syntax_error {
    std::size_t offset = 0;    ///< bytes from the start of the text
    std::string_view expected; ///< static text: "',' or '}'", "a string", "end of input", …
    bool at_end = false;       ///< the input ran out before the value was complete (D-09: "ends early")
};

inline constexpr int max_depth = 256; ///< nesting beyond this is an error, not a stack overflow

/// Checks one whole JSON value with white space around it. Empty optional = valid.
/// Unpaired surrogate escapes are valid (R-PRO-01); raw bytes that are not UTF-8 are not.
[[nodiscard]] std::optional<syntax_error> check(std::string_view text) noexcept;

struct member;
class object_range;
class array_range;

/// A value inside a checked text. Wrong-typed access gives the empty optional, never undefined behavior.
class view {
public:
    view() noexcept = default; ///< a null value

    [[nodiscard]] json::type type() const noexcept;
    [[nodiscard]] bool is_object() const noexcept { return type() == type::object; }
    [[nodiscard]] bool is_array() const noexcept { return type() == type::array; }
    [[nodiscard]] bool is_string() const noexcept { return type() == type::string; }
    [[nodiscard]] bool is_null() const noexcept { return type() == type::null; }

    /// The exact bytes of the value, without white space around it. Part of the text that was parsed, so
    /// `raw().data() - text.data()` is its byte offset.
    [[nodiscard]] std::string_view raw() const noexcept;

    [[nodiscard]] std::optional<bool> as_bool() const noexcept;
    /// Integers only: 1.0 and 1e3 are not, out of range is not.
    [[nodiscard]] std::optional<std::int64_t> as_int() const noexcept;
    /// Any number that a double can hold without becoming infinite.
    [[nodiscard]] std::optional<double> as_double() const noexcept;
    /// Unescaped; unpaired surrogates become their three-byte form, which append_string() writes back as
    /// escapes.
    [[nodiscard]] std::optional<std::string> as_string() const;
    [[nodiscard]] std::optional<thalweg::text> as_text() const;

    /// The first member of that name, or the empty optional (also when this is no object). Walks the members.
    [[nodiscard]] std::optional<view> find(std::string_view key) const;

    [[nodiscard]] object_range members() const noexcept; ///< empty unless an object
    [[nodiscard]] array_range elements() const noexcept; ///< empty unless an array

private:
    friend class object_range;
    friend class array_range;
    friend result<view> parse(std::string_view text);
    view(const char* begin, const char* end) noexcept : begin_(begin), end_(end) {}

    const char* begin_ = nullptr;
    const char* end_ = nullptr;
};
static_assert(sizeof(view) == 16);

/// One member of an object, as iteration yields it.
struct member {
    text key;                 ///< unescaped
    std::string_view key_raw; ///< as received, with its quotes; part of the parsed text
    view value;
};

/// The members of an object in the order of the text, doubled names included. Each step walks over one value.
class object_range {
public:
    class iterator {
    public:
        using value_type = member;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        [[nodiscard]] member operator*() const;
        iterator& operator++() noexcept;
        void operator++(int) noexcept { ++*this; }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept {
            return a.at_ == nullptr;
        }

    private:
        friend class object_range;
        explicit iterator(const char* at) noexcept : at_(at) {}
        const char* at_ = nullptr; // the key's first quote
    };

    [[nodiscard]] iterator begin() const noexcept { return iterator(first_); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class view;
    explicit object_range(const char* first) noexcept : first_(first) {}
    const char* first_; // nullptr if there is no member
};

/// The elements of an array.
class array_range {
public:
    class iterator {
    public:
        using value_type = view;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        [[nodiscard]] view operator*() const noexcept;
        iterator& operator++() noexcept;
        void operator++(int) noexcept { ++*this; }
        friend bool operator==(const iterator& a, std::default_sentinel_t) noexcept {
            return a.at_ == nullptr;
        }

    private:
        friend class array_range;
        explicit iterator(const char* at) noexcept : at_(at) {}
        const char* at_ = nullptr;
    };

    [[nodiscard]] iterator begin() const noexcept { return iterator(first_); }
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    friend class view;
    explicit array_range(const char* first) noexcept : first_(first) {}
    const char* first_;
};

/// Strictly parses one whole text. The error's sentence is "expected X at byte N", with "the input ended
/// early:" in front if it did; its code is errc::syntax.
[[nodiscard]] result<view> parse(std::string_view text);

enum class errc {
    syntax = 1, ///< not JSON
    shape,      ///< JSON, but not of the form that was asked for
};
[[nodiscard]] std::error_code make_error_code(errc e) noexcept;

// Writing. All append to `out` and never throw but for memory.

/// Quoted and escaped per R-PRO-01. Bytes that are neither UTF-8 nor a surrogate's three-byte form become
/// U+FFFD, so that what is written is always valid.
void append_string(std::string& out, std::string_view utf8);
void append_int(std::string& out, std::int64_t value);
void append_double(std::string& out, double value); ///< shortest form; null for what JSON cannot say
/// Checked JSON text without the white space between its tokens.
void append_compact(std::string& out, std::string_view checked);

} // namespace thalweg::json

template <>
struct std::is_error_code_enum<thalweg::json::errc> : std::true_type {};
