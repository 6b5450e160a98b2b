// SPDX-License-Identifier: BSL-1.0

// Any bytes, cut in any way, must give what the same bytes give in one read. The first four input bytes
// choose the cuts, the limits and how the body ends; the rest is the body.

#include "net/sse_transcript.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

struct plan {
    std::uint8_t seed;
    thalweg::sse_limits limits;
    thalweg::body_end end;
};

plan read_plan(const std::uint8_t* input) {
    const bool tight = (input[1] & 1U) != 0;
    return {.seed = input[0],
            .limits = tight ? thalweg::sse_limits{.line = input[2], .event = input[3], .stray = input[2]}
                            : thalweg::sse_limits{},
            .end = (input[1] & 2U) != 0 ? thalweg::body_end::broken : thalweg::body_end::clean};
}

std::string in_random_pieces(std::string_view body, const plan& how) {
    thalweg::testing::sse_transcript result{how.limits};
    std::uint32_t state = how.seed * 2654435761U + 1;
    while (!body.empty()) {
        state = state * 1664525U + 1013904223U;
        const auto piece = body.substr(0, state >> 28U);
        result.feed(piece);
        body.remove_prefix(piece.size());
    }
    return result.finish(how.end);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    if (size < 4) return 0;
    const auto how = read_plan(input);
    const std::string_view body{reinterpret_cast<const char*>(input) + 4, size - 4};
    const auto whole = thalweg::testing::transcript(body, body.size() + 1, how.end, how.limits);
    if (thalweg::testing::transcript(body, 1, how.end, how.limits) != whole) std::abort();
    if (in_random_pieces(body, how) != whole) std::abort();
    return 0;
}
