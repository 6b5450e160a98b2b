// SPDX-License-Identifier: BSL-1.0

#include "providers/chat_transcript.hpp"
#include "support/allocation_count.hpp"
#include "support/catch.hpp"

using namespace thalweg;
using namespace thalweg::testing;

namespace {

const std::string done = "[DONE]";

struct example {
    const char* what;
    std::vector<std::string> events;
    std::string expected;
};

void check(const std::vector<example>& all) {
    for (const example& each : all) {
        INFO(each.what);
        CHECK(transcript_of(each.events) == each.expected);
    }
}

} // namespace

TEST_CASE("text and thinking are said in order, whatever the order of members") {
    check({
        {"plain",
         {chunk(R"("role":"assistant","content":"")"), chunk(R"("content":"a")"), last_chunk("stop")},
         "Ta|E|completed"},
        {"the reason on the chunk of the last text",
         {R"({"choices":[{"finish_reason":"stop","delta":{"content":"a"},"index":0}]})"},
         "Ta|E|completed"},
        {"thinking stands first even if it comes second",
         {chunk(R"("content":"b","reasoning_content":"a")"), done},
         "Ha|Tb|E|completed"},
        {"the first name that has text wins",
         {chunk(R"("reasoning":"b","reasoning_content":"a")"), done},
         "Ha|E|completed"},
        {"the unusual name is remembered",
         {chunk(R"("reasoning":"a")"), chunk(R"("content":"b")"), done},
         R"(Ha|F{"model":"m","field":"reasoning"}|Tb|E|completed)"},
        {"parts",
         {chunk(
              R"("content":[{"type":"thinking","thinking":[{"text":"a","type":"text"}]},{"text":"b"},"c"])"),
          done},
         "Ha|Tbc|E|completed"},
        {"a refusal is a block of its own",
         {chunk(R"("content":"a")"), chunk(R"("refusal":"no")"), done},
         R"(Ta|BT|Tno|F{"refusal":true}|E|completed)"},
        {"no chunk at all", {done}, "completed"},
        {"blanks around the end marker", {chunk(R"("content":"a")"), " [DONE] "}, "Ta|E|completed"},
        {"nothing counts behind it", {done, chunk(R"("content":"a")")}, "completed"},
    });
}

TEST_CASE("text keeps its characters: escapes, halves of pairs, broken bytes") {
    check({
        {"escapes",
         {chunk(R"("content":"\"\\\/\b\f\n\r\t\u0041\u00e5\u6cb3\ud83c\udf0a\u0000")"), done},
         std::string("T\"\\/\b\f\n\r\tAå河🌊") + '\0' + "|E|completed"},
        {"halves in two chunks",
         {chunk(R"("content":"a\ud83c")"), chunk(R"("content":"\udf0ab")"), done},
         "Ta🌊b|E|completed"},
        {"a half that stays alone",
         {chunk(R"("content":"a\ud83c")"), chunk(R"("content":"b\udf0a")"), done},
         "Ta\uFFFDb\uFFFD|E|completed"},
        {"a half at the end of a block",
         {chunk(R"("reasoning_content":"a\ud83c")"), chunk(R"("content":"\udf0a")"), done},
         "Ha\uFFFD|T\uFFFD|E|completed"},
        {"a half at the end", {chunk(R"("content":"\ud83c")"), done}, "T\uFFFD|E|completed"},
        {"halves in arguments",
         {calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"\ud83c"}})"),
          calls(R"({"index":0,"function":{"arguments":"\udf0a"}})"), done},
         "Ci,n|A🌊|E|completed"},
        {"bytes that are no UTF-8", {chunk("\"content\":\"a\xff\xc3\""), done}, "Ta\uFFFD\uFFFD|E|completed"},
    });
}

