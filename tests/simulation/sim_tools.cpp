// SPDX-License-Identifier: BSL-1.0

#include "simulation/world.hpp"

#include <thalweg/async/sleep.hpp>

#include <stdexcept>

namespace thalweg::simulation {

using namespace std::chrono_literals;

std::vector<tool_definition> sim_tools::tools() const {
    const text any(R"({"type":"object"})");
    std::vector<tool_definition> list;
    for (const char* name : {"work", "flood", "child"})
        list.push_back({text(name), text("simulated"), any});
    return list;
}

stream<chunk, tool_result> sim_tools::execute(tool_call call, tool_context around) {
    of_->in.on_execution(of_->id, call.id());
    of_->last_executed = call.id().str();
    if (call.name() == "child" && of_->in.draw.chance(of_->in.mood.children)) return run_child(*of_, around);
    return work(*of_, call.name() == "flood");
}

stream<chunk, tool_result> sim_tools::work(node& of, bool floods) {
    world& in = of.in;
    testing::seed& draw = in.draw;
    const std::size_t steps = draw.below(4);
    const bool has_trouble = !in.is_calm && draw.chance(in.mood.tool_trouble);
    const std::size_t breaks_at = has_trouble ? draw.below(steps + 1) : steps + 1;
    const mark own = in.new_mark();
    if (draw.chance(70)) co_yield chunk::text(text(spell(own)));
    for (std::size_t step = 0; step <= steps; ++step) {
        if (draw.chance(50)) {
            const bool whole = co_await sleep_for(milliseconds(draw.below(1'000)));
            if (!whole && draw.chance(80)) co_return tool_result::aborted();
        }
        if (step == breaks_at) {
            switch (draw.below(6)) {
            case 0: in.count(incident::tool_throws); throw std::runtime_error("simulated");
            case 1: in.count(incident::tool_throws); throw environment_failure("simulated");
            case 2:
                in.count(incident::tool_hangs);
                co_await stop_requested();
                co_await sleep_through(milliseconds(draw.below(1'000)));
                co_return tool_result::aborted();
            case 3:
                in.count(incident::tool_deaf);
                co_await sleep_through(24h);
                break;
            default: in.count(incident::tool_fails); co_return tool_result::failed("simulated");
            }
        }
        if (floods) {
            for (int i = 0; i < 70; ++i) // more than a producer's budget
                co_yield chunk::text(text("drop "));
        }
        if (draw.chance(20)) co_yield chunk::progress(text("on the way"));
        if (draw.chance(60)) co_yield chunk::text(text("piece "));
    }
    if (draw.chance(10)) {
        std::vector<text> images;
        images.emplace_back("data:image/png;base64,AA==");
        tool_result with = tool_result::completed().with_images(std::move(images));
        co_return std::move(with);
    }
    co_return tool_result::completed();
}

stream<chunk, tool_result> sim_tools::run_child(node& of, tool_context around) {
    world& in = of.in;
    in.count(incident::child_begins);
    node& below = in.new_child();
    const mark own = in.new_mark();
    below.books.expect(own);
    if (around.depth() >= around.max_depth()) below.books.excuse(own);
    auto run = below.chat.run_under(around, text(spell(own)));
    std::size_t seen = 0;
    while (chunk* piece = co_await run.peek()) {
        if (piece->kind() == chunk::type::forwarded && piece->forwarded().origin().size() == 1) {
            ++seen; // the first two are its head and its prompt
            if (seen > 2) below.on_message(piece->forwarded());
        }
        co_yield std::move(*piece);
    }
    below.on_end(nullptr);
    co_return std::move(run.result());
}

task<decision> sim_approver::operator()(const tool_call& call) {
    world& in = *in_;
    const std::string owner = call.origin().empty() ? "root" : call.origin().back().str();
    const text id = call.id();
    in.on_question(owner, id);
    struct open {
        explicit open(world& w) : in(w) { mark_open(true); }
        open(const open&) = delete;
        ~open() { mark_open(false); }
        void mark_open(bool yes) {
            if (in.root != nullptr) in.root->view.approval_open(yes);
        }
        world& in;
    } const now(in);
    if (in.draw.chance(30)) {
        const bool whole = co_await sleep_for(milliseconds(in.draw.below(800)));
        if (!whole && in.draw.chance(50)) co_return decision::deny;
    }
    if (!in.is_calm && in.draw.chance(in.mood.approver_trouble)) {
        switch (in.draw.below(3)) {
        case 0: in.count(incident::approver_throws); throw std::runtime_error("simulated");
        case 1:
            in.count(incident::approver_hangs);
            co_await stop_requested();
            co_return decision::allow; // too late
        default:
            in.count(incident::approver_deaf);
            co_await sleep_through(24h);
            break;
        }
    }
    if (!in.is_calm && in.draw.chance(in.mood.refusals)) {
        in.count(incident::denied);
        if (in.mutate.strikes(mutant::denied_tool_runs)) in.on_execution(owner, id);
        co_return in.draw.chance(70) ? decision::deny : decision::forbidden;
    }
    in.allowed.insert(owner + '/' + id.str());
    co_return decision::allow;
}

} // namespace thalweg::simulation
