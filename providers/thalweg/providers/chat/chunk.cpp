// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat/chunk.hpp>

#include <thalweg/wire/json_reader.hpp>

#include <algorithm>

namespace thalweg::providers::detail {

using wire::json_reader;
using wire::verdict;
using json_type = json_reader::type;
using key_type = json_reader::key;
using json_object = json_reader::object;
using json_array = json_reader::array;
using json_value = json_reader::value;

void chat_chunk::clear() {
    pieces.clear();
    calls.clear();
    thinking_name = {};
    details = {};
    finish_reason.reset();
    error = {};
    is_error_object = false;
    has_choices = false;
    usage.reset();
}

// Every reading function returns false when the grammar or a type is broken; `complaint` tells which.
struct chunk_reader::parts : json_reader {
    chat_chunk* into = nullptr;
    message_member messages = message_member::skip;

    // Of the choice that is being read.
    std::vector<chunk_piece> message_pieces;
    std::vector<chunk_call> message_calls;
    std::optional<token_counts> choice_usage;

    bool add(std::vector<chunk_piece>& to, piece_kind kind, const wire::raw_string& raw) {
        if (!raw.bytes.empty()) to.push_back({kind, raw});
        return true;
    }

    // Content
    // ------------------------------------------------------------------------------------------------------

    /// An element of a content array, of any depth: its `text`, `refusal` or `thinking`.
    bool read_part(json_object& part, piece_kind kind, std::vector<chunk_piece>& to) {
        return each_member(part, [&](key_type key, json_value& value) {
            wire::raw_string raw;
            if (key == "text") return read_string(value, "text", raw) && add(to, kind, raw);
            if (key == "refusal")
                return read_string(value, "refusal", raw) && add(to, piece_kind::refusal, raw);
            if (key == "thinking") return read_content(value, "thinking", piece_kind::thinking, to);
            return true;
        });
    }

    /// A string, an array of parts and strings, one part, or null.
    bool read_content(json_value& value, std::string_view name, piece_kind kind,
                      std::vector<chunk_piece>& to) {
        const json_type type = type_of(value);
        if (type == json_type::array) {
            json_array parts;
            return read_array(value, parts) && each_element(parts, [&](json_value& part) {
                       return type_of(part) != json_type::array
                                  ? read_content(part, name, kind, to)
                                  : unexpected(name, "a text or an array of parts");
                   });
        }
        if (type == json_type::object) {
            json_object part;
            return read_object(value, part) && read_part(part, kind, to);
        }
        wire::raw_string raw;
        return read_string(value, name, raw) && add(to, kind, raw);
    }

    // Calls
    // --------------------------------------------------------------------------------------------------------

    bool read_function(json_value& value, chunk_call& call) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        json_object function;
        if (type != json_type::object) return unexpected("function", "an object");
        return read_object(value, function) && each_member(function, [&](key_type key, json_value& member) {
                   if (key == "name") return read_string(member, "name", call.name);
                   if (key != "arguments") return true;
                   call.arguments_are_json = type_of(member) == json_type::object;
                   if (call.arguments_are_json) return read_json(member, call.arguments.bytes);
                   return read_string(member, "arguments", call.arguments);
               });
    }

    bool read_call(json_value& value, chunk_call& call) {
        json_object object;
        if (type_of(value) != json_type::object) return unexpected("tool_calls", "an array of objects");
        return read_object(value, object) && each_member(object, [&](key_type key, json_value& member) {
                   if (key == "index") {
                       if (type_of(member) == json_type::number) call.index = read_count(member);
                       return true;
                   }
                   if (key == "id") return read_string(member, "id", call.id);
                   if (key == "function") return read_function(member, call);
                   return true;
               });
    }

