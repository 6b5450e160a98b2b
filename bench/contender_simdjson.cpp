// SPDX-License-Identifier: BSL-1.0

// The baseline of bench-decode: simdjson reads the same fields of the same bytes and keeps nothing. Lines are
// split by memchr, nothing is framed, checked or built.

#include "decoders.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <simdjson.h>

namespace thalweg::bench {
namespace {

namespace ondemand = simdjson::ondemand;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bench-decode: %s\n", what);
    std::abort();
}

// What was read, so that reading it cannot be skipped.
struct reading {
    std::uint64_t text_bytes = 0;
    std::uint64_t tokens = 0;
};

void add_string(ondemand::value value, std::uint64_t& bytes) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) bytes += text.size();
}

void read_calls(ondemand::value calls, reading& into) {
    ondemand::array list;
    if (calls.get_array().get(list) != simdjson::SUCCESS) return;
    for (auto call : list)
        for (auto field : call.get_object()) {
            const ondemand::raw_json_string key = field.key();
            if (key == "id")
                add_string(field.value(), into.text_bytes);
            else if (key == "function")
                for (auto part : field.value().get_object()) {
                    const ondemand::raw_json_string name = part.key();
                    if (name == "name" || name == "arguments") add_string(part.value(), into.text_bytes);
                }
        }
}

void read_delta(ondemand::object delta, reading& into) {
    for (auto field : delta) {
        const ondemand::raw_json_string key = field.key();
        if (key == "content" || key == "reasoning_content")
            add_string(field.value(), into.text_bytes);
        else if (key == "tool_calls")
            read_calls(field.value(), into);
    }
}

void read_choice(ondemand::object choice, reading& into) {
    for (auto field : choice) {
        const ondemand::raw_json_string key = field.key();
        ondemand::object delta;
        if (key == "delta") {
            if (field.value().get_object().get(delta) == simdjson::SUCCESS) read_delta(delta, into);
        } else if (key == "finish_reason") {
            add_string(field.value(), into.text_bytes);
        }
    }
}

void read_usage(ondemand::value usage, reading& into) {
    ondemand::object counts;
    if (usage.get_object().get(counts) != simdjson::SUCCESS) return;
    for (auto field : counts) {
        const ondemand::raw_json_string key = field.key();
        std::uint64_t count = 0;
        if (key == "prompt_tokens" || key == "completion_tokens" || key == "total_tokens") {
            if (field.value().get_uint64().get(count) == simdjson::SUCCESS) into.tokens += count;
        } else if (key == "prompt_tokens_details") {
            for (auto part : field.value().get_object()) {
                const ondemand::raw_json_string name = part.key();
                if (name == "cached_tokens" && part.value().get_uint64().get(count) == simdjson::SUCCESS)
                    into.tokens += count;
            }
        }
    }
}

void read_chunk(ondemand::object chunk, reading& into) {
    for (auto field : chunk) {
        const ondemand::raw_json_string key = field.key();
        if (key == "choices") {
            for (auto choice : field.value().get_array())
                read_choice(choice.get_object(), into);
        } else if (key == "usage") {
            read_usage(field.value(), into);
        }
    }
}

measurement run_simdjson(const chat_stream& input, std::uint64_t events) {
    ondemand::parser parser;
    reading into;
    std::uint64_t read = 0;
    const meter time;
    while (read < events) {
        const char* at = input.bytes.data();
        const char* const end = at + input.bytes.size();
        while (at != end) {
            const char* line_end = static_cast<const char*>(
                std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
            constexpr std::string_view field = "data: ";
            const std::string_view line(at, static_cast<std::size_t>(line_end - at));
            at = line_end + 1;
            if (!line.starts_with(field)) continue;
            ++read;
            const std::string_view data = line.substr(field.size());
            if (data == "[DONE]") continue;
            const simdjson::padded_string_view json(data.data(), data.size(),
                                                    data.size() + simdjson::SIMDJSON_PADDING);
            ondemand::document document;
            ondemand::object chunk;
            if (parser.iterate(json).get(document) != simdjson::SUCCESS ||
                document.get_object().get(chunk) != simdjson::SUCCESS)
                fail("simdjson refuses an event");
            read_chunk(chunk, into);
        }
    }
    const measurement taken = time.stop(read);
    if (into.text_bytes == 0) fail("simdjson read nothing");
    return taken;
}

} // namespace

contender simdjson_reads(const chat_stream& input) {
    return {.name = "simdjson reads the fields",
            .run = [&input](std::uint64_t events) { return run_simdjson(input, events); }};
}

std::string simdjson_version() {
    return SIMDJSON_STRINGIFY(SIMDJSON_VERSION);
}

} // namespace thalweg::bench
