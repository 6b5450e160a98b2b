// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/traced.hpp>

#include <thalweg/async/loop.hpp>
#include <thalweg/protocol/detail/object_writer.hpp>
#include <thalweg/protocol/timestamp.hpp>
#include <thalweg/providers/detail/line_file.hpp>

#include <exception>

namespace thalweg::providers {

namespace {

using std::chrono::microseconds;

std::uint64_t bytes_of(std::span<const message> messages) {
    std::uint64_t sum = 0;
    for (const message& m : messages) {
        sum += m.content().size();
        for (const text& image : m.images())
            sum += image.size();
    }
    return sum;
}

void append_count(thalweg::detail::object_writer& object, std::string_view name, const delta_count& count) {
    if (count.deltas == 0) return;
    thalweg::detail::object_writer inner(object.key(name));
    inner.number("deltas", static_cast<std::int64_t>(count.deltas));
    inner.number("bytes", static_cast<std::int64_t>(count.bytes));
    inner.close();
}

void append_usage(thalweg::detail::object_writer& object, const token_counts& usage) {
    thalweg::detail::object_writer inner(object.key("usage"));
    inner.number("cache_read", usage.cache_read);
    inner.number("cache_write", usage.cache_write);
    inner.number("output", usage.output);
    inner.number("total", usage.total);
    inner.close();
}

void append_outcome(thalweg::detail::object_writer& object, const model_outcome& outcome) {
    object.word("status", to_string(outcome.status()));
    if (!outcome.raw_stop_reason().empty()) object.string("stop_reason", outcome.raw_stop_reason());
    if (!outcome.message().empty()) object.string("error", outcome.message());
    if (outcome.is_permanent()) object.raw("permanent", "true");
    if (outcome.wait()) object.number("wait_ms", outcome.wait()->count());
}

} // namespace

std::string_view to_string(request_stage s) noexcept {
    switch (s) {
    case request_stage::begin: return "begin";
    case request_stage::first_delta: return "first_delta";
    case request_stage::end: return "end";
    }
    return "?";
}

void append_json(std::string& out, const request_record& r) {
    thalweg::detail::object_writer object(out);
    char time[timestamp_length];
    format_timestamp(time, r.wall_ms);
    object.word("time", std::string_view(time, timestamp_length));
    object.word("stage", to_string(r.stage));
    if (!r.provider.empty()) object.string("provider", r.provider);
    object.number("request", static_cast<std::int64_t>(r.request));
    if (r.lost > 0) object.number("lost", static_cast<std::int64_t>(r.lost));
    if (r.stage == request_stage::begin) {
        object.number("history", static_cast<std::int64_t>(r.history));
        object.number("input", static_cast<std::int64_t>(r.input));
        object.number("tools", static_cast<std::int64_t>(r.tools));
        object.number("asked_bytes", static_cast<std::int64_t>(r.asked_bytes));
        if (!r.asked.empty()) object.string("asked", r.asked);
    } else {
        object.number("took_us", r.took.count());
    }
    if (r.stage == request_stage::end) {
        if (r.first_after) object.number("first_after_us", r.first_after->count());
        append_count(object, "text", r.text);
        append_count(object, "thinking", r.thinking);
        append_count(object, "calls", r.calls);
        append_count(object, "whole", r.whole);
        if (r.fidelity > 0) object.number("fidelity", static_cast<std::int64_t>(r.fidelity));
        if (r.usage) append_usage(object, *r.usage);
        if (r.outcome != nullptr) {
            append_outcome(object, *r.outcome);
        } else {
            object.word("status", r.thrown.empty() ? "dropped" : "threw");
            if (!r.thrown.empty()) object.string("error", r.thrown);
        }
        if (!r.answered.empty()) object.string("answered", r.answered);
    }
    object.close();
}

struct request_log::state {
    explicit state(std::string path) : file(std::move(path), detail::line_file::start::append) {}
    detail::line_file file;
    std::uint64_t lost = 0;
    std::string line;
};

request_log::request_log(std::string path) : state_(std::make_shared<state>(std::move(path))) {}

void request_log::operator()(const request_record& r) {
    request_record counted = r;
    counted.lost += state_->lost;
    state_->line.clear();
    append_json(state_->line, counted);
    const auto done = state_->file.append(state_->line);
    state_->lost = done ? 0 : state_->lost + 1;
}

namespace detail {

namespace {

/// The records of one request. Its destructor says the end if nothing else has.
class witness {
public:
    witness(tracing& by, loop& on, const model_request& asked) : by_(by), loop_(on), begun_(on.now()) {
        record_.request = ++by.requests;
        record_.provider = by.options.name;
        record_.history = asked.history().size();
        record_.input = asked.input().size();
        record_.tools = asked.tools().size();
        record_.asked_bytes = asked.system().size() + bytes_of(asked.history()) + bytes_of(asked.input());
        for (const tool_definition& tool : asked.tools())
            record_.asked_bytes += tool.name.size() + tool.description.size() + tool.parameters.size();
        if (by.options.with_text) record_.asked = asked.last_text();
        say(request_stage::begin);
    }
    witness(const witness&) = delete;
    ~witness() {
        if (!is_over_) end(nullptr, {});
    }