    bool read_calls(json_value& value, bool whole, std::vector<chunk_call>& to) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        json_array calls;
        if (type != json_type::array) return unexpected("tool_calls", "an array");
        return read_array(value, calls) && each_element(calls, [&](json_value& each) {
                   if (type_of(each) == json_type::null) return true;
                   to.emplace_back().is_whole = whole;
                   return read_call(each, to.back());
               });
    }

    // Delta, message, choice
    // ---------------------------------------------------------------------------------------

    /// A `delta` or a `message`: the same members.
    bool read_delta(json_value& value, bool whole, std::vector<chunk_piece>& pieces,
                    std::vector<chunk_call>& calls) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        json_object delta;
        if (type != json_type::object) return unexpected("delta", "an object");
        std::array<wire::raw_string, thinking_names.size()> thinking;
        const std::size_t at = pieces.size();
        const bool good = read_object(value, delta) &&
                          each_member(delta, [&](key_type key, json_value& member) {
                              wire::raw_string raw;
                              if (key == "content")
                                  return read_content(member, "content", piece_kind::text, pieces);
                              if (key == "tool_calls") return read_calls(member, whole, calls);
                              for (std::size_t i = 0; i < thinking.size(); ++i)
                                  if (key.unsafe_is_equal(thinking_names[i]))
                                      return read_lenient(member, thinking[i]);
                              if (key == "reasoning_details") return read_details(member);
                              if (key == "refusal")
                                  return read_lenient(member, raw) && add(pieces, piece_kind::refusal, raw);
                              if (key == "function_call") {
                                  if (type_of(member) == json_type::null) return true;
                                  calls.emplace_back().is_whole = whole;
                                  return read_function(member, calls.back());
                              }
                              return true;
                          });
        if (good) add_thinking(thinking, at, pieces);
        return good;
    }

    /// Never two of them for one delta: servers repeat the same text under several names.
    void add_thinking(const std::array<wire::raw_string, thinking_names.size()>& found, std::size_t at,
                      std::vector<chunk_piece>& pieces) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i].bytes.empty()) continue;
            into->thinking_name = thinking_names[i];
            const chunk_piece piece{piece_kind::thinking, found[i]};
            pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), piece);
            return;
        }
    }

    bool read_details(json_value& value) {
        std::string_view json;
        if (type_of(value) != json_type::array) return true;
        if (!read_json(value, json)) return false;
        const bool is_empty = json.find_first_not_of(" \t\r\n", 1) == json.size() - 1;
        if (!is_empty) into->details = json;
        return true;
    }

    bool read_choice(json_value& value, std::int64_t position) {
        if (type_of(value) == json_type::null) return true;
        json_object choice;
        if (type_of(value) != json_type::object) return unexpected("choices", "an array of objects");
        const std::size_t pieces = into->pieces.size();
        const std::size_t calls = into->calls.size();
        std::int64_t index = position;
        wire::raw_string finish;
        message_pieces.clear();
        message_calls.clear();
        std::optional<token_counts> usage;
        const bool good = read_object(value, choice) &&
                          each_member(choice, [&](key_type key, json_value& member) {
                              if (key == "delta") return read_delta(member, false, into->pieces, into->calls);
                              if (key == "finish_reason") return read_lenient(member, finish);
                              if (key == "index") {
                                  if (type_of(member) == json_type::number) index = read_count(member);
                                  return true;
                              }
                              if (key == "message" && messages == message_member::read)
                                  return read_delta(member, true, message_pieces, message_calls);
                              if (key == "usage") return read_usage(member, usage);
                              return true;
                          });
        if (!good) return false;
        if (index != 0) {
            into->pieces.resize(pieces, chunk_piece{});
            into->calls.resize(calls);
            return true;
        }
        if (into->pieces.size() == pieces && into->calls.size() == calls) {
            into->pieces.insert(into->pieces.end(), message_pieces.begin(), message_pieces.end());
            into->calls.insert(into->calls.end(), message_calls.begin(), message_calls.end());
        }
        if (!finish.bytes.empty()) into->finish_reason = finish;
        if (usage) choice_usage = usage;
        return true;
    }

    bool read_choices(json_value& value) {
        into->has_choices = true;
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        json_array choices;
        if (type != json_type::array) return unexpected("choices", "an array");
        std::int64_t position = 0;
        return read_array(value, choices) &&
               each_element(choices, [&](json_value& choice) { return read_choice(choice, position++); });
    }

    // Usage
    // --------------------------------------------------------------------------------------------------------

    /// Anything but an object with counts says nothing.
    bool read_usage(json_value& value, std::optional<token_counts>& found) {
        if (type_of(value) != json_type::object) return true;
        std::int64_t prompt = 0;
        std::int64_t completion = 0;
        std::optional<std::int64_t> total;
        std::array<std::optional<std::int64_t>, 3> cached; // by place, the first that is there counts
        token_counts counts;
        bool any = false;
        const auto read = [&any](json_value& member, auto& to) {
            if (type_of(member) != json_type::number) return true;
            to = read_count(member);
            return any = true;
        };
        const auto read_prompt_details = [&](json_value& member) {
            json_object details;
            if (type_of(member) != json_type::object) return true;
            return read_object(member, details) &&
                   each_member(details, [&](key_type key, json_value& detail) {
                       if (key == "cached_tokens") return read(detail, cached[0]);
                       if (key == "cache_write_tokens") return read(detail, counts.cache_write);
                       return true;
                   });
        };
        json_object object;
        const bool good = read_object(value, object) &&
                          each_member(object, [&](key_type key, json_value& member) {
                              if (key == "prompt_tokens") return read(member, prompt);
                              if (key == "completion_tokens") return read(member, completion);
                              if (key == "total_tokens") return read(member, total);
                              if (key == "prompt_tokens_details") return read_prompt_details(member);
                              if (key == "prompt_cache_hit_tokens") return read(member, cached[1]);
                              if (key == "cached_tokens") return read(member, cached[2]);
                              return true;
                          });
        if (!good || !any) return good;
        counts.total = total.value_or(prompt + completion);
        counts.output = std::max<std::int64_t>(counts.total - prompt, 0);
        for (const auto& each : cached) {
            if (!each) continue;
            counts.cache_read = *each;
            break;
        }
        found = counts;
        return true;
    }

    // The whole
    // ----------------------------------------------------------------------------------------------------

    bool read_error(json_value& value) {
        const json_type type = type_of(value);
        std::string_view json;
        if (type == json_type::null || type == json_type::boolean) return true;
        if (type == json_type::number) return true;
        if (type == json_type::string) {
            wire::raw_string said;
            if (!read_string(value, "error", said)) return false;
            if (!said.bytes.empty())
                into->error = std::string_view(said.bytes.data() - 1, said.bytes.size() + 2);
            return true;
        }
        if (!read_json(value, json)) return false;
        into->error = json;
        return true;
    }

    bool read_groq(json_value& value, std::optional<token_counts>& usage) {
        if (type_of(value) != json_type::object) return true;
        json_object object;
        return read_object(value, object) && each_member(object, [&](key_type key, json_value& member) {
                   if (key == "usage") return read_usage(member, usage);
                   if (key == "error") return read_error(member);
                   return true;
               });
    }

    bool read_root(json_object& root) {
        std::optional<token_counts> usage;
        std::optional<token_counts> groq_usage;
        choice_usage.reset();
        const bool good = each_member(root, [&](key_type key, json_value& value) {
            if (key == "choices") return read_choices(value);
            if (key == "usage") return read_usage(value, usage);
            if (key == "error") return read_error(value);
            if (key == "x_groq") return read_groq(value, groq_usage);
            if (key == "object") {
                wire::raw_string what;
                if (!read_lenient(value, what)) return false;
                into->is_error_object = what.bytes == "error";
            }
            return true;
        });
        for (const auto& each : {usage, choice_usage, groq_usage})
            if (each) into->usage = each;
        return good;
    }
};

chunk_reader::chunk_reader() : parts_(std::make_unique<parts>()) {}
chunk_reader::~chunk_reader() = default;
chunk_reader::chunk_reader(chunk_reader&&) noexcept = default;
chunk_reader& chunk_reader::operator=(chunk_reader&&) noexcept = default;

verdict chunk_reader::read(std::string_view payload, message_member messages, chat_chunk& into) {
    into.clear();
    parts_->into = &into;
    parts_->messages = messages;
    return parts_->read(payload, [this](json_object& root) { return parts_->read_root(root); });
}

std::string_view chunk_reader::complaint() const noexcept {
    return parts_->complaint();
}

} // namespace thalweg::providers::detail