TEST_CASE("the calls of an answer are told apart by the best evidence") {
    const auto first = R"({"index":0,"id":"i","type":"function","function":{"name":"n","arguments":"{"}})";
    check({
        {"the first one streams, its end waits for the end",
         {calls(first), calls(R"({"index":0,"function":{"arguments":"}"}})")},
         "Ci,n|A{}|unfinished"},
        {"another one waits",
         {calls(first), calls(R"({"index":1,"id":"j","function":{"name":"o","arguments":"[]"}})"),
          calls(R"({"index":0,"function":{"arguments":"}"}})"), last_chunk("tool_calls")},
         "Ci,n|A{}|E|Cj,o|A[]|E|completed"},
        {"all numbers are 0",
         {calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"{}"}})"),
          calls(R"({"index":0,"id":"j","function":{"name":"n","arguments":"{}"}})"), done},
         "Ci,n|A{}|E|Cj,n|A{}|E|completed"},
        {"no numbers",
         {calls(R"({"id":"i","function":{"name":"n","arguments":"{"}},{"function":{"arguments":"}"}})"),
          calls(R"({"id":"j","function":{"name":"n"}})"), done},
         "Ci,n|A{}|E|Cj,n|E|completed"},
        {"no ids, whole calls",
         {calls(R"({"index":0,"function":{"name":"n","arguments":"{}"}})"),
          calls(R"({"index":0,"function":{"name":"n","arguments":" {\"a\":1}"}})"), done},
         "C,n|A{}|E|C,n|A {\"a\":1}|E|completed"},
        {"one id for all, whole calls",
         {calls(R"({"index":0,"id":"n","function":{"name":"n","arguments":"{}"}})"),
          calls(R"({"index":0,"id":"n","function":{"name":"n","arguments":"{}"}})"), done},
         "Cn,n|A{}|E|Cn,n|A{}|E|completed"},
        {"id and name are repeated, emptied, nulled",
         {calls(first), calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"\"a\":"}})"),
          calls(R"({"index":0,"id":"","function":{"name":"","arguments":"1"}})"),
          calls(R"({"index":0,"id":null,"function":{"name":null,"arguments":"}"}})"), done},
         "Ci,n|A{\"a\":1}|E|completed"},
        {"the name comes late",
         {calls(R"({"index":0,"function":{"arguments":"{"}})"), calls(R"({"index":0,"id":"i"})"),
          calls(R"({"index":0,"function":{"name":"n","arguments":"}"}})"), done},
         "Ci,n|A{}|E|completed"},
        {"arguments as an object",
         {calls(R"({"index":0,"id":"i","function":{"arguments":{"a":[1, 2]},"name":"n"}})"), done},
         R"(Ci,n|A{"a":[1, 2]}|E|completed)"},
        {"null arguments",
         {calls(R"({"index":0,"id":"i","function":{"arguments":null,"name":"n"}})"), done},
         "Ci,n|E|completed"},
        {"function_call",
         {chunk(R"("function_call":{"name":"n","arguments":""})"),
          chunk(R"("function_call":{"arguments":"{}"})"), done},
         "C,n|A{}|E|completed"},
        {"text in the middle of a call waits",
         {chunk(R"("content":"a")"), calls(first), chunk(R"("content":"b")"),
          calls(R"({"index":0,"function":{"arguments":"}"}})"), chunk(R"("content":"c")"), done},
         "Ta|Ci,n|A{}|E|Tbc|E|completed"},
        {"nothing but a number", {calls(R"({"index":0})"), done}, "completed"},
        {"no name", {calls(R"({"index":0,"id":"i"})"), done}, "malformed"},
        {"another name in the middle",
         {calls(R"({"index":0,"function":{"name":"n","arguments":"{"}})"),
          calls(R"({"index":0,"function":{"name":"o","arguments":"}"}})"), done},
         "malformed"},
    });
}

TEST_CASE("a call of a broken answer never gets its end") {
    const auto whole = calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"{}"}})");
    check({
        {"cut", {whole}, "Ci,n|A{}|unfinished"},
        {"failed", {whole, R"({"error":"x"})"}, "Ci,n|A{}|failed"},
        {"garbage", {whole, "}"}, "Ci,n|A{}|malformed"},
        {"given up", {whole, last_chunk("error")}, "Ci,n|A{}|failed"},
    });
}

TEST_CASE("only choice 0 counts, wherever its number stands") {
    check({
        {"behind the delta",
         {R"({"choices":[{"delta":{"content":"b"},"finish_reason":"length","index":1},)"
          R"({"delta":{"content":"a"},"index":0}]})",
          done},
         "Ta|E|completed"},
        {"by place",
         {R"({"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]})", done},
         "Ta|E|completed"},
        {"calls of another one",
         {R"({"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"x"}}]},"index":2}]})", done},
         "completed"},
    });
}

