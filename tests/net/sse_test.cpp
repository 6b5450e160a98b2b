// SPDX-License-Identifier: BSL-1.0

#include "net/sse_transcript.hpp"
#include "support/catch.hpp"

using thalweg::body_end;
using thalweg::sse_limits;
using thalweg::sse_parser;
using thalweg::testing::transcript;
using thalweg::testing::transcript_of_two;

namespace {

// Checks one body in every way of cutting it: whole, byte by byte, small odd sizes, two reads at every place.
void check_all_splits(std::string_view body, std::string_view expected, body_end end = body_end::clean,
                      sse_limits limits = {}) {
    INFO("body: " << body);
    for (const std::size_t size :
         {body.size() + 1, std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}})
        CHECK(transcript(body, size, end, limits) == expected);
    for (std::size_t at = 0; at <= body.size(); ++at) {
        INFO("cut at " << at);
        CHECK(transcript_of_two(body, at, end, limits) == expected);
    }
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

} // namespace

TEST_CASE("equivalent encodings of one stream give the same events in every split") {
    const std::string expected = "[{\"a\":1}][note|two\nlines][\xC3\xA9\xF0\x9F\x98\x80]";
    const std::string
        base = "data: {\"a\":1}\n\nevent: note\ndata: two\ndata: lines\n\ndata: \xC3\xA9\xF0\x9F\x98\x80\n\n";
    check_all_splits(base, expected);
    check_all_splits(replace_all(base, "\n", "\r\n"), expected);
    check_all_splits(replace_all(base, "\n", "\r"), expected);
    check_all_splits(replace_all(base, "\n\n", "\r\n\n"), expected);
    check_all_splits(replace_all(base, "\n\n", "\r\r\n"), expected);
    check_all_splits(replace_all(base, ": ", ":"), expected);
    check_all_splits("\xEF\xBB\xBF" + base, expected);
    check_all_splits(": hello\n\n" + replace_all(base, "data: ", ":\n: keep-alive\ndata: "), expected);
    check_all_splits(replace_all(base, "data: ", "unknown: 1\nfoo\ndata: "), expected);
    check_all_splits(
        replace_all(base, "event: note\ndata: two\ndata: lines", "data: two\ndata: lines\nevent: note"),
        expected);
    check_all_splits(replace_all(base, "event: note", "event: first\nevent: note"), expected);
    check_all_splits(replace_all(base, "\n\n", "\n\n\n\n"), expected);
}

TEST_CASE("one leading blank of a value is dropped and no more") {
    check_all_splits("data:  x\n\n", "[ x]");
    check_all_splits("data: \tx \n\n", "[\tx ]");
    check_all_splits("data : x\n\n", "");
}

TEST_CASE("only LF, CR and CRLF end a line") {
    check_all_splits("data: a\xE2\x80\xA8"
                     "b\xE2\x80\xA9"
                     "c\xC2\x85"
                     "d\v\f\n\n",
                     "[a\xE2\x80\xA8"
                     "b\xE2\x80\xA9"
                     "c\xC2\x85"
                     "d\v\f]");
    check_all_splits(std::string("data: a\0b\n\n", 11), std::string("[a\0b]", 5));
}

TEST_CASE("a CR ends its line at once and swallows one LF of the next read only") {
    sse_parser parser;
    parser.feed("data: a\r\r");
    const auto* event = parser.next();
    REQUIRE(event != nullptr);
    CHECK(event->data == "a");
    CHECK(parser.next() == nullptr);
    check_all_splits("data: a\r\n\ndata: b\r\n\r\n\n", "[a][b]");
    check_all_splits("data: a\r\ndata: b\r\r", "[a\nb]");
}

TEST_CASE("a byte order mark is dropped at the very start and is data elsewhere") {
    check_all_splits("\xEF\xBB\xBF"
                     "data: a\n\n",
                     "[a]");
    check_all_splits("\xEF\xBB\xBF\xEF\xBB\xBF"
                     "data: a\n\n",
                     "");
    check_all_splits("\n\xEF\xBB\xBF"
                     "data: a\n\n",
                     "");
    check_all_splits("data: \xEF\xBB\xBF"
                     "a\n\n",
                     "[\xEF\xBB\xBF"
                     "a]");
    check_all_splits("\xEF\xBB"
                     "data: a\n\ndata: b\n\n",
                     "[b]");
    check_all_splits("\xEF\xBB\xBF", "");
}

TEST_CASE("a block without a data field dispatches nothing and leaves no type behind") {
    check_all_splits("event: lost\n\ndata: a\n\n", "[a]");
    check_all_splits("id: 7\n\n: only a comment\n\nretry: 10\n\n", "retry<10>");
    check_all_splits("data\n\ndata:\n\ndata:\ndata\n\n", "[][][\n]");
}

TEST_CASE("the last id persists over events and a NUL makes an id invalid") {
    check_all_splits("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", "[a|id=1][b|id=1][c]");
    check_all_splits(std::string("id: 1\nid: 2\0\ndata: a\n\n", 22), "[a|id=1]");
}

TEST_CASE("a retry field counts only when it is all digits and fits") {
    check_all_splits("retry: 250\n\n", "retry<250>");
    check_all_splits("retry: 250\nretry: 1s\nretry:\nretry: -1\nretry: 99999999999999999999\n", "retry<250>");
}

