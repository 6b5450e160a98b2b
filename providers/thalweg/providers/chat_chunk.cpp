// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat_chunk.hpp>

#include <thalweg/net/sse.hpp>

#include <algorithm>
#include <simdjson.h>

namespace thalweg::providers::detail {

namespace {

namespace ondemand = simdjson::ondemand;
using ondemand::json_type;
using key_type = ondemand::raw_json_string;

static_assert(sse_parser::padding >= simdjson::SIMDJSON_PADDING);
static_assert(sse_parser::padding >= sizeof(std::uint64_t));

constexpr std::size_t first_capacity = 4096;

} // namespace

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
struct chunk_reader::parts {
    ondemand::parser parser;
    std::string complaint;
    chat_chunk* into = nullptr;
    message_member messages = message_member::skip;

    // Of the choice that is being read.
    std::vector<chunk_piece> message_pieces;
    std::vector<chunk_call> message_calls;
    std::optional<token_counts> choice_usage;

    bool unexpected(std::string_view name, std::string_view wanted) {
        complaint.assign("\"").append(name).append("\" is not ").append(wanted);
        return false;
    }

    template <class Use>
    bool each_member(ondemand::object& object, Use use) {
        for (auto field : object) {
            if (field.error() != simdjson::SUCCESS) return false;
            auto& member = field.value_unsafe();
            // By reference: a copy of a value that was just made stalls the processor.
            if (!use(member.key(), member.value())) return false;
        }
        return true;
    }

    template <class Use>
    bool each_element(ondemand::array& array, Use use) {
        for (auto element : array) {
            if (element.error() != simdjson::SUCCESS || !use(element.value_unsafe())) return false;
        }
        return true;
    }

    static json_type type_of(ondemand::value& value) {
        json_type type = json_type::null;
        if (value.type().get(type) != simdjson::SUCCESS) return json_type::null;
        return type;
    }

    /// A string; null counts as an empty one.
    bool read_string(ondemand::value& value, std::string_view name, raw_string& found) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        key_type raw;
        if (type != json_type::string) return unexpected(name, "a string");
        if (value.get_raw_json_string().get(raw) != simdjson::SUCCESS) return false;
        found = string_at(raw.raw());
        return true;
    }

    /// The same for members that are of no consequence: any other type counts as absent.
    bool read_lenient(ondemand::value& value, raw_string& found) {
        return type_of(value) != json_type::string || read_string(value, {}, found);
    }

    static bool read_object(ondemand::value& value, ondemand::object& found) {
        return value.get_object().get(found) == simdjson::SUCCESS;
    }

    static bool read_array(ondemand::value& value, ondemand::array& found) {
        return value.get_array().get(found) == simdjson::SUCCESS;
    }

    static bool read_json(ondemand::value& value, std::string_view& found) {
        if (simdjson::to_json_string(value).get(found) != simdjson::SUCCESS) return false;
        while (!found.empty() && static_cast<unsigned char>(found.back()) <= ' ')
            found.remove_suffix(1);
        return true;
    }

    static std::int64_t read_count(ondemand::value& value) {
        std::int64_t count = 0;
        double number = 0;
        if (type_of(value) != json_type::number) return 0;
        if (value.get_int64().get(count) == simdjson::SUCCESS) return std::max<std::int64_t>(count, 0);
        if (value.get_double().get(number) != simdjson::SUCCESS || !(number > 0)) return 0;
        return static_cast<std::int64_t>(std::min(number, 9e15));
    }

    bool add(std::vector<chunk_piece>& to, piece_kind kind, const raw_string& raw) {
        if (!raw.bytes.empty()) to.push_back({kind, raw});
        return true;
    }

    // Content
    // ------------------------------------------------------------------------------------------------------

    /// An element of a content array, of any depth: its `text`, `refusal` or `thinking`.
    bool read_part(ondemand::object& part, piece_kind kind, std::vector<chunk_piece>& to) {
        return each_member(part, [&](key_type key, ondemand::value& value) {
            raw_string raw;
            if (key == "text") return read_string(value, "text", raw) && add(to, kind, raw);
            if (key == "refusal")
                return read_string(value, "refusal", raw) && add(to, piece_kind::refusal, raw);
            if (key == "thinking") return read_content(value, "thinking", piece_kind::thinking, to);
            return true;
        });
    }

