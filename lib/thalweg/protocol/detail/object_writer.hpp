// SPDX-License-Identifier: BSL-1.0

#pragma once

// Writes the members of one JSON object in the order of the calls. For the sources of this library only.

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// One JSON object in the making. Keys are our own and need no escapes.
class object_writer {
public:
    explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }

    /// Goes on with an object that has members already. Who wrote them closes it.
    struct in_the_middle_t {};
    static constexpr in_the_middle_t in_the_middle{};
    object_writer(std::string& out, in_the_middle_t) noexcept : out_(out), first_(false) {}

    object_writer(const object_writer&) = delete;
    object_writer& operator=(const object_writer&) = delete;

    void close() { out_ += '}'; }

    std::string& key(std::string_view name) {
        put_key(name, 0);
        return out_;
    }

    void string(std::string_view name, std::string_view value) { json::append_string(key(name), value); }
    // A word of the protocol: known to need no escapes.
    void word(std::string_view name, std::string_view value) {
        char* at = put_key(name, value.size() + 2);
        *at++ = '"';
        at = std::copy(value.begin(), value.end(), at);
        *at = '"';
    }
    void number(std::string_view name, std::int64_t value) { json::append_int(key(name), value); }
    // JSON as received, kept byte for byte; but a message is one line (R-PRO-01).
    void raw(std::string_view name, std::string_view value) {
        auto& out = key(name);
        if (value.find_first_of("\r\n") == std::string_view::npos)
            out += value;
        else
            json::append_compact(out, value);
    }

    void optional(std::string_view name, const std::optional<text>& value) {
        if (value) string(name, *value);
    }
    template <class Integer>
    void optional(std::string_view name, const std::optional<Integer>& value) {
        if (value) number(name, *value);
    }

    void strings(std::string_view name, std::span<const text> values) {
        auto& out = key(name);
        char separator = '[';
        for (const text& value : values) {
            out += separator;
            json::append_string(out, value);
            separator = ',';
        }
        if (values.empty()) out += '[';
        out += ']';
    }

    // Members as received, each with a comma in front.
    void received(std::string_view members) {
        if (members.empty()) return;
        out_ += first_ ? members.substr(1) : members;
        first_ = false;
    }

private:
    // Appends the separator, the key and room for `more` bytes in one step; returns where that room begins.
    char* put_key(std::string_view name, std::size_t more) {
        const std::size_t old_size = out_.size();
        out_.resize(old_size + name.size() + (first_ ? 3 : 4) + more);
        char* at = out_.data() + old_size;
        if (!first_) *at++ = ',';
        first_ = false;
        *at++ = '"';
        at = std::copy(name.begin(), name.end(), at);
        *at++ = '"';
        *at++ = ':';
        return at;
    }

    std::string& out_;
    bool first_ = true;
};

} // namespace thalweg::detail
