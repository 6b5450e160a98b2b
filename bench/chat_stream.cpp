// SPDX-License-Identifier: BSL-1.0

#include "chat_stream.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>

namespace thalweg::bench {
namespace {

constexpr std::size_t padding = 64;

std::uint64_t count_events(std::string_view bytes) {
    std::uint64_t events = 0;
    for (std::size_t at = bytes.find("data:"); at != std::string_view::npos; at = bytes.find("data:", at + 5))
        if (at == 0 || bytes[at - 1] == '\n') ++events;
    return events;
}

chat_stream finished(std::string name, std::string bytes) {
    bytes.reserve(bytes.size() + padding);
    const std::uint64_t events = count_events(bytes);
    return {.name = std::move(name), .bytes = std::move(bytes), .events = events};
}

// One answer after the other; the same bytes on every run.
class answer_writer {
public:
    void answer(std::string& out) {
        const unsigned pieces = 200 + pick(400);
        choice(out, R"("role":"assistant","content":"","refusal":null)", "null");
        for (unsigned piece = 0; piece < pieces / 10; ++piece)
            choice(out, R"("reasoning_content":")" + word() + '"', "null");
        for (unsigned piece = 0; piece < pieces; ++piece)
            choice(out, R"("content":")" + word() + '"', "null");
        choice(out,
               R"("tool_calls":[{"index":0,"id":"call_h3Yk20","type":"function",)"
               R"("function":{"name":"forecast","arguments":""}}])",
               "null");
        for (const char* part : {R"({\")", "city", R"(\":\")", "Oslo", R"(\"})"})
            choice(out,
                   std::string(R"("tool_calls":[{"index":0,"function":{"arguments":")") + part + R"("}}])",
                   "null");
        choice(out, "", R"("tool_calls")");
        usage(out, pieces);
    }

private:
    unsigned pick(unsigned below) { return std::uniform_int_distribution<unsigned>(0, below - 1)(random_); }

    std::string word() {
        static constexpr const char* rare[] = {R"(\n\n)", R"( \"so\")", " fjärd", " 河流", R"(\u2014)"};
        if (pick(20) == 0) return rare[pick(std::size(rare))];
        std::string letters = " ";
        for (unsigned left = 1 + pick(11); left > 0; --left)
            letters += static_cast<char>('a' + pick(26));
        return letters;
    }

    void head(std::string& out) {
        out += R"(data: {"id":"chatcmpl-8kQm2Zr0VtYxN4cJp7LwDhEaUfGs","object":"chat.completion.chunk",)"
               R"("created":1764500000,"model":"gpt-5-mini-2025-08-07","service_tier":"default",)"
               R"("system_fingerprint":"fp_1d40c1ae7b","choices":[)";
    }

    void choice(std::string& out, const std::string& delta, const char* finish) {
        head(out);
        out += R"({"index":0,"delta":{)" + delta + R"(},"logprobs":null,"finish_reason":)" + finish + "}]";
        out += R"(,"usage":null,"obfuscation":")" + std::string(1 + pick(24), 'x') + "\"}\n\n";
    }

    void usage(std::string& out, unsigned pieces) {
        head(out);
        out += R"(],"usage":{"prompt_tokens":812,"completion_tokens":)" + std::to_string(pieces) +
               R"(,"total_tokens":)" + std::to_string(812 + pieces) +
               R"(,"prompt_tokens_details":{"cached_tokens":512,"audio_tokens":0},)"
               R"("completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}})"
               "\n\n";
    }

    std::mt19937 random_{20};
};

[[noreturn]] void refuse(const std::string& path, const char* why) {
    std::fprintf(stderr, "bench-decode: %s: %s\n", path.c_str(), why);
    std::exit(2);
}

// A file with one JSON chunk per line becomes the body that a server would send.
std::string framed(std::string_view lines) {
    std::string body;
    while (!lines.empty()) {
        const std::size_t end = lines.find('\n');
        const std::string_view line = lines.substr(0, end);
        if (!line.empty()) body.append("data: ").append(line).append("\n\n");
        lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
    }
    return body;
}

// The end marker would end the decoding; it is added once, behind everything.
std::string without_end_marker(std::string body) {
    constexpr std::string_view marker = "data: [DONE]";
    if (const std::size_t at = body.find(marker); at != std::string::npos) body.erase(at);
    return body;
}

constexpr std::string_view end_marker = "data: [DONE]\n\n";

} // namespace

chat_stream synthetic_chat_stream(std::size_t size) {
    answer_writer writer;
    std::string bytes;
    while (bytes.size() < size)
        writer.answer(bytes);
    bytes += end_marker;
    return finished("synthetic", std::move(bytes));
}

chat_stream recorded_chat_stream(const std::string& path, std::size_t size) {
    std::ifstream file(path, std::ios::binary);
    std::string body((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file || body.empty()) refuse(path, "cannot be read or is empty");
    body = without_end_marker(body.front() == '{' ? framed(body) : std::move(body));
    if (count_events(body) == 0) refuse(path, "has no events");
    std::string bytes;
    while (bytes.size() < size)
        bytes += body;
    bytes += end_marker;
    return finished(path.substr(path.rfind('/') + 1), std::move(bytes));
}

} // namespace thalweg::bench
