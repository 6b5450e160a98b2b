// SPDX-License-Identifier: BSL-1.0

#include "simulation/world.hpp"

#include <thalweg/async/sleep.hpp>

#include <stdexcept>

namespace thalweg::simulation {

using namespace std::chrono_literals;

namespace {

// Short words, so that many are stored without an allocation.
constexpr std::string_view words[] = {"so ", "then ", "water ", "runs ", "down ", "[text]", "\n", "é "};
constexpr std::string_view tool_names[] = {"work", "work", "work", "flood", "child", "nobody"};

text some_word(testing::seed& draw) {
    return text(words[draw.below(std::size(words))]);
}

delta some_call(testing::seed& draw) {
    text id; // sometimes none, sometimes one that was there before (H-07)
    if (draw.chance(90)) id = text("c" + std::to_string(draw.below(6)));
    return delta::call(std::move(id), text(tool_names[draw.below(std::size(tool_names))]));
}

/// How an answer that does not complete ends.
enum class trouble : std::uint8_t { none, fails, throws, hangs, deaf };

trouble draw_trouble(world& in) {
    if (in.is_calm || !in.draw.chance(in.mood.model_trouble)) return trouble::none;
    switch (in.draw.below(10)) {
    case 0: in.count(incident::model_throws); return trouble::throws;
    case 1: in.count(incident::model_hangs); return trouble::hangs;
    case 2: in.count(incident::model_deaf); return trouble::deaf;
    default: in.count(incident::model_fails); return trouble::fails;
    }
}

model_outcome draw_failure(testing::seed& draw) {
    model_outcome how = model_outcome::failed("simulated");
    switch (draw.below(6)) {
    case 0: how = model_outcome::timeout("simulated"); break;
    case 1: how = model_outcome::malformed("simulated"); break;
    case 2:
        if (draw.chance(30)) how = model_outcome::auth("simulated");
        break;
    case 3: how = model_outcome::failed("simulated").permanent(); break;
    case 4: how = model_outcome::failed("simulated").with_wait(draw.between(1, 60) * 1s); break;
    default: break;
    }
    if (draw.chance(20)) how = std::move(how).with_usage({.output = 3, .total = 7});
    return how;
}

token_counts draw_usage(testing::seed& draw, std::size_t size) {
    const auto total = static_cast<std::int64_t>(size * 100 + draw.below(50));
    return {.cache_read = total / 2, .output = 10, .total = total};
}

bool is_call_left(const node& of) {
    return of.requests < 4 && of.in.draw.chance(of.in.is_calm ? 20 : of.in.mood.calls);
}

} // namespace

stream<delta, model_outcome> sim_model::generate(model_request request) {
    of_->on_request(request);
    const bool is_summary = request.last_text() == summary_prompt;
    return play(*of_, is_summary, request.history().size() + request.input().size());
}

stream<delta, model_outcome> sim_model::play(node& of, bool is_summary, std::size_t size) {
    world& in = of.in;
    testing::seed& draw = in.draw;
    const trouble what = draw_trouble(in);
    const std::size_t steps = draw.below(4);
    const std::size_t breaks_at = what == trouble::none ? steps + 1 : draw.below(steps + 1);
    const bool is_slow = draw.chance(50);
    bool has_calls = false;
    for (std::size_t step = 0; step <= steps; ++step) {
        if (is_slow) {
            const bool whole = co_await sleep_for(milliseconds(draw.below(400)));
            if (!whole && draw.chance(80)) co_return model_outcome::aborted();
        }
        if (step == breaks_at) {
            if (what == trouble::throws) throw std::runtime_error("simulated");
            if (what == trouble::hangs) {
                co_await stop_requested();
                co_return model_outcome::aborted();
            }
            if (what == trouble::deaf) co_await sleep_through(24h);
            model_outcome failed = draw_failure(draw);
            co_return std::move(failed);
        }
        if (is_summary) break;
        const bool calls = is_call_left(of);
        if (calls) {
            has_calls = true;
            co_yield some_call(draw);
            if (!in.is_calm && draw.chance(5))
                co_yield delta::arguments(text("[1]"));
            else
                co_yield delta::arguments(text("{\"q\":"));
            if (in.is_calm || draw.chance(95)) co_yield delta::arguments(text("1}"));
            if (draw.chance(80)) co_yield delta::end();
            continue;
        }
        const bool thinks = draw.chance(30);
        for (std::size_t pieces = draw.between(1, 4); pieces > 0; --pieces) {
            if (thinks)
                co_yield delta::thinking(some_word(draw));
            else
                co_yield delta::text(some_word(draw));
        }
        if (draw.chance(50)) co_yield delta::end();
    }
    if (is_summary) {
        const bool is_bad = !in.is_calm && draw.chance(in.mood.bad_summaries);
        const std::size_t how = is_bad ? draw.between(1, 2) : 0;
        if (is_bad) in.count(incident::summary_bad);
        if (how == 0) co_yield delta::text(text("[summary]all of it[/summary]"));
        if (how == 1) co_yield delta::text(text("  "));
        if (how == 2) {
            co_yield delta::call(text("c1"), text("work"));
            co_yield delta::arguments(text("{}"));
        }
    }
    if (draw.chance(90)) co_yield delta::usage(draw_usage(draw, size));
    of.last_failed = false;
    co_return model_outcome::completed(has_calls ? finish::tool_use : finish::end);
}

} // namespace thalweg::simulation
