// SPDX-License-Identifier: BSL-1.0

#pragma once

// Reads the members of one JSON object of known form: asked by name, checked by type, and what nobody asked
// for is handed out as the bytes it came in (R-PRO-04).
//
// Reading goes on after the first mistake with empty values; the context keeps the first one. So the code
// that builds a message is a plain list of its members. For the sources of this library only.

#include <thalweg/protocol/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

/// What all readers of one text share: where offsets count from, and the first mistake.
class read_context {
public:
    explicit read_context(std::string_view whole) noexcept : whole_(whole) {}

    [[nodiscard]] bool failed() const noexcept { return !error_.empty(); }
    [[nodiscard]] std::string take_error() noexcept { return std::move(error_); }

    /// Keeps "expected WHAT at byte N (PATH)", unless there is an earlier mistake. `at` is part of the text.
    void reject(std::string_view at, std::string_view path, std::string_view expected);

private:
    std::string_view whole_;
    std::string error_;
};

class object_reader {
public:
    /// `path` is what errors call this object; empty for the root. A `value` that is no object is a mistake.
    object_reader(read_context& context, json::view value, std::string path);

    // Required members. What is missing or of another type is a mistake and reads as empty.
    [[nodiscard]] json::view required(std::string_view name, std::string_view expected);
    [[nodiscard]] text string(std::string_view name);
    [[nodiscard]] std::int64_t integer(std::string_view name);
    [[nodiscard]] object_reader object(std::string_view name);
    [[nodiscard]] std::vector<object_reader> objects(std::string_view name);
    [[nodiscard]] std::vector<text> strings(std::string_view name);
    template <class Enum>
    [[nodiscard]] Enum word(std::string_view name, std::span<const std::string_view> names) {
        return static_cast<Enum>(index(required(name, choice(names)), name, names));
    }

    // Optional members: absent and null are the same.
    [[nodiscard]] std::optional<json::view> optional(std::string_view name);
    [[nodiscard]] std::optional<text> optional_string(std::string_view name);
    [[nodiscard]] std::vector<text> optional_strings(std::string_view name);
    template <class Integer>
    [[nodiscard]] std::optional<Integer> optional_integer(std::string_view name) {
        const auto found = optional(name);
        if (!found) return std::nullopt;
        const auto value = found->as_int();
        if (value && static_cast<Integer>(*value) == *value) return static_cast<Integer>(*value);
        reject(*found, name, "an integer");
        return std::nullopt;
    }
    template <class Enum>
    [[nodiscard]] std::optional<Enum> optional_word(std::string_view name,
                                                    std::span<const std::string_view> names) {
        const auto found = optional(name);
        if (!found) return std::nullopt;
        return static_cast<Enum>(index(*found, name, names));
    }

    void reject(json::view at, std::string_view name, std::string_view expected);
    /// The same at the value of a member that was asked for before.
    void reject(std::string_view name, std::string_view expected);

    [[nodiscard]] bool failed() const noexcept { return context_->failed(); }
    [[nodiscard]] std::string_view raw() const noexcept { return value_.raw(); }

    /// What nobody has asked for: `,"key":value` each, in the order of the text; see parse_message().
    [[nodiscard]] text unknown_members() const;
    /// Remembers that `inner`, an object inside this one, has members that nobody has asked for.
    void note_unknown_in(const object_reader& inner);
    [[nodiscard]] bool has_nested_unknown() const noexcept { return nested_unknown_; }

private:
    struct entry {
        json::member member;
        bool known = false;
    };

    [[nodiscard]] entry* find(std::string_view name);
    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] std::vector<text> read_strings(json::view array, std::string_view name);
    [[nodiscard]] std::size_t index(json::view value, std::string_view name,
                                    std::span<const std::string_view> names);
    [[nodiscard]] static std::string choice(std::span<const std::string_view> names);

    read_context* context_;
    json::view value_;
    std::string path_;
    std::vector<entry> entries_;
    bool nested_unknown_ = false;
};

} // namespace thalweg::detail
