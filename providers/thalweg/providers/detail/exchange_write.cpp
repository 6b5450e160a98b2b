// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/object_writer.hpp>
#include <thalweg/protocol/utf8.hpp>
#include <thalweg/providers/detail/exchange.hpp>

#include <algorithm>
#include <span>

namespace thalweg::providers::detail {

using thalweg::detail::object_writer;
using type = delta::type;

kept_delta kept_delta::of(delta& seen) {
    kept_delta kept;
    kept.type = seen.kind();
    kept.content = seen.content();
    kept.id = seen.id();
    if (seen.kind() == type::usage) kept.counts = seen.counts();
    if (seen.kind() == type::whole) kept.whole = seen.wrapped();
    return kept;
}

delta kept_delta::play() const {
    switch (type) {
    case type::begin_text: return delta::begin_text();
    case type::begin_thinking: return delta::begin_thinking();
    case type::text: return delta::text(content);
    case type::thinking: return delta::thinking(content);
    case type::call: return delta::call(id, content);
    case type::arguments: return delta::arguments(content);
    case type::end: return delta::end();
    case type::fidelity: return delta::fidelity(content);
    case type::usage: return delta::usage(counts);
    case type::whole: return delta::whole(whole);
    }
    return delta::end();
}

namespace {

bool is_piece(type t) noexcept {
    return t == type::text || t == type::thinking || t == type::arguments;
}
/// What may stand between two pieces of one text.
bool is_aside(type t) noexcept {
    return t == type::usage || t == type::fidelity;
}

/// Cleans the pieces of one text as if they were one; the mark stands in the piece where the secret begins.
void redact_pieces(std::span<kept_delta* const> pieces, const redactor& secrets) {
    std::string joined;
    for (const kept_delta* each : pieces)
        joined += each->content.view();
    const auto found = secrets.find(joined);
    if (found.empty()) return;
    std::size_t begin = 0;
    for (kept_delta* each : pieces) {
        const std::size_t end = begin + each->content.size();
        std::string kept;
        std::size_t at = begin;
        for (const redactor::range secret : found) {
            if (secret.end <= begin || secret.begin >= end) continue;
            if (secret.begin >= begin) {
                kept += std::string_view(joined).substr(at, secret.begin - at);
                kept += redactor::mark;
            }
            at = std::min(secret.end, end);
        }
        kept += std::string_view(joined).substr(at, end - at);
        each->content = text(kept);
        begin = end;
    }
}

result<void> redact_message(message& whole, const redactor& secrets) {
    std::string written;
    append_fact_json(written, whole);
    const std::string clean = secrets.clean(written);
    if (clean == written) return BOOST_OUTCOME_V2_NAMESPACE::success();
    parse_options options;
    options.require_timestamp = false;
    options.facts = true;
    auto read = parse_message(clean, options);
    if (!read) {
        return failure(read.error().code(),
                       "a message cannot be kept without a secret: " + read.error().message());
    }
    whole = std::move(read.value());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

model_outcome cleaned(const model_outcome& from, const redactor& secrets) {
    const std::string words = secrets.clean(from.message());
    auto made = from.status() == stop_reason::completed   ? model_outcome::completed(from.why())
                : from.status() == stop_reason::timeout   ? model_outcome::timeout(words)
                : from.status() == stop_reason::malformed ? model_outcome::malformed(words)
                : from.status() == stop_reason::auth      ? model_outcome::auth(words)
                : from.status() == stop_reason::aborted   ? model_outcome::aborted()
                                                          : model_outcome::failed(words);
    if (from.is_permanent()) made = std::move(made).permanent();
    if (from.is_context_too_long()) made = std::move(made).context_too_long();
    if (from.wait()) made = std::move(made).with_wait(*from.wait());
    if (from.usage()) made = std::move(made).with_usage(*from.usage());
    return std::move(made).with_raw_stop_reason(text(secrets.clean(from.raw_stop_reason())));
}

} // namespace

result<void> redact(exchange& kept, const redactor& secrets) {
    std::vector<kept_delta*> pieces;
    const auto close = [&] {
        redact_pieces(pieces, secrets);
        pieces.clear();
    };
    for (kept_delta& each : kept.answer) {
        if (is_piece(each.type)) {
            if (!pieces.empty() && pieces.front()->type != each.type) close();
            pieces.push_back(&each);
            continue;
        }
        if (!is_aside(each.type)) close();
        each.content = text(secrets.clean(each.content));
        each.id = text(secrets.clean(each.id));
        if (each.type == type::whole) {
            BOOST_OUTCOME_TRYV(redact_message(each.whole, secrets));
        }
    }
    close();
    kept.outcome = cleaned(kept.outcome, secrets);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

namespace {

/// Text as a string, or `{"hex":"…"}` where a JSON string could not give it back byte for byte.
void put_text(object_writer& object, std::string_view name, std::string_view bytes) {
    if (utf8::is_valid(bytes)) return object.string(name, bytes);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const char c : bytes) {
        hex += digits[static_cast<unsigned char>(c) >> 4];
        hex += digits[static_cast<unsigned char>(c) & 15];
    }
    object_writer inner(object.key(name));
    inner.word("hex", hex);
    inner.close();
}

void put_counts(object_writer& object, const token_counts& counts) {
    object_writer inner(object.key("usage"));
    inner.number("cache_read", counts.cache_read);
    inner.number("cache_write", counts.cache_write);
    inner.number("output", counts.output);
    inner.number("total", counts.total);
    inner.close();
}

void put_delta(std::string& out, const kept_delta& kept) {
    object_writer object(out);
    switch (kept.type) {
    case type::begin_text: object.word("begin", "text"); break;
    case type::begin_thinking: object.word("begin", "thinking"); break;
    case type::text: put_text(object, "text", kept.content); break;
    case type::thinking: put_text(object, "thinking", kept.content); break;
    case type::call:
        put_text(object, "call", kept.content);
        put_text(object, "id", kept.id);
        break;
    case type::arguments: put_text(object, "arguments", kept.content); break;
    case type::end: object.raw("end", "true"); break;
    case type::fidelity: put_text(object, "fidelity", kept.content); break;
    case type::usage: put_counts(object, kept.counts); break;
    case type::whole: append_fact_json(object.key("whole"), kept.whole); break;
    }
    if (kept.at) object.number("at", kept.at->count());
    object.close();
}

std::string_view word_of(finish why) noexcept {
    switch (why) {
    case finish::end: return "end";
    case finish::tool_use: return "tool_use";
    case finish::length: return "length";
    case finish::filtered: return "filtered";
    case finish::pause: return "pause";
    case finish::other: return "other";
    }
    return "other";
}

} // namespace

void append_json(std::string& out, const exchange& kept) {
    object_writer line(out);
    line.number("exchange", 1);
    line.raw("request", kept.request);
    std::string& list = line.key("answer");
    list += '[';
    for (bool first = true; const kept_delta& each : kept.answer) {
        if (!std::exchange(first, false)) list += ',';
        put_delta(list, each);
    }
    list += ']';
    object_writer outcome(line.key("outcome"));
    outcome.word("status", to_string(kept.outcome.status()));
    if (kept.outcome.status() == stop_reason::completed) outcome.word("why", word_of(kept.outcome.why()));
    if (!kept.outcome.raw_stop_reason().empty())
        put_text(outcome, "stop_reason", kept.outcome.raw_stop_reason());
    if (!kept.outcome.message().empty()) put_text(outcome, "message", kept.outcome.message());
    if (kept.outcome.is_permanent()) outcome.raw("permanent", "true");
    if (kept.outcome.is_context_too_long()) outcome.raw("context_too_long", "true");
    if (kept.outcome.wait()) outcome.number("wait_ms", kept.outcome.wait()->count());
    if (kept.outcome.usage()) put_counts(outcome, *kept.outcome.usage());
    if (kept.ended_at) outcome.number("at", kept.ended_at->count());
    outcome.close();
    line.close();
}

} // namespace thalweg::providers::detail
