// SPDX-License-Identifier: BSL-1.0

#include "simulation/world.hpp"

#include <thalweg/testing/context_checker.hpp>

#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace thalweg::simulation {

namespace {

/// Often nothing, sometimes a little, rarely much: so that no trouble hides another.
unsigned draw_percent(testing::seed& draw) {
    switch (draw.below(5)) {
    case 0: return 10;
    case 1: return 35;
    case 2: return 70;
    default: return 0;
    }
}

} // namespace

temper draw_temper(testing::seed& draw) {
    temper t;
    t.model_trouble = draw_percent(draw);
    t.tool_trouble = draw_percent(draw);
    t.calls = 20 + 60 * static_cast<unsigned>(draw.below(2));
    t.refusals = draw_percent(draw);
    t.approver_trouble = draw_percent(draw) / 2;
    t.children = draw.chance(30) ? 30 : 0;
    t.trace_trouble = draw.chance(20) ? 20 : 0;
    t.bad_summaries = draw_percent(draw);
    t.gestures = draw.chance(60) ? draw.between(1, 4) : 0;
    t.drops = draw.chance(15) ? 40 : 0;
    t.crashes = draw.chance(30) ? 50 : 0;
    t.detaches = draw.chance(15) ? 50 : 0;
    if (draw.chance(15)) t.max_turns = static_cast<int>(draw.between(1, 3));
    if (draw.chance(45)) {
        auto& c = t.compaction.emplace();
        c.prompt = summary_prompt;
        if (draw.chance(60)) c.max_session_turns = static_cast<int>(draw.between(1, 4));
        if (draw.chance(40)) c.max_context_length = static_cast<std::int64_t>(draw.between(3, 30)) * 100;
        if (draw.chance(20)) c.mode = compaction_mode::discard;
        c.forward_summary = draw.chance(20);
        if (draw.chance(50)) c.most = static_cast<int>(draw.below(3));
    }
    return t;
}

world::world(std::uint64_t from, mutant active, coverage& table)
    : loop(from ^ 0x5eed),
      draw(from),
      mutate(active, testing::seed(from ^ 0xfa17)),
      mood(draw_temper(draw)),
      table_(&table) {}

world::~world() = default;

void world::complain(std::string sentence) {
    if (complaints.size() < 8)
        complaints.push_back(std::to_string(now().count()) + " ms: " + std::move(sentence));
}

void world::count(incident what) {
    if (std::getenv("SIMULATE_TRACE") != nullptr)
        std::fprintf(stderr, "%lld ms: %s\n", static_cast<long long>(now().count()),
                     std::string(to_string(what)).c_str());
    table_->count(root != nullptr ? root->view.phase_now() : phase::idle, what);
}

void world::on_execution(const std::string& owner, const text& call_id) {
    const std::string key = owner + '/' + call_id.str();
    if (!executed.insert(key).second) complain("the call " + key + " was executed twice");
    if (!allowed.contains(key)) complain("the call " + key + " was executed without being allowed");
}

void world::on_question(const std::string& owner, const text& call_id) {
    const std::string key = owner + '/' + call_id.str();
    if (!asked.insert(key).second) complain("the approver was asked twice about " + key);
}

sim_sink::trouble world::next_trace_trouble() {
    using trouble = sim_sink::trouble;
    if (is_calm || !draw.chance(mood.trace_trouble)) return trouble::none;
    switch (draw.below(12)) {
    case 0:
        count(incident::trace_deaf);
        has_deaf_trace = true;
        return trouble::deaf;
    case 1:
    case 2:
    case 3: count(incident::trace_fails); return trouble::fails;
    default: count(incident::trace_slow); return trouble::slow;
    }
}

/// A session below, with a trace of its own.
struct world::child {
    child(world& in, std::string id)
        : sink([&in] { return in.next_trace_trouble(); }, in.mutate), inner(in, std::move(id), sink, false) {}
    sim_sink sink;
    node inner;
};

