// SPDX-License-Identifier: BSL-1.0

#include "providers/transcript.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"

#include <thalweg/providers/anthropic/decoder.hpp>

#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

using anthropic_transcript = transcript<providers::anthropic_decoder>;
using events = std::vector<std::string>;

std::string transcript_of(const events& all) {
    anthropic_transcript made;
    for (const std::string& each : all)
        made.event(each);
    return made.finish();
}

std::string start(const std::string& id = "1", const std::string& usage = "{}") {
    return R"({"type":"message_start","message":{"id":")" + id + R"(","usage":)" + usage + "}}";
}
std::string block(int index, const std::string& members) {
    return R"({"type":"content_block_start","index":)" + std::to_string(index) + R"(,"content_block":{)" +
           members + "}}";
}
std::string piece(int index, const std::string& members) {
    return R"({"type":"content_block_delta","index":)" + std::to_string(index) + R"(,"delta":{)" + members +
           "}}";
}
std::string stop(int index) {
    return R"({"type":"content_block_stop","index":)" + std::to_string(index) + "}";
}
std::string reason(const std::string& word, const std::string& usage = "{}") {
    return R"({"type":"message_delta","delta":{"stop_reason":")" + word + R"("},"usage":)" + usage + "}";
}

const std::string text_block = R"("type":"text","text":"")";
const std::string thinking_block = R"("type":"thinking","thinking":"","signature":"")";
const std::string message_stop = R"({"type":"message_stop"})";
const std::string ping = R"({"type":"ping"})";

std::string text_piece(const std::string& text) {
    return R"("type":"text_delta","text":")" + text + "\"";
}
std::string arguments(const std::string& json) {
    return R"("type":"input_json_delta","partial_json":")" + json + "\"";
}
std::string call_block(const std::string& id, const std::string& input = "{}") {
    return R"("type":"tool_use","id":")" + id + R"(","name":"n","input":)" + input;
}

} // namespace

TEST_CASE("anthropic: text comes as it streams, and message_stop completes it") {
    CHECK(transcript_of({start(), block(0, text_block), ping, piece(0, text_piece("Hel")),
                         piece(0, text_piece("lo")), stop(0), reason("end_turn"), message_stop}) ==
          "THello|E|completed");
}

TEST_CASE("anthropic: an answer completes only by its own sign") {
    const events all = {start(), block(0, text_block), piece(0, text_piece("a")),
                        stop(0), block(1, text_block), piece(1, text_piece("b")),
                        stop(1), reason("end_turn"),   message_stop};
    for (std::size_t count = 0; count <= all.size(); ++count) {
        anthropic_transcript cut;
        for (std::size_t i = 0; i < count; ++i)
            cut.event(all[i]);
        const std::string said = cut.finish();
        INFO(count << " events: " << said);
        CHECK(said.ends_with("completed") == (count >= 8)); // a stop reason, and every block stopped
    }
    CHECK(transcript_of({start(), block(0, text_block), piece(0, text_piece("a")), reason("end_turn")}) ==
          "Ta|unfinished");
}

TEST_CASE("anthropic: thinking keeps its signature byte for byte") {
    CHECK(transcript_of({start(), block(0, thinking_block),
                         piece(0, R"("type":"thinking_delta","thinking":"hm")"),
                         piece(0, R"("type":"signature_delta","signature":"a\/b")"),
                         piece(0, R"("type":"signature_delta","signature":"=")"), stop(0), reason("end_turn"),
                         message_stop}) == R"(Hhm|F{"model":"m","signature":"a\/b="}|E|completed)");
    CHECK(transcript_of({start(), block(0, thinking_block),
                         piece(0, R"("type":"signature_delta","signature":"s")"), stop(0), reason("end_turn"),
                         message_stop}) == R"(BH|F{"model":"m","signature":"s"}|E|completed)");
    CHECK(transcript_of({start(), block(0, R"("type":"redacted_thinking","data":"xyz")"), stop(0),
                         reason("end_turn"), message_stop}) ==
          R"(BH|F{"model":"m","redacted":"xyz"}|E|completed)");
}

TEST_CASE("anthropic: arguments come from pieces, else from the start of the block") {
    CHECK(transcript_of({start(), block(3, call_block("c")), piece(3, arguments("")),
                         piece(3, arguments(R"({\"a\":)")), piece(3, arguments("1}")), stop(3),
                         reason("tool_use"), message_stop}) == R"(Cc,n|A{"a":1}|E|completed)");
    CHECK(transcript_of({start(), block(0, call_block("c", R"({"a": 2})")), stop(0), reason("tool_use"),
                         message_stop}) == R"(Cc,n|A{"a": 2}|E|completed)");
    CHECK(transcript_of({start(), block(0, call_block("c")), stop(0), reason("tool_use"), message_stop}) ==
          "Cc,n|E|completed");
}

TEST_CASE("anthropic: blocks that are open at once come out one behind the other") {
    CHECK(transcript_of({start(), block(1, call_block("a")), block(2, call_block("b")),
                         piece(2, arguments("{}")), piece(1, arguments("{")), stop(2),
                         piece(1, arguments("}")), stop(1), reason("tool_use"), message_stop}) ==
          "Ca,n|A{}|E|Cb,n|A{}|E|completed");
}