    void see(delta& piece) {
        using type = delta::type;
        const std::size_t bytes = piece.content().size();
        switch (piece.kind()) {
        case type::text:
            add(record_.text, bytes);
            if (by_.options.with_text) answered_ += piece.content();
            break;
        case type::thinking: add(record_.thinking, bytes); break;
        case type::call: add(record_.calls, 0); break;
        case type::arguments: record_.calls.bytes += bytes; break;
        case type::whole: add(record_.whole, piece.wrapped().content().size()); break;
        case type::fidelity: ++record_.fidelity; break;
        case type::usage: record_.usage = piece.counts(); return;
        case type::begin_text:
        case type::begin_thinking:
        case type::end: break;
        }
        if (record_.first_after) return;
        record_.first_after = since_begin();
        say(request_stage::first_delta);
    }

    void end(const model_outcome* outcome, std::string_view thrown) noexcept {
        is_over_ = true;
        record_.outcome = outcome;
        record_.thrown = thrown;
        record_.answered = answered_;
        if (outcome != nullptr && !record_.usage) record_.usage = outcome->usage();
        say(request_stage::end);
    }

private:
    static void add(delta_count& to, std::size_t bytes) noexcept {
        ++to.deltas;
        to.bytes += bytes;
    }
    [[nodiscard]] microseconds since_begin() const noexcept {
        return std::chrono::duration_cast<microseconds>(loop_.now() - begun_);
    }
    void say(request_stage stage) noexcept {
        if (!by_.sink) return;
        record_.stage = stage;
        record_.lost = by_.lost;
        try {
            record_.wall_ms = loop_.wall_ms();
            record_.took = since_begin();
            by_.sink(record_);
            by_.lost = 0;
        } catch (...) {
            ++by_.lost; // the next record says so
        }
    }

    tracing& by_;
    loop& loop_;
    loop::clock::time_point begun_;
    request_record record_;
    std::string answered_;
    bool is_over_ = false;
};

} // namespace

stream<delta, model_outcome> watched(std::shared_ptr<tracing> by, provider_ref inner, model_request request) {
    const context here = co_await this_coroutine();
    witness seen(*by, here.loop(), request);
    std::optional<model_outcome> outcome;
    try {
        auto answer = inner.generate(std::move(request));
        while (delta* piece = co_await answer.peek()) {
            seen.see(*piece);
            co_yield std::move(*piece);
        }
        outcome.emplace(std::move(answer.result()));
    } catch (const std::exception& e) {
        seen.end(nullptr, *e.what() == '\0' ? "an exception without words" : e.what());
        throw;
    } catch (...) {
        seen.end(nullptr, "something that is no std::exception");
        throw;
    }
    seen.end(&*outcome, {});
    co_return std::move(*outcome);
}

} // namespace detail

} // namespace thalweg::providers