node& world::new_child() {
    children_.push_back(std::make_unique<child>(*this, "child-" + std::to_string(children_.size() + 1)));
    return children_.back()->inner;
}

void world::settle_children() {
    for (const auto& each : children_) {
        if (!each->inner.chat.is_running()) each->inner.settle();
        if (!each->sink.has_lost()) {
            const std::string faults = check_files(each->sink.files());
            if (!faults.empty()) complain(each->inner.id + ": " + faults);
        }
    }
}

node::node(world& in_world, std::string name, sim_sink& records, bool root)
    : in(in_world),
      id(std::move(name)),
      sink(records),
      is_root(root),
      books([this](std::string s) { in.complain(id + ": " + std::move(s)); }),
      view(records, [this](std::string s) { in.complain(id + ": " + std::move(s)); }),
      chat(std::ref(model), std::ref(tools), options()) {}

session_options node::options() {
    session_options o;
    o.trace = &sink;
    o.max_turns = in.mood.max_turns;
    o.retry.most = 2;
    o.retry.fail_fast = in.draw.chance(20);
    o.tools.timeout = milliseconds(in.draw.chance(30) ? 1'500 : 60'000);
    o.tools.max_output = 4'000;
    o.start_on_entry = in.draw.chance(30);
    o.interrupt_grace = grace;
    o.max_depth = 2;
    o.compaction = in.mood.compaction;
    if (o.compaction && in.draw.chance(15)) {
        o.compaction->summarize_with = [this](std::span<const message> context,
                                              std::span<const message> owed) {
            return sum_up(context, owed);
        };
    }
    auto& meta = o.meta.emplace();
    meta.session_id = text(id);
    meta.provider = "simulated";
    meta.model_id = "simulated";
    return o;
}

task<result<std::string>> node::sum_up(std::span<const message> context, std::span<const message> owed) {
    books.on_summarizer(context, owed);
    if (!in.is_calm && in.draw.chance(in.mood.bad_summaries)) {
        in.count(incident::summary_bad);
        co_return failure(std::make_error_code(std::errc::io_error), "no summary today");
    }
    co_return std::string("all of it");
}

void node::on_request(model_request& request) {
    ++requests;
    seen_history.assign(request.history().begin(), request.history().end());
    seen_input.assign(request.input().begin(), request.input().end());
    mutate_context(in.mutate, seen_history, seen_input, last_failed);
    const std::string fault = testing::context_fault(seen_history, seen_input);
    if (!fault.empty()) in.complain(id + ": context: " + fault);
    books.on_request(chat.context_number(), seen_history, seen_input);
    if (last_failed && !last_executed.empty() && in.mutate.strikes(mutant::tool_rerun_on_retry))
        in.on_execution(id, text(last_executed));
    last_failed = true; // until it completes
    last_executed.clear();
}

void node::on_message(const message& m) {
    if (!is_root) return see(m);
    for (const message& each : garble_.take(m))
        see(each);
}

void node::on_end(const run_outcome* outcome) {
    for (const message& each : garble_.finish())
        see(each);
    view.on_end(outcome, is_root);
}

/// What is shown to have been taken has to reach the model.
void node::see(const message& m) {
    view.on_message(m, is_root);
    if (m.origin().size() != (is_root ? 0 : 1) || !m.is_complete() || m.role() != role::user) return;
    std::vector<mark> marks;
    find_marks(m.content(), marks);
    for (const mark each : marks) {
        if (unwanted.contains(each))
            in.complain(id + ": " + spell(each) + " is shown, but was not to be taken");
        const bool is_said = unsaid.erase(each) + steered.erase(each) > 0;
        if (m.kind() == kind::text && !is_said) in.complain(id + ": " + spell(each) + " is shown again");
        books.expect(each);
    }
}

void node::settle() {
    requests = 0;
    last_failed = false;
    books.settle(chat.context_number(), chat.context(), chat.carry_over(), unsaid);
}

} // namespace thalweg::simulation