TEST_CASE("complete messages count where no deltas come") {
    const std::string
        message = R"({"choices":[{"index":0,"message":{"content":"a","tool_calls":[)"
                  R"({"id":"i","function":{"name":"n","arguments":"{}"}},)"
                  R"({"id":"i","function":{"name":"n","arguments":"{}"}}]},"finish_reason":"stop"}]})";
    CHECK(transcript_of({message}) == "Ta|Ci,n|A{}|E|Ci,n|A{}|E|completed");
    CHECK(chat_transcript().body(message).finish() == "Ta|Ci,n|A{}|E|Ci,n|A{}|E|completed");
    CHECK(chat_transcript().stray(message).finish() == "Ta|Ci,n|A{}|E|Ci,n|A{}|E|completed");
    CHECK(transcript_of({chunk(R"("content":"b")"), message}) == "Tb|E|completed");
    CHECK(chat_transcript().body(R"({"choices":[{"message":{"content":"a"}}]})").finish() ==
          "Ta|E|completed");
    CHECK(chat_transcript().body(R"({"error":{"message":"no"}})").finish() == "failed");
    CHECK(chat_transcript().body(R"({"detail":"no"})").finish() == "failed");
    CHECK(chat_transcript().body(R"({"hello":1})").finish() == "malformed");
    CHECK(chat_transcript().body("<html>").finish() == "malformed");
    CHECK(chat_transcript().body(" \n").finish() == "malformed");
}

TEST_CASE("usage is the last statement, wherever it stands (H-16)") {
    const auto usage = [](std::string_view counts) {
        return R"({"choices":[],"usage":{)" + std::string(counts) + "}}";
    };
    check({
        {"own chunk",
         {usage(R"("prompt_tokens":10,"completion_tokens":2,"total_tokens":12)"), done},
         "U0/0/2/12|completed"},
        {"no total", {usage(R"("prompt_tokens":10,"completion_tokens":2)"), done}, "U0/0/2/12|completed"},
        {"thinking outside of completion",
         {usage(R"("prompt_tokens":10,"completion_tokens":2,"total_tokens":50)"), done},
         "U0/0/40/50|completed"},
        {"cached",
         {usage(
              R"("prompt_tokens":10,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":4})"),
          done},
         "U3/4/2/12|completed"},
        {"cached, second place",
         {usage(R"("cached_tokens":5,"prompt_cache_hit_tokens":6,"total_tokens":1)"), done},
         "U6/0/1/1|completed"},
        {"cached, third place", {usage(R"("cached_tokens":5,"total_tokens":1)"), done}, "U5/0/1/1|completed"},
        {"cumulative",
         {usage(R"("total_tokens":1)"), usage(R"("total_tokens":2)"), done},
         "U0/0/2/2|completed"},
        {"empty ones say nothing",
         {usage(R"("total_tokens":1)"), R"({"usage":{}})", R"({"usage":null})", done},
         "U0/0/1/1|completed"},
        {"in the choice",
         {R"({"choices":[{"delta":{},"usage":{"total_tokens":3}}]})", done},
         "U0/0/3/3|completed"},
        {"in x_groq", {R"({"x_groq":{"usage":{"total_tokens":4}}})", done}, "U0/0/4/4|completed"},
        {"negative, broken, floating",
         {usage(R"("prompt_tokens":-5,"completion_tokens":"x","total_tokens":7.9)"), done},
         "U0/0/7/7|completed"},
        {"prompt above total", {usage(R"("prompt_tokens":9,"total_tokens":7)"), done}, "U0/0/0/7|completed"},
    });
    chat_transcript failed;
    failed.event(R"({"error":"x","usage":{"total_tokens":3}})");
    CHECK(failed.finish() == "failed");
    REQUIRE(failed.ending().usage);
    CHECK(failed.ending().usage->total == 3);
}

TEST_CASE("finish reasons are read by the table") {
    const auto read = [](const std::string& reason, bool with_call = false) {
        chat_transcript all;
        if (with_call) all.event(calls(R"({"index":0,"id":"i","function":{"name":"n"}})"));
        if (!reason.empty()) all.event(last_chunk(reason));
        all.event("[DONE]");
        static_cast<void>(all.finish());
        CHECK(all.ending().raw_stop_reason == reason);
        return all.ending().why;
    };
    for (const char* reason : {"stop", "end", "eos", "", "tool_calls", "function_call"})
        CHECK(read(reason) == finish::end);
    for (const char* reason : {"stop", "end", "eos", "", "tool_calls", "something_new"})
        CHECK(read(reason, true) == finish::tool_use);
    for (const char* reason : {"length", "model_length", "model_context_window_exceeded"}) {
        CHECK(read(reason) == finish::length);
        CHECK(read(reason, true) == finish::length);
    }
    for (const char* reason : {"content_filter", "sensitive"})
        CHECK(read(reason, true) == finish::filtered);
    CHECK(read("something_new") == finish::other);
}

