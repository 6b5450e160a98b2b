// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/scripted.hpp>

#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <string>

namespace thalweg::providers {

using std::chrono::milliseconds;

scripted_answer scripted_answer::add(step s) && {
    steps_.push_back(std::move(s));
    return std::move(*this);
}

scripted_answer scripted_answer::wait(milliseconds d) && {
    step s(step_type::wait);
    s.time = d;
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::text_pieces(std::vector<thalweg::text> pieces) && {
    step s(step_type::text);
    s.pieces = std::move(pieces);
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::thinking_pieces(std::vector<thalweg::text> pieces) && {
    step s(step_type::thinking);
    s.pieces = std::move(pieces);
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::call_pieces(thalweg::text id, thalweg::text tool,
                                             std::vector<thalweg::text> arguments) && {
    step s(step_type::call);
    s.id = std::move(id);
    s.name = std::move(tool);
    s.pieces = std::move(arguments);
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::call(thalweg::text id, thalweg::text tool, thalweg::text arguments) && {
    std::vector<thalweg::text> pieces;
    pieces.push_back(std::move(arguments));
    return std::move(*this).call_pieces(std::move(id), std::move(tool), std::move(pieces));
}

scripted_answer scripted_answer::with_gap(milliseconds between_pieces) && {
    steps_.back().time = between_pieces;
    return std::move(*this);
}

scripted_answer scripted_answer::with_fidelity(thalweg::text json_object) && {
    steps_.back().fidelity = std::move(json_object);
    return std::move(*this);
}

scripted_answer scripted_answer::left_open() && {
    steps_.back().open = true;
    return std::move(*this);
}

scripted_answer scripted_answer::usage(token_counts counts) && {
    step s(step_type::usage);
    s.counts = counts;
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::whole(message m) && {
    step s(step_type::whole);
    s.carried = std::move(m);
    return std::move(*this).add(std::move(s));
}

scripted_answer scripted_answer::hang() && {
    return std::move(*this).add(step(step_type::hang));
}

scripted_answer scripted_answer::deaf() && {
    return std::move(*this).add(step(step_type::deaf));
}

scripted_answer scripted_answer::ends(model_outcome outcome) && {
    outcome_ = std::move(outcome);
    return std::move(*this);
}

stream<delta, model_outcome> scripted::generate(model_request request) {
    seen_request seen;
    seen.history.assign(request.history().begin(), request.history().end());
    seen.input.assign(request.input().begin(), request.input().end());
    seen.tools.assign(request.tools().begin(), request.tools().end());
    seen.system = request.system();
    seen.thinking_level = request.thinking_level();
    seen.response_schema = request.response_schema();
    seen_.push_back(std::move(seen));
    if (script_.empty()) {
        script_.push_back(
            answer().ends(model_outcome::failed("the script has no answer left for request " +
                                                std::to_string(seen_.size()) + "; add one with answer()")));
    }
    scripted_answer next = std::move(script_.front());
    script_.pop_front();
    return play(std::move(next));
}

stream<delta, model_outcome> scripted::play(scripted_answer script) {
    using type = scripted_answer::step_type;
    const context here = co_await this_coroutine();
    if (here.stop_requested()) co_return model_outcome::aborted();
    bool called = false;
    for (scripted_answer::step& step : script.steps_) {
        if (step.type == type::usage) {
            co_yield delta::usage(step.counts);
            continue;
        }
        if (here.stop_requested()) co_return model_outcome::aborted();
        switch (step.type) {
        case type::wait: {
            const bool waited = co_await sleep_for(step.time);
            if (!waited) co_return model_outcome::aborted();
            break;
        }
        case type::hang: co_await stop_requested(); co_return model_outcome::aborted();
        case type::deaf: co_await sleep_through(std::chrono::hours(24 * 365)); break;
        case type::whole: co_yield delta::whole(std::move(*step.carried)); break;
        case type::text: co_yield delta::begin_text(); break;
        case type::thinking: co_yield delta::begin_thinking(); break;
        case type::call:
            called = true;
            co_yield delta::call(step.id, step.name);
            break;
        case type::usage: break;
        }
        bool first = true;
        for (text& piece : step.pieces) {
            if (!std::exchange(first, false) && step.time > milliseconds::zero())
                co_await sleep_for(step.time);
            if (here.stop_requested()) co_return model_outcome::aborted();
            if (step.type == type::text) {
                co_yield delta::text(std::move(piece));
            } else if (step.type == type::thinking) {
                co_yield delta::thinking(std::move(piece));
            } else {
                co_yield delta::arguments(std::move(piece));
            }
        }
        if (!step.fidelity.empty()) co_yield delta::fidelity(step.fidelity);
        const bool block = step.type == type::text || step.type == type::thinking || step.type == type::call;
        if (block && !step.open) co_yield delta::end();
    }
    if (script.outcome_) co_return std::move(*script.outcome_);
    co_return model_outcome::completed(called ? finish::tool_use : finish::end);
}

scripted greeting_model() {
    return scripted(answer()
                        .text("Hello! ", "I am ", "a script ", "and not a model; ",
                              "give me --base-url or a key ", "to talk to one.")
                        .with_gap(milliseconds(40))
                        .usage({.cache_read = 0, .cache_write = 8, .output = 22, .total = 30}));
}

scripted demo_model() {
    const milliseconds word{60};
    return scripted(answer()
                        .wait(milliseconds(300))
                        .thinking("The weather takes a while; ", "I can roll the dice ", "meanwhile.")
                        .with_gap(word * 3)
                        .text("Let me ", "look ", "at the sky, ", "roll the dice, ", "and tidy up.")
                        .with_gap(word)
                        .call_pieces("call_A", "forecast", {R"({"city":)", R"("Oslo",)", R"("days":4})"})
                        .with_gap(word)
                        .wait(milliseconds(200))
                        .call("call_B", "roll_dice", R"({"sides":6})")
                        .wait(milliseconds(100))
                        .call("call_C", "delete_everything")
                        .wait(milliseconds(100))
                        .usage({.cache_read = 0, .cache_write = 412, .output = 96, .total = 508}),
                    answer()
                        .wait(milliseconds(300))
                        .text("Oslo ", "stays ", "mostly dry, ", "the dice ", "have spoken, ", "and nothing ",
                              "was deleted.")
                        .with_gap(word)
                        .usage({.cache_read = 412, .cache_write = 181, .output = 21, .total = 614}));
}

} // namespace thalweg::providers