TEST_CASE("a pending block at a clean end is delivered when it is visibly whole") {
    check_all_splits("data: any\n", "[any]");
    check_all_splits("data: any\r", "[any]");
    check_all_splits("data: [DONE]", "[[DONE]]");
    check_all_splits("data:  [DONE] ", "[ [DONE] ]");
    check_all_splits("data: {\"a\":[1,\"}\"]}", "[{\"a\":[1,\"}\"]}]");
    check_all_splits("data: {\"a\":\ndata: 1}", "[{\"a\":\n1}]");
    check_all_splits("data: \"\\ud83d\"", "[\"\\ud83d\"]");
    check_all_splits("data: {}\nevent: error", "[error|{}]");
}

TEST_CASE("a pending block that is visibly unfinished is dropped and the body counts as cut") {
    check_all_splits("data: {\"a\":1", "cut");
    check_all_splits("data: a\n\ndata: [DON", "[a]cut");
    check_all_splits("data: some text", "cut");
    check_all_splits("data: {\"a\":1}\ndata: {\"b", "cut");
    check_all_splits("data: ", "cut");
    check_all_splits("event: x", "cut");
    check_all_splits("da", "cut");
    check_all_splits(": half a comm", "");
    check_all_splits("data: a\n\n", "[a]");
}

TEST_CASE("nothing pending is delivered after the transport broke") {
    check_all_splits("data: a\n\ndata: [DONE]\n", "[a]cut", body_end::broken);
    check_all_splits("data: {}", "cut", body_end::broken);
    check_all_splits("data: a\n\n", "[a]", body_end::broken);
}

TEST_CASE("bare JSON lines are kept aside") {
    check_all_splits("data: a\n\n{\n  \"error\": {\n    \"code\": 503,\n    \"list\": [\n      1,\n      "
                     "null\n    ]\n  }\n}",
                     "[a]stray<{\n  \"error\": {\n    \"code\": 503,\n    \"list\": [\n      1,\n      "
                     "null\n    ]\n  }\n}\n>");
    check_all_splits("{\"error\":\"x\"}\n\n", "stray<{\"error\":\"x\"}\n>");
    check_all_splits("[{\"error\":\"x\"}]", "stray<[{\"error\":\"x\"}]\n>");
    check_all_splits("42\nnull\nfoo: {}\n<html>\n", "");
}

TEST_CASE("bare JSON is kept up to its limit") {
    check_all_splits("{\n\"long\": \"0123456789\"\n}\n", "stray<{\n}\n>", body_end::clean, {.stray = 16});
}

TEST_CASE("a line above the limit fails the stream at the same place in every split") {
    const sse_limits limits{.line = 12};
    check_all_splits("data: 123456\n\n", "[123456]", body_end::clean, limits);
    check_all_splits("data: a\n\ndata: 1234567\n\ndata: b\n\n",
                     "[a]error<the event stream has a line longer than 12 bytes (at byte 9)>",
                     body_end::clean, limits);
    check_all_splits("data: 1234567", "error<the event stream has a line longer than 12 bytes (at byte 0)>",
                     body_end::clean, limits);
    check_all_splits("data: a\r\n\r\n: a long comment\n",
                     "[a]error<the event stream has a line longer than 12 bytes (at byte 11)>",
                     body_end::clean, limits);
}

TEST_CASE("an event above the limit fails the stream in every split") {
    const sse_limits limits{.event = 8};
    check_all_splits("data: 1234\ndata: 567\n\n", "[1234\n567]", body_end::clean, limits);
    check_all_splits("data: 1234\ndata: 5678\n\n",
                     "error<the event stream has an event with more than 8 bytes of data>", body_end::clean,
                     limits);
    check_all_splits("data: 123456789\n\n",
                     "error<the event stream has an event with more than 8 bytes of data>", body_end::clean,
                     limits);
}

TEST_CASE("an endless line is refused long before it is all there") {
    sse_parser parser;
    const std::string piece(std::size_t{64} << 10, 'x');
    std::size_t fed = 0;
    while (parser.error().empty() && fed < (std::size_t{64} << 20)) {
        parser.feed(piece);
        CHECK(parser.next() == nullptr);
        fed += piece.size();
    }
    CHECK(fed <= (std::size_t{16} << 20) + piece.size());
    CHECK_FALSE(parser.error().empty());
}

TEST_CASE("an event whole in one read is a view into that read") {
    const std::string body = "event: e\ndata: abc\n\ndata: part";
    sse_parser parser;
    parser.feed(body);
    const auto* event = parser.next();
    REQUIRE(event != nullptr);
    CHECK(event->data.data() == body.data() + body.find("abc"));
    CHECK(event->type.data() == body.data() + 7);
    CHECK(parser.next() == nullptr);
}

TEST_CASE("a large event in many reads is joined whole") {
    std::string text;
    for (int i = 0; text.size() < 3'000'000; ++i)
        text += std::to_string(i);
    const auto body = "data: x\n\ndata: " + text + "\r\n\r\ndata: y\n\n";
    CHECK(transcript(body, 16384) == "[x][" + text + "][y]");
    CHECK(transcript(body, 1009) == "[x][" + text + "][y]");
}
