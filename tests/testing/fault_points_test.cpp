// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/cancel.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/fault_points.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <map>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

struct played {
    std::vector<message> seen;
    std::size_t executions = 0;
    run_outcome::end how = run_outcome::end::busy;
    std::chrono::milliseconds took{0};
};

task<void> stop_later(cancel_source& stop) {
    co_await sleep_for(1min);
    stop.request(cancel_reason::user);
}

task<played> play_case(fault_plan& plan) {
    const context here = co_await this_coroutine();
    const auto begin = here.loop().now();
    scripted_model model{answer().text("a ", "b ").call("c", "t"), answer().text("done"),
                         answer().text("more"), answer().text("and more")};
    scripted_tools tools{{"t", tool_script().output("one").output("two")}};
    faulty_provider faulty_model(std::ref(model), plan);
    faulty_environment faulty_tools(std::ref(tools), plan);
    faulty_approver asks(allow_all, plan);
    trace::memory_sink kept;
    faulty_sink records(kept, plan);
    session_options options;
    options.trace = &records;
    session chat(std::ref(faulty_model), std::ref(faulty_tools), std::move(options));
    cancel_source stop;
    const context under(here.loop(), stop);
    scope clock(here);
    clock.spawn(stop_later(stop));
    run_options how;
    how.approve = std::ref(asks);
    auto run = chat.run("go", how);
    played result;
    while (auto m = co_await run.next_under(under))
        result.seen.push_back(std::move(*m));
    result.executions = tools.executed().size();
    result.how = run.result().how();
    result.took = std::chrono::duration_cast<std::chrono::milliseconds>(here.loop().now() - begin);
    clock.drop();
    co_return std::move(result);
}

played play_alone(fault_plan& plan) {
    virtual_loop on;
    return on.run(play_case(plan));
}

} // namespace

TEST_CASE("a plan strikes at its pass and counts all of them") {
    fault_plan plan;
    plan.at(fault_point::tool_chunk, 2, fault_action::hang);
    CHECK(plan.pass(fault_point::tool_chunk) == fault_action::none);
    CHECK(plan.pass(fault_point::model_delta) == fault_action::none);
    CHECK(plan.pass(fault_point::tool_chunk) == fault_action::hang);
    CHECK(plan.pass(fault_point::tool_chunk) == fault_action::none);
    CHECK(plan.passes(fault_point::tool_chunk) == 3);
    CHECK(describe({fault_point::tool_chunk, 2, fault_action::hang}) == "hang at tool_chunk 2");
}

TEST_CASE("without a fault the decorators change nothing, and every point is passed") {
    fault_plan plan;
    const played all = play_alone(plan);
    CHECK(all.how == run_outcome::end::answered);
    CHECK(all.executions == 1);
    const std::map<fault_point, std::size_t> least{
        {fault_point::model_begin, 2}, {fault_point::model_delta, 5}, {fault_point::model_outcome, 2},
        {fault_point::tool_begin, 1},  {fault_point::tool_chunk, 2},  {fault_point::tool_result, 1},
        {fault_point::approval, 1},    {fault_point::trace_write, 2},
    };
    for (const auto& [point, count] : least) {
        INFO(to_string(point));
        CHECK(plan.passes(point) >= count);
    }
}

TEST_CASE("whatever fails, hangs or is deaf at any point, a run stays in order and ends in time") {
    const std::size_t plays = sweep([&](fault_plan& plan, const planned_fault& fault) {
        INFO(describe(fault));
        const played result = play_alone(plan);
        stream_checker checker;
        for (const message& m : result.seen)
            checker.feed(m);
        checker.finish();
        CHECK(checker.report() == "");
        for (const std::string& sentence : take_complaints())
            CHECK(sentence == "");
        CHECK(result.executions <= 1);
        // Asked to stop after a minute; model and tools have the grace, then the trace has.
        CHECK(result.took <= 1min + 4s);
        const bool is_trace = fault.point == fault_point::trace_write; // it may be the last one that waits
        if (result.took >= 1min && !is_trace) CHECK(result.how == run_outcome::end::interrupted);
    });
    CHECK(plays > 50);
}
