// SPDX-License-Identifier: BSL-1.0

// The library's way from the bytes of an answer to messages, in the pieces in which curl hands them over.

#include "decoders.hpp"

#include <thalweg/engine/answer_framer.hpp>
#include <thalweg/net/sse.hpp>
#include <thalweg/providers/chat/decoder.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace thalweg::bench {
namespace {

constexpr std::size_t read_size = 16384; // CURL_MAX_WRITE_SIZE

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "bench-decode: %s\n", what.c_str());
    std::abort();
}

// Calls `use` with each event of one body; the number of events.
template <class Use>
std::uint64_t for_each_event(std::string_view body, Use use) {
    sse_parser parser;
    std::uint64_t events = 0;
    const auto take = [&] {
        while (const sse_event* event = parser.next()) {
            ++events;
            use(*event);
        }
    };
    for (std::size_t at = 0; at < body.size(); at += read_size) {
        parser.feed(body.substr(at, read_size));
        take();
    }
    parser.finish(body_end::clean);
    take();
    if (!parser.error().empty()) fail(parser.error());
    return events;
}

// Reads whole bodies until there were `events`, and insists that each has as many as it should.
template <class Read>
measurement run(const chat_stream& input, std::uint64_t events, Read read) {
    std::uint64_t done = 0;
    const meter time;
    while (done < events) {
        const std::uint64_t seen = read(std::string_view(input.bytes));
        if (seen != input.events) fail("an event was lost");
        done += seen;
    }
    return time.stop(done);
}

std::uint64_t read_events(std::string_view body) {
    std::uint64_t bytes = 0;
    const std::uint64_t events = for_each_event(body,
                                                [&](const sse_event& event) { bytes += event.data.size(); });
    if (bytes == 0) fail("the events are empty");
    return events;
}

void check(const wire::answer_ending& ending) {
    if (ending.status != wire::answer_status::completed)
        fail("the answer did not complete: " + ending.complaint);
}

std::uint64_t read_deltas(std::string_view body) {
    providers::chat_decoder decoder;
    std::vector<delta> deltas;
    std::uint64_t text_bytes = 0;
    const auto use_up = [&] {
        for (const delta& each : deltas)
            text_bytes += each.content().size();
        deltas.clear();
    };
    const std::uint64_t events = for_each_event(body, [&](const sse_event& event) {
        decoder.event(event.data, event.type, deltas);
        use_up();
    });
    check(decoder.finish(deltas));
    use_up();
    if (text_bytes == 0) fail("no text came out");
    return events;
}

std::uint64_t read_messages(std::string_view body) {
    providers::chat_decoder decoder;
    std::vector<delta> deltas;
    id_registry ids;
    answer_framer framer(ids);
    std::uint64_t messages = 0;
    const auto use_up = [&] {
        messages += framer.pending().size();
        framer.pending().clear();
        static_cast<void>(framer.finished_call());
    };
    const auto frame = [&] {
        for (delta& each : deltas) {
            while (!framer.step(each))
                use_up();
            use_up();
        }
        deltas.clear();
    };
    const std::uint64_t events = for_each_event(body, [&](const sse_event& event) {
        decoder.event(event.data, event.type, deltas);
        frame();
    });
    const wire::answer_ending ending = decoder.finish(deltas);
    check(ending);
    frame();
    static_cast<void>(framer.finish(model_outcome::completed(ending.why, ending.raw_finish_reason)));
    use_up();
    if (messages == 0) fail("no messages came out");
    return events;
}

} // namespace

contender thalweg_events(const chat_stream& input) {
    return {.name = "thalweg (events only)",
            .run = [&input](std::uint64_t events) { return run(input, events, read_events); }};
}

contender thalweg_deltas(const chat_stream& input) {
    return {.name = "thalweg (deltas)",
            .run = [&input](std::uint64_t events) { return run(input, events, read_deltas); }};
}

contender thalweg_messages(const chat_stream& input) {
    return {.name = "thalweg (messages)",
            .run = [&input](std::uint64_t events) { return run(input, events, read_messages); }};
}

} // namespace thalweg::bench
