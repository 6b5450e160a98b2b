// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/anthropic/event.hpp>

#include <thalweg/wire/json_reader.hpp>

namespace thalweg::providers::detail {

using wire::json_reader;

// Every reading function returns false when the grammar or a type is broken.
struct anthropic_reader::parts : json_reader {
    anthropic_event* into = nullptr;

    static bool read_number(value& from, std::optional<std::int64_t>& found) {
        if (type_of(from) == type::number) found = read_count(from);
        return true;
    }

    bool read_usage(value& from) {
        if (type_of(from) != type::object) return true;
        anthropic_usage& found = into->usage;
        return each_member(from, "usage", [&](key name, value& member) {
            if (name == "input_tokens") return read_number(member, found.input);
            if (name == "output_tokens") return read_number(member, found.output);
            if (name == "cache_read_input_tokens") return read_number(member, found.cache_read);
            if (name == "cache_creation_input_tokens") return read_number(member, found.cache_write);
            return true;
        });
    }

    bool read_message(value& from) {
        return each_member(from, "message", [&](key name, value& member) {
            wire::raw_string raw;
            if (name == "usage") return read_usage(member);
            if (name != "id") return true;
            if (!read_lenient(member, raw)) return false;
            into->message_id = raw.bytes;
            return true;
        });
    }

    bool read_input(value& from) {
        if (type_of(from) != type::object) return true;
        std::string_view json;
        if (!read_json(from, json)) return false;
        const bool is_empty = json.find_first_not_of(" \t\r\n", 1) == json.size() - 1;
        if (!is_empty) into->input = json;
        return true;
    }

    /// A content block, a delta of one, or the delta of the message.
    bool read_part(value& from, std::string_view what) {
        return each_member(from, what, [&](key name, value& member) {
            if (name == "type") return read_string(member, "type", into->part);
            if (name == "text") return read_string(member, "text", into->text);
            if (name == "thinking") return read_string(member, "thinking", into->text);
            if (name == "partial_json") return read_string(member, "partial_json", into->text);
            if (name == "signature") return read_string(member, "signature", into->signature);
            if (name == "data") return read_lenient(member, into->data);
            if (name == "id") return read_lenient(member, into->id);
            if (name == "name") return read_lenient(member, into->name);
            if (name == "input") return read_input(member);
            if (name == "stop_reason") return read_lenient(member, into->stop_reason);
            return true;
        });
    }

    bool read_root(object& root) {
        return each_member(root, [&](key name, value& member) {
            if (name == "type") return read_string(member, "type", into->type);
            if (name == "delta") return read_part(member, "delta");
            if (name == "content_block") return read_part(member, "content_block");
            if (name == "message" && type_of(member) == type::object) return read_message(member);
            if (name == "usage") return read_usage(member);
            if (name == "index" && type_of(member) == type::number) into->index = read_count(member);
            return true;
        });
    }
};

anthropic_reader::anthropic_reader() : parts_(std::make_unique<parts>()) {}
anthropic_reader::~anthropic_reader() = default;
anthropic_reader::anthropic_reader(anthropic_reader&&) noexcept = default;
anthropic_reader& anthropic_reader::operator=(anthropic_reader&&) noexcept = default;

wire::verdict anthropic_reader::read(std::string_view payload, anthropic_event& into) {
    into = {};
    parts_->into = &into;
    return parts_->read(payload, [this](json_reader::object& root) { return parts_->read_root(root); });
}

std::string_view anthropic_reader::complaint() const noexcept {
    return parts_->complaint();
}

} // namespace thalweg::providers::detail
