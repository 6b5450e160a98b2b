// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/object_reader.hpp>
#include <thalweg/providers/detail/exchange.hpp>

#include <array>
#include <span>

namespace thalweg::providers::detail {

using thalweg::detail::object_reader;
using thalweg::detail::read_context;
using type = delta::type;

namespace {

constexpr std::array<std::string_view, 6> statuses{"completed", "aborted", "timeout",
                                                   "malformed", "failed",  "auth"};
constexpr std::array<std::string_view, 6> reasons{"end", "tool_use", "length", "filtered", "pause", "other"};
constexpr std::array<std::string_view, 2> blocks{"text", "thinking"};
constexpr std::string_view expected_text = "a string or an object with \"hex\"";

std::optional<int> digit_of(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return std::nullopt;
}

std::optional<text> bytes_of(std::string_view hex) {
    if (hex.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t at = 0; at < hex.size(); at += 2) {
        const auto high = digit_of(hex[at]);
        const auto low = digit_of(hex[at + 1]);
        if (!high || !low) return std::nullopt;
        bytes += static_cast<char>(*high * 16 + *low);
    }
    return text(bytes);
}

std::optional<text> text_in(object_reader& from, std::string_view name) {
    const auto found = from.optional(name);
    if (!found) return std::nullopt;
    auto read = found->as_text();
    if (const auto hex = found->find("hex")) {
        const auto digits = hex->as_text();
        if (digits) read = bytes_of(*digits);
    }
    if (!read) from.reject(*found, name, expected_text);
    return read;
}

bool flag_in(object_reader& from, std::string_view name) {
    const auto found = from.optional(name);
    if (!found) return false;
    const auto value = found->as_bool();
    if (!value) from.reject(*found, name, "true or false");
    return value.value_or(false);
}

std::optional<std::chrono::milliseconds> time_in(object_reader& from, std::string_view name) {
    const auto read = from.optional_integer<std::int64_t>(name);
    if (!read) return std::nullopt;
    return std::chrono::milliseconds(*read);
}

token_counts counts_in(object_reader counts) {
    token_counts read;
    read.cache_read = counts.integer("cache_read");
    read.cache_write = counts.integer("cache_write");
    read.output = counts.integer("output");
    read.total = counts.integer("total");
    return read;
}

message message_in(object_reader& from, json::view found) {
    parse_options options;
    options.require_timestamp = false;
    options.facts = true;
    auto read = parse_message(found.raw(), options);
    if (read) return std::move(read.value());
    from.reject(found, "whole", "a message (" + read.error().message() + ")");
    return {};
}

kept_delta delta_in(object_reader from) {
    kept_delta read;
    read.at = time_in(from, "at");
    constexpr std::pair<std::string_view, type> texts[] = {{"text", type::text},
                                                           {"thinking", type::thinking},
                                                           {"arguments", type::arguments},
                                                           {"fidelity", type::fidelity},
                                                           {"call", type::call}};
    for (const auto& [name, kind] : texts) {
        auto content = text_in(from, name);
        if (!content) continue;
        read.type = kind;
        read.content = std::move(*content);
        if (kind == type::call) read.id = text_in(from, "id").value_or(text());
        return read;
    }
    if (const auto block = from.optional_word<std::size_t>("begin", blocks)) {
        read.type = *block == 0 ? type::begin_text : type::begin_thinking;
    } else if (from.optional("usage")) {
        read.type = type::usage;
        read.counts = counts_in(from.object("usage"));
    } else if (const auto whole = from.optional("whole")) {
        read.type = type::whole;
        read.whole = message_in(from, *whole);
    } else if (!flag_in(from, "end")) {
        from.reject("text", "one of begin, text, thinking, call, arguments, end, fidelity, usage, whole");
    }
    return read;
}

model_outcome outcome_in(object_reader from) {
    const auto status = from.word<std::size_t>("status", statuses);
    const auto why = from.optional_word<finish>("why", reasons).value_or(finish::end);
    const std::string words = text_in(from, "message").value_or(text()).str();
    const text raw = text_in(from, "stop_reason").value_or(text());
    auto read = status == 0   ? model_outcome::completed(why)
                : status == 1 ? model_outcome::aborted()
                : status == 2 ? model_outcome::timeout(words)
                : status == 3 ? model_outcome::malformed(words)
                : status == 4 ? model_outcome::failed(words)
                              : model_outcome::auth(words);
    if (flag_in(from, "permanent")) read = std::move(read).permanent();
    if (flag_in(from, "context_too_long")) read = std::move(read).context_too_long();
    if (const auto wait = time_in(from, "wait_ms")) read = std::move(read).with_wait(*wait);
    if (from.optional("usage")) read = std::move(read).with_usage(counts_in(from.object("usage")));
    return std::move(read).with_raw_stop_reason(raw);
}

} // namespace

result<exchange> parse_exchange(std::string_view line) {
    BOOST_OUTCOME_TRY(const json::view whole, json::parse(line));
    read_context context(line);
    object_reader from(context, whole, {});
    exchange read;
    if (from.integer("exchange") != 1)
        from.reject("exchange", "1, the only version of a recording that this library knows,");
    read.request = from.object("request").raw();
    for (object_reader& each : from.objects("answer"))
        read.answer.push_back(delta_in(std::move(each)));
    object_reader outcome = from.object("outcome");
    read.ended_at = time_in(outcome, "at");
    read.outcome = outcome_in(std::move(outcome));
    if (context.failed()) return failure(json::errc::shape, context.take_error());
    return read;
}

} // namespace thalweg::providers::detail