    /// A string, an array of parts and strings, one part, or null.
    bool read_content(ondemand::value& value, std::string_view name, piece_kind kind,
                      std::vector<chunk_piece>& to) {
        const json_type type = type_of(value);
        if (type == json_type::array) {
            ondemand::array parts;
            return read_array(value, parts) && each_element(parts, [&](ondemand::value& part) {
                       return type_of(part) != json_type::array
                                  ? read_content(part, name, kind, to)
                                  : unexpected(name, "a text or an array of parts");
                   });
        }
        if (type == json_type::object) {
            ondemand::object part;
            return read_object(value, part) && read_part(part, kind, to);
        }
        raw_string raw;
        return read_string(value, name, raw) && add(to, kind, raw);
    }

    // Calls
    // --------------------------------------------------------------------------------------------------------

    bool read_function(ondemand::value& value, chunk_call& call) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        ondemand::object function;
        if (type != json_type::object) return unexpected("function", "an object");
        return read_object(value, function) &&
               each_member(function, [&](key_type key, ondemand::value& member) {
                   if (key == "name") return read_string(member, "name", call.name);
                   if (key != "arguments") return true;
                   call.arguments_are_json = type_of(member) == json_type::object;
                   if (call.arguments_are_json) return read_json(member, call.arguments.bytes);
                   return read_string(member, "arguments", call.arguments);
               });
    }

    bool read_call(ondemand::value& value, chunk_call& call) {
        ondemand::object object;
        if (type_of(value) != json_type::object) return unexpected("tool_calls", "an array of objects");
        return read_object(value, object) && each_member(object, [&](key_type key, ondemand::value& member) {
                   if (key == "index") {
                       if (type_of(member) == json_type::number) call.index = read_count(member);
                       return true;
                   }
                   if (key == "id") return read_string(member, "id", call.id);
                   if (key == "function") return read_function(member, call);
                   return true;
               });
    }

    bool read_calls(ondemand::value& value, bool whole, std::vector<chunk_call>& to) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        ondemand::array calls;
        if (type != json_type::array) return unexpected("tool_calls", "an array");
        return read_array(value, calls) && each_element(calls, [&](ondemand::value& each) {
                   if (type_of(each) == json_type::null) return true;
                   to.emplace_back().is_whole = whole;
                   return read_call(each, to.back());
               });
    }

    // Delta, message, choice
    // ---------------------------------------------------------------------------------------

    /// A `delta` or a `message`: the same members.
    bool read_delta(ondemand::value& value, bool whole, std::vector<chunk_piece>& pieces,
                    std::vector<chunk_call>& calls) {
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        ondemand::object delta;
        if (type != json_type::object) return unexpected("delta", "an object");
        std::array<raw_string, thinking_names.size()> thinking;
        const std::size_t at = pieces.size();
        const bool good = read_object(value, delta) &&
                          each_member(delta, [&](key_type key, ondemand::value& member) {
                              raw_string raw;
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
    void add_thinking(const std::array<raw_string, thinking_names.size()>& found, std::size_t at,
                      std::vector<chunk_piece>& pieces) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i].bytes.empty()) continue;
            into->thinking_name = thinking_names[i];
            const chunk_piece piece{piece_kind::thinking, found[i]};
            pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), piece);
            return;
        }
    }

    bool read_details(ondemand::value& value) {
        std::string_view json;
        if (type_of(value) != json_type::array) return true;
        if (!read_json(value, json)) return false;
        const bool is_empty = json.find_first_not_of(" \t\r\n", 1) == json.size() - 1;
        if (!is_empty) into->details = json;
        return true;
    }

    bool read_choice(ondemand::value& value, std::int64_t position) {
        if (type_of(value) == json_type::null) return true;
        ondemand::object choice;
        if (type_of(value) != json_type::object) return unexpected("choices", "an array of objects");
        const std::size_t pieces = into->pieces.size();
        const std::size_t calls = into->calls.size();
        std::int64_t index = position;
        raw_string finish;
        message_pieces.clear();
        message_calls.clear();
        std::optional<token_counts> usage;
        const bool good = read_object(value, choice) &&
                          each_member(choice, [&](key_type key, ondemand::value& member) {
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

    bool read_choices(ondemand::value& value) {
        into->has_choices = true;
        const json_type type = type_of(value);
        if (type == json_type::null) return true;
        ondemand::array choices;
        if (type != json_type::array) return unexpected("choices", "an array");
        std::int64_t position = 0;
        return read_array(value, choices) && each_element(choices, [&](ondemand::value& choice) {
                   return read_choice(choice, position++);
               });
    }

    // Usage
    // --------------------------------------------------------------------------------------------------------

    /// Anything but an object with counts says nothing.
    bool read_usage(ondemand::value& value, std::optional<token_counts>& found) {
        if (type_of(value) != json_type::object) return true;
        std::int64_t prompt = 0;
        std::int64_t completion = 0;
        std::optional<std::int64_t> total;
        std::array<std::optional<std::int64_t>, 3> cached; // by place, the first that is there counts
        token_counts counts;
        bool any = false;
        const auto read = [&any](ondemand::value& member, auto& to) {
            if (type_of(member) != json_type::number) return true;
            to = read_count(member);
            return any = true;
        };
        const auto read_prompt_details = [&](ondemand::value& member) {
            ondemand::object details;
            if (type_of(member) != json_type::object) return true;
            return read_object(member, details) &&
                   each_member(details, [&](key_type key, ondemand::value& detail) {
                       if (key == "cached_tokens") return read(detail, cached[0]);
                       if (key == "cache_write_tokens") return read(detail, counts.cache_write);
                       return true;
                   });
        };
        ondemand::object object;
        const bool good = read_object(value, object) &&
                          each_member(object, [&](key_type key, ondemand::value& member) {
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

    bool read_error(ondemand::value& value) {
        const json_type type = type_of(value);
        std::string_view json;
        if (type == json_type::null || type == json_type::boolean) return true;
        if (type == json_type::number) return true;
        if (type == json_type::string) {
            raw_string said;
            if (!read_string(value, "error", said)) return false;
            if (!said.bytes.empty())
                into->error = std::string_view(said.bytes.data() - 1, said.bytes.size() + 2);
            return true;
        }
        if (!read_json(value, json)) return false;
        into->error = json;
        return true;
    }

    bool read_groq(ondemand::value& value, std::optional<token_counts>& usage) {
        if (type_of(value) != json_type::object) return true;
        ondemand::object object;
        return read_object(value, object) && each_member(object, [&](key_type key, ondemand::value& member) {
                   if (key == "usage") return read_usage(member, usage);
                   if (key == "error") return read_error(member);
                   return true;
               });
    }

    bool read_root(ondemand::object& root) {
        std::optional<token_counts> usage;
        std::optional<token_counts> groq_usage;
        choice_usage.reset();
        const bool good = each_member(root, [&](key_type key, ondemand::value& value) {
            if (key == "choices") return read_choices(value);
            if (key == "usage") return read_usage(value, usage);
            if (key == "error") return read_error(value);
            if (key == "x_groq") return read_groq(value, groq_usage);
            if (key == "object") {
                raw_string what;
                if (!read_lenient(value, what)) return false;
                into->is_error_object = what.bytes == "error";
            }
            return true;
        });
        for (const auto& each : {usage, choice_usage, groq_usage})
            if (each) into->usage = each;
        return good;
    }

    verdict read(std::string_view payload) {
        if (parser.capacity() < payload.size() || parser.capacity() == 0) {
            const std::size_t grown = std::max({first_capacity, payload.size(), 2 * parser.capacity()});
            if (parser.allocate(grown) != simdjson::SUCCESS) return verdict::not_json;
        }
        const simdjson::padded_string_view json(payload.data(), payload.size(),
                                                payload.size() + sse_parser::padding);
        ondemand::document document;
        const simdjson::error_code failed = parser.iterate(json).get(document);
        if (failed == simdjson::UTF8_ERROR) return verdict::bad_utf8;
        ondemand::object root;
        if (failed != simdjson::SUCCESS || document.get_object().get(root) != simdjson::SUCCESS)
            return verdict::not_json;
        if (!read_root(root)) return complaint.empty() ? verdict::not_json : verdict::bad_shape;
        const bool ends_there = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
        return ends_there ? verdict::good : verdict::not_json;
    }
};

chunk_reader::chunk_reader() : parts_(std::make_unique<parts>()) {}
chunk_reader::~chunk_reader() = default;
chunk_reader::chunk_reader(chunk_reader&&) noexcept = default;
chunk_reader& chunk_reader::operator=(chunk_reader&&) noexcept = default;

chunk_reader::verdict chunk_reader::read(std::string_view payload, message_member messages,
                                         chat_chunk& into) {
    into.clear();
    parts_->complaint.clear();
    parts_->into = &into;
    parts_->messages = messages;
    return parts_->read(payload);
}

std::string_view chunk_reader::complaint() const noexcept {
    return parts_->complaint;
}

} // namespace thalweg::providers::detail
