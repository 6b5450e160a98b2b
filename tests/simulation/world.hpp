// SPDX-License-Identifier: BSL-1.0

#pragma once

// One simulated scenario: a loop, a seed that decides everything, and the sessions in it. All parts of it are
// drawn while it runs; the loop is deterministic, so the same seed gives the same scenario.

#include "simulation/ledger.hpp"
#include "simulation/sim_sink.hpp"
#include "simulation/watch.hpp"

#include <thalweg/engine/session.hpp>
#include <thalweg/testing/seeded_loop.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace thalweg::simulation {

using std::chrono::milliseconds;

/// How a scenario tends to go, drawn once; percent where nothing else is said.
struct temper {
    unsigned model_trouble = 0; ///< of answers that do not complete
    unsigned tool_trouble = 0;
    unsigned calls = 50;
    unsigned refusals = 0;
    unsigned approver_trouble = 0;
    unsigned children = 0; ///< of calls
    unsigned trace_trouble = 0;
    unsigned bad_summaries = 0;
    std::size_t gestures = 0; ///< at most, in a run
    unsigned drops = 0;       ///< of runs
    unsigned crashes = 0;     ///< of runs
    unsigned detaches = 0;    ///< of runs
    std::optional<compaction_settings> compaction;
    int max_turns = -1;
};
[[nodiscard]] temper draw_temper(testing::seed& draw);

class node;

class world {
public:
    world(std::uint64_t seed, mutant active, coverage& table);
    world(const world&) = delete;
    ~world();

    void complain(std::string sentence);
    void count(incident what);
    [[nodiscard]] milliseconds now() const noexcept { return loop.elapsed(); }
    [[nodiscard]] mark new_mark() noexcept { return ++marks_; }
    /// A tool call of `owner` begins to be executed; each may once.
    void on_execution(const std::string& owner, const text& call_id);
    void on_question(const std::string& owner, const text& call_id);
    [[nodiscard]] node& new_child();
    /// The children whose runs are over are checked.
    void settle_children();
    /// What the next write to a trace does.
    [[nodiscard]] sim_sink::trouble next_trace_trouble();

    testing::seeded_loop loop;
    testing::seed draw;
    mutator mutate;
    temper mood;
    bool is_calm = false;           ///< everything works and nobody disturbs
    node* root = nullptr;           ///< while there is one
    std::set<std::string> executed; ///< "session/call"
    std::set<std::string> asked;
    std::set<std::string> allowed;
    std::vector<std::string> complaints;
    bool has_deaf_trace = false; ///< a write that never ends was begun

private:
    coverage* table_;
    mark marks_ = 0;
    struct child;
    std::vector<std::unique_ptr<child>> children_; // alive until the scenario is over
};

/// A model that says what the seed wants.
class sim_model {
public:
    explicit sim_model(node& of) noexcept : of_(&of) {}
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request);

private:
    [[nodiscard]] static stream<delta, model_outcome> play(node& of, bool is_summary, std::size_t size);
    node* of_;
};

/// Tools that do what the seed wants, and one that runs a session below.
class sim_tools {
public:
    explicit sim_tools(node& of) noexcept : of_(&of) {}
    [[nodiscard]] std::vector<tool_definition> tools() const;
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context around);

private:
    [[nodiscard]] static stream<chunk, tool_result> work(node& of, bool floods);
    [[nodiscard]] static stream<chunk, tool_result> run_child(node& of, tool_context around);
    node* of_;
};

/// Who decides about calls.
class sim_approver {
public:
    explicit sim_approver(world& in) noexcept : in_(&in) {}
    [[nodiscard]] task<decision> operator()(const tool_call& call);

private:
    world* in_;
};

/// A session and what surrounds it.
class node {
public:
    node(world& in, std::string id, sim_sink& records, bool is_root);
    node(const node&) = delete;

    void on_request(model_request& request);
    /// A message of its stream, own ones and those of children; and the end of a run's stream.
    void on_message(const message& m);
    void on_end(const run_outcome* outcome);
    /// What the session owes to its model while no run goes on, checked.
    void settle();

    world& in;
    const std::string id;
    sim_sink& sink;
    const bool is_root;
    ledger books;
    simulation::watch view;
    std::set<mark> unsaid;   ///< notices that were given and not yet shown
    std::set<mark> steered;  ///< accepted, not yet shown and not taken back
    std::set<mark> unwanted; ///< must never be shown: refused, or taken back
    sim_model model{*this};
    sim_tools tools{*this};
    session<sim_model&, sim_tools&> chat;
    int requests = 0;                              ///< of the run under way
    bool last_failed = false;                      ///< the attempt before this one
    std::string last_executed;                     ///< by it
    std::vector<message> seen_history, seen_input; // as a mutant shows them

private:
    stream_mutator garble_{in.mutate};

    void see(const message& m);
    [[nodiscard]] session_options options();
    [[nodiscard]] task<result<std::string>> sum_up(std::span<const message> context,
                                                   std::span<const message> owed);
};

constexpr std::string_view summary_prompt = "Sum up.";
constexpr milliseconds grace{2'000};

} // namespace thalweg::simulation