TEST_CASE("the last block of an answer that a limit cut is not said to be over") {
    const std::string call = calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"{\"a"}})");
    const std::string second = calls(R"({"index":1,"id":"j","function":{"name":"n","arguments":""}})");
    CHECK(transcript_of({chunk(R"("content":"a")"), last_chunk("stop")}) == "Ta|E|completed");
    CHECK(transcript_of({chunk(R"("content":"a")"), last_chunk("length")}) == "Ta|completed");
    CHECK(transcript_of({chunk(R"("content":"a")"), last_chunk("content_filter")}) == "Ta|completed");
    CHECK(transcript_of({call, last_chunk("length")}) == R"(Ci,n|A{"a|completed)");
    CHECK(transcript_of({call, second, last_chunk("length")}) == R"(Ci,n|A{"a|E|Cj,n|completed)");
}

TEST_CASE("errors in the stream are found in every form") {
    for (const char* event :
         {R"({"error":{"message":"no"}})", R"({"error":"no"})", R"([{"error":{"message":"no"}}])",
          R"({"choices":[{"delta":{"content":""}}],"error":{"message":"no","code":400}})",
          R"({"object":"error","message":"no","code":500})", R"({"x_groq":{"error":"no"}})"}) {
        INFO(event);
        chat_transcript all;
        all.event(chunk(R"("content":"a")")).event(event).event("[DONE]");
        CHECK(all.finish() == "Ta|failed");
        REQUIRE(all.ending().error);
        CHECK(all.ending().error->message == "no");
    }
    for (const char* data : {"no JSON", R"({"message":"no"})", R"({"error":{"message":"no"}})"}) {
        chat_transcript all;
        CHECK(all.event(data, "error").finish() == "failed");
    }
    for (const char* event : {R"({"error":null})", R"({"error":""})", R"({"error":false})"})
        CHECK(transcript_of({event, done}) == "completed");
    CHECK(chat_transcript().stray("{\n\"error\": {\n\"message\": \"no\"\n}\n}\n").finish() == "failed");
    chat_transcript after_end;
    after_end.event(last_chunk("stop"));
    CHECK(after_end.stray(R"({"error":"x"})").finish() == "completed");
}