TEST_CASE("anthropic: half a surrogate pair waits for the other half") {
    CHECK(transcript_of({start(), block(0, text_block), piece(0, text_piece(R"(a\ud83d)")),
                         piece(0, text_piece(R"(\ude00b)")), stop(0), block(1, text_block),
                         piece(1, text_piece(R"(\ud83d)")), stop(1), reason("end_turn"), message_stop}) ==
          "Ta\xf0\x9f\x98\x80"
          "b|E|T\xef\xbf\xbd|E|completed");
}

TEST_CASE("anthropic: blocks nobody knows are left out with their pieces") {
    CHECK(transcript_of({start(), block(0, R"("type":"server_tool_use","id":"s","name":"w","input":{})"),
                         piece(0, arguments("{}")), stop(0), block(1, text_block),
                         piece(1, R"("type":"citations_delta","citation":{})"), piece(1, text_piece("x")),
                         stop(1), R"({"type":"something_new","index":9})", reason("end_turn"),
                         message_stop}) == "Tx|E|completed");
}

TEST_CASE("anthropic: of every count the last one that was stated holds") {
    const std::string
        first = R"({"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,)"
                R"("output_tokens":1})";
    CHECK(transcript_of({start("1", first), reason("end_turn", R"({"input_tokens":null,"output_tokens":11})"),
                         message_stop}) == "U7/5/11/26|completed");
    CHECK(transcript_of({start("1", first), reason("end_turn", R"({"cache_read_input_tokens":0})"),
                         message_stop}) == "U0/5/1/9|completed");
}

TEST_CASE("anthropic: what contradicts itself is malformed") {
    const std::string other = start("2");
    for (const events& each :
         {events{start(), block(0, text_block), other}, events{start(), piece(0, text_piece("x"))},
          events{start(), block(0, text_block), stop(0), piece(0, text_piece("x"))},
          events{start(), block(0, text_block), piece(0, R"("type":"text_delta","text":7)")},
          events{start(), block(0, text_block), piece(0, text_piece(R"(\q)"))},
          events{start(), R"({"type":"content_block_stop")"}, events{"<html>"}})
        CHECK(transcript_of(each).ends_with("malformed"));
    CHECK(transcript_of({start(), start(), reason("end_turn"), message_stop}) == "completed");
}

TEST_CASE("anthropic: an error ends the answer, wherever it stands") {
    const std::string error = R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})";
    for (const events& each : {events{error}, events{start(), error},
                               events{start(), block(0, text_block), piece(0, text_piece("x")), error},
                               events{start(), reason("end_turn"), error}}) {
        anthropic_transcript made;
        for (const std::string& event : each)
            made.event(event);
        CHECK(made.finish().ends_with("failed"));
        REQUIRE(made.ending().error);
        CHECK(made.ending().error->sentence() == "overloaded_error: busy");
    }
}

TEST_CASE("anthropic: stop reasons in our words") {
    const auto why = [](const std::string& word, bool calls) {
        anthropic_transcript made;
        made.event(start());
        if (calls) made.event(block(0, call_block("c"))).event(stop(0));
        made.event(reason(word)).event(message_stop);
        static_cast<void>(made.finish());
        CHECK(made.ending().raw_stop_reason == word);
        return made.ending().why;
    };
    CHECK(why("end_turn", false) == finish::end);
    CHECK(why("stop_sequence", false) == finish::end);
    CHECK(why("end_turn", true) == finish::tool_use);
    CHECK(why("tool_use", true) == finish::tool_use);
    CHECK(why("max_tokens", true) == finish::length);
    CHECK(why("model_context_window_exceeded", false) == finish::length);
    CHECK(why("refusal", false) == finish::filtered);
    CHECK(why("pause_turn", false) == finish::pause);
    CHECK(why("a_new_one", false) == finish::other);
}

TEST_CASE("anthropic: a server that does not stream") {
    anthropic_transcript made;
    made.body(R"({"type":"message","id":"1","role":"assistant","content":[)"
              R"({"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a\nb"},)"
              R"({"type":"tool_use","id":"c","name":"n","input":{"x":1}}],)"
              R"("stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}})");
    CHECK(made.finish() == "Hhm|F{\"model\":\"m\",\"signature\":\"s\"}|E|Ta\nb|E|Cc,n|A{\"x\":1}|E|U0/0/2/3|"
                           "completed");
    anthropic_transcript failed;
    failed.body(R"({"type":"error","error":{"type":"api_error","message":"no"}})");
    CHECK(failed.finish() == "failed");
}

TEST_CASE("anthropic: a short delta costs no allocation") {
    providers::anthropic_decoder decoder("m");
    std::vector<delta> out;
    out.reserve(4);
    const auto feed = [&](const std::string& event) {
        std::string padded = event;
        padded.reserve(event.size() + sse_parser::padding);
        decoder.event(padded, {}, out);
        out.clear();
    };
    feed(start());
    feed(block(0, text_block));
    const std::string short_one = piece(0, text_piece("word"));
    std::string padded = short_one;
    padded.reserve(short_one.size() + sse_parser::padding);
    decoder.event(padded, {}, out);
    out.clear();
    const auto before = allocation_count();
    for (int i = 0; i < 100; ++i) {
        decoder.event(padded, {}, out);
        out.clear();
    }
    CHECK(allocation_count() == before);
}