TEST_CASE("garbage is malformed and quoted") {
    const auto complaint = [](std::string_view event) {
        chat_transcript all;
        CHECK(all.event(event).finish() == "malformed");
        return all.ending().complaint;
    };
    using Catch::Contains;
    CHECK_THAT(complaint("<html>oops"), Contains(R"(it begins with "<html>oops")") && Contains("at byte 0"));
    CHECK_THAT(complaint(R"({"choices":[)"), Contains("ended early"));
    CHECK_THAT(complaint(R"({"choices":[]} {})"), Contains("end of input at byte 15"));
    CHECK_THAT(complaint("[1]"), Contains("no object"));
    CHECK_THAT(complaint("5"), Contains("no object"));
    CHECK_THAT(complaint(R"({"choices":{}})"), Contains(R"("choices" is not an array)"));
    CHECK_THAT(complaint(chunk(R"("content":5)")), Contains(R"("content" is not a string)"));
    CHECK_THAT(complaint(chunk(R"("tool_calls":{})")), Contains("tool_calls"));
    CHECK_THAT(complaint(chunk(R"("content":"\x")")), Contains("escape"));
    CHECK(complaint(std::string(100'000, '<')).size() < 2'000);
}

TEST_CASE("opaque reasoning details are kept whole and in order") {
    const auto details = [](std::string_view list) {
        return chunk(R"("reasoning_details":[)" + std::string(list) + "]");
    };
    check({
        {"text pieces of one index are joined, thinking is taken from them",
         {details(R"({"type":"reasoning.text","text":"a","index":0,"format":"f"})"),
          details(R"({"type":"reasoning.text","text":"b","index":0})"),
          details(R"({"type":"reasoning.text","signature":"S","index":0})"), chunk(R"("content":"c")"), done},
         R"(Hab|F{"model":"m","reasoning_details":[{"type":"reasoning.text","text":"ab","index":0,"format":"f","signature":"S"}]}|Tc|E|completed)"},
        {"never the same text twice",
         {chunk(R"("reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a"}])"), done},
         R"(Ha|F{"model":"m","reasoning_details":[{"type":"reasoning.text","text":"a"}]}|E|completed)"},
        {"encrypted ones are never joined",
         {details(
              R"({"type":"reasoning.encrypted","data":"x","index":0},{"type":"reasoning.encrypted","data":"y","index":0})"),
          calls(R"({"index":0,"id":"i","function":{"name":"n"}})"), done},
         R"(BH|F{"model":"m","reasoning_details":[{"type":"reasoning.encrypted","data":"x","index":0},{"type":"reasoning.encrypted","data":"y","index":0}]}|E|Ci,n|E|completed)"},
        {"a late one stands alone",
         {chunk(R"("content":"c")"), details(R"({"type":"reasoning.text","signature":"S"})"), done},
         R"(Tc|E|BH|F{"model":"m","reasoning_details":[{"type":"reasoning.text","signature":"S"}]}|E|completed)"},
        {"empty", {chunk(R"("content":"c","reasoning_details":[ ])"), done}, "Tc|E|completed"},
    });
}

TEST_CASE("removing any one event never turns an answer into another complete one unnoticed (H-12)") {
    const std::vector<std::string> events = {
        chunk(R"("content":"a")"), calls(R"({"index":0,"id":"i","function":{"name":"n","arguments":"{"}})"),
        calls(R"({"index":0,"function":{"arguments":"}"}})"), last_chunk("tool_calls"), done};
    const auto without_tail = [&](std::size_t kept) {
        return transcript_of({events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kept)});
    };
    const std::string complete = "Ta|Ci,n|A{}|E|completed";
    CHECK(without_tail(5) == complete);
    CHECK(without_tail(4) == complete); // [DONE] is optional
    CHECK(without_tail(3) == "Ta|Ci,n|A{}|unfinished");
    CHECK(without_tail(2) == "Ta|Ci,n|A{|unfinished");
    CHECK(without_tail(1) == "Ta|unfinished");
    CHECK(without_tail(0) == "unfinished");
    CHECK(transcript_of({events[0], events[1], events[2], done}) == complete); // so is the reason
}

TEST_CASE("unknown events and members change nothing, wherever they stand (H-13)") {
    const std::vector<std::string> events = {chunk(R"("content":"a")"),
                                             calls(R"({"index":0,"id":"i","function":{"name":"n"}})"),
                                             last_chunk("stop"), done};
    const std::string expected = transcript_of(events);
    const std::vector<std::pair<std::string, std::string>> unknown = {
        {"", R"({"type":"ping"})"},
        {"", "{}"},
        {"", ""},
        {"ping", "not JSON"},
        {"ping", "[1]"},
        {"", R"({"choices":null})"},
        {"", R"({"choices":[{"index":0,"delta":{"audio":{"data":"x"},"content":null},"logprobs":{}}]})"}};
    for (const auto& [type, data] : unknown) {
        for (std::size_t at = 0; at <= events.size(); ++at) {
            INFO(type << ' ' << data << " at " << at);
            chat_transcript all;
            for (std::size_t i = 0; i < at; ++i)
                all.event(events[i]);
            all.event(data, type);
            for (std::size_t i = at; i < events.size(); ++i)
                all.event(events[i]);
            CHECK(all.finish() == expected);
        }
    }
}

TEST_CASE("a short delta costs no allocation") {
    const std::string text = chunk(R"("content":"some words")") + std::string(sse_parser::padding, ' ');
    const std::string_view payload(text.data(), text.size() - sse_parser::padding);
    providers::chat_decoder decoder;
    std::vector<delta> deltas;
    for (int i = 0; i < 2; ++i) {
        decoder.event(payload, {}, deltas);
        deltas.clear();
    }
    const auto before = allocation_count();
    for (int i = 0; i < 1000; ++i) {
        decoder.event(payload, {}, deltas);
        deltas.clear();
    }
    CHECK(allocation_count() == before);
}
