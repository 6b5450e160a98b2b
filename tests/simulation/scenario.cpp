// SPDX-License-Identifier: BSL-1.0

#include "simulation/scenario.hpp"

#include "simulation/person.hpp"
#include "simulation/world.hpp"

#include <thalweg/async/frame_pool.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/resume.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

namespace thalweg::simulation {

namespace {

using namespace std::chrono_literals;
using file_list = std::vector<std::vector<message>>;

/// The main session, with the trace it writes to.
struct setup {
    setup(world& in, file_list files, std::vector<message> head)
        : sink([&in] { return in.next_trace_trouble(); }, in.mutate, std::move(files), std::move(head)),
          main(in, "root", sink, true) {
        in.root = &main;
    }
    setup(const setup&) = delete;
    ~setup() { main.in.root = nullptr; }

    sim_sink sink;
    node main;
};

bool has_block(std::span<const message> messages) {
    return std::any_of(messages.begin(), messages.end(), [](const message& m) {
        const std::string_view content = m.content();
        return content.starts_with("[turn_aborted]") || content.starts_with("[turn_retried]");
    });
}

/// A compaction's prompt is recorded once and submitted with each attempt.
std::vector<message> without_prompts(std::span<const message> messages) {
    std::vector<message> left;
    std::copy_if(messages.begin(), messages.end(), std::back_inserter(left),
                 [](const message& m) { return m.content() != summary_prompt; });
    return left;
}

std::string difference(std::span<const message> a, std::span<const message> b) {
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (a[i].kind() != b[i].kind() || a[i].content() != b[i].content() ||
            a[i].tool_call_id() != b[i].tool_call_id())
            return "at " + std::to_string(i) + ": " + to_json(a[i]) + " against " + to_json(b[i]);
    }
    if (a.size() == b.size()) return {};
    return std::to_string(a.size()) + " messages against " + std::to_string(b.size()) +
           ", the first more: " + to_json(a.size() > b.size() ? a[common] : b[common]);
}

class story {
public:
    explicit story(world& in) : in_(in) {}
    task<void> tell();

private:
    void begin(file_list files, const resumed_state* from);
    void crash();
    void compare_resume();
    void check_trace();
    void books_after(const file_list& files, const resumed_state& state);

    world& in_;
    std::unique_ptr<setup> now_;
    std::unique_ptr<person> who_;
    bool has_lost_ = false;       // records, before a crash
    bool memory_differs_ = false; // the trace cannot know all that memory knows
};

void story::begin(file_list files, const resumed_state* from) {
    now_ = std::make_unique<setup>(in_, std::move(files),
                                   from != nullptr ? from->head : std::vector<message>());
    who_ = std::make_unique<person>(in_, now_->main);
    if (from == nullptr) return;
    now_->main.view.skip_records();
    if (from->context_closed) now_->sink.rotate();
    books_after(now_->sink.files(), *from);
    if (!now_->main.chat.restore(*from)) in_.complain("a new session cannot be restored");
}

/// What a resumed session owes: every input that is recorded.
void story::books_after(const file_list& files, const resumed_state& state) {
    std::vector<mark> earlier;
    const std::size_t open = files.empty() ? 0 : files.size() - (state.context_closed ? 0 : 1);
    for (std::size_t i = 0; i < open; ++i) {
        for (const mark m : input_marks(files[i]))
            earlier.push_back(m);
    }
    ledger& books = now_->main.books;
    books.restart(earlier, state.history);
    if (files.empty() || state.context_closed) return;
    for (const message& m : files.back()) {
        if (m.kind() != kind::text || m.role() != role::user) continue;
        for (const mark each : input_marks(std::span(&m, 1)))
            books.expect(each);
    }
}

/// The process ends here, or has ended at an earlier record; another one goes on.
void story::crash() {
    file_list files = now_->sink.files();
    has_lost_ = has_lost_ || now_->sink.has_lost();
    who_.reset();
    now_.reset();
    if (!files.empty() && in_.draw.chance(60)) files.back().resize(in_.draw.between(1, files.back().size()));
    const std::vector<message> newest = files.empty() ? std::vector<message>() : files.back();
    std::set<std::string> recorded; // ids of earlier contexts, and those in no record, may come again
    for (const message& m : newest) {
        if (m.kind() == kind::tool_call) recorded.insert("root/" + m.tool_call_id().str());
    }
    for (auto* ids : {&in_.executed, &in_.asked, &in_.allowed})
        std::erase_if(
            *ids, [&](const std::string& id) { return id.starts_with("root/") && !recorded.contains(id); });
    resumed_state state = resume(newest);
    if (in_.mutate.strikes(mutant::resume_forgets_ids)) state.call_ids.clear();
    if (!state.carry_over.empty() && in_.mutate.strikes(mutant::resume_loses_input))
        state.carry_over.pop_back();
    if (!state.history.empty() && in_.mutate.strikes(mutant::resume_doubles_input))
        state.carry_over.push_back(state.history.front());
    memory_differs_ = false;
    begin(std::move(files), &state);
    now_->main.settle();
}

/// Resuming now would give what the session has.
void story::compare_resume() {
    const node& main = now_->main;
    const auto& files = now_->sink.files();
    if (memory_differs_ || now_->sink.has_lost() || files.empty()) return;
    const resumed_state state = resume(files.back());
    const auto context = main.chat.context();
    const auto waiting = main.chat.carry_over();
    if (has_block(context) || has_block(waiting)) return;
    if (state.context_closed && !waiting.empty()) return; // R-ENG-7A
    std::string fault = difference(without_prompts(state.history), without_prompts(context));
    if (!fault.empty()) in_.complain("a resume gives another context, " + fault);
    fault = difference(state.carry_over, waiting);
    if (!fault.empty()) in_.complain("a resume owes something else, " + fault);
    const bool is_counted = std::any_of(files.back().begin(), files.back().end(),
                                        [](const message& m) { return m.kind() == kind::token_usage; });
    if (is_counted && !(state.usage == main.chat.usage())) in_.complain("a resume counts other tokens");
    if (state.dangling) in_.complain("a resume finds a compaction that was never ended");
}

/// For people who look into a seed: SIMULATE_TRACE=1.
void print_trace(const file_list& files) {
    for (const auto& file : files) {
        for (const message& m : file)
            std::fprintf(stderr, "%s\n", to_json(m).c_str());
        std::fprintf(stderr, "--\n");
    }
}

void story::check_trace() {
    if (std::getenv("SIMULATE_TRACE") != nullptr) print_trace(now_->sink.files());
    if (has_lost_ || now_->sink.has_lost()) return;
    const std::string faults = check_files(now_->sink.files());
    if (!faults.empty()) in_.complain(faults);
}

task<void> story::tell() {
    begin({}, nullptr);
    for (std::size_t runs = in_.draw.between(1, 3); runs > 0; --runs) {
        if (in_.draw.chance(15)) {
            co_await who_->compact();
            now_->main.settle();
            const bool discards = in_.mood.compaction &&
                                  in_.mood.compaction->mode == compaction_mode::discard;
            memory_differs_ = memory_differs_ ||
                              (discards && !now_->main.chat.carry_over().empty()); // R-ENG-7A
            compare_resume();
        }
        const bool crashes = co_await who_->run();
        if (crashes) {
            crash();
            continue;
        }
        memory_differs_ = memory_differs_ || who_->has_dropped();
        now_->main.settle();
        compare_resume();
    }
    in_.is_calm = true;
    const bool crashes = co_await who_->run();
    static_cast<void>(crashes); // nothing happens to a calm run
    now_->main.settle();
    compare_resume();
    if (!now_->main.chat.carry_over().empty()) in_.complain("a calm run leaves something owed");
    for (const mark each : now_->main.unsaid) { // one that a dropped run had taken was never shown
        if (!now_->main.books.has_reached(each)) in_.complain("a notice was never delivered");
    }
    check_trace();
    in_.settle_children();
    who_.reset();
    now_.reset();
}

/// Coroutines that nobody owns: what the leak checker is for.
struct leak {
    std::vector<task<void>> frames;
};

task<void> nothing() {
    co_return;
}

} // namespace

verdict play(std::uint64_t seed, mutant active) {
    verdict all;
    const auto frames = detail::frame_pool::live();
    leak leaked;
    {
        world in(seed, active, all.seen);
        try {
            story now(in);
            in.loop.run(now.tell());
        } catch (const std::exception& e) {
            in.complain(std::string("the scenario ended with an exception: ") + e.what());
        }
        if (in.mutate.is(mutant::frame_leaked)) leaked.frames.push_back(nothing());
        detail::timer_node timer;
        detail::ready_node nobody;
        if (in.mutate.is(mutant::timer_left)) {
            timer.wakes = &nobody;
            in.loop.arm(timer, in.loop.now() + 1h);
        }
        if (in.loop.has_timers()) in.complain("a timer is left");
        all.complaints = std::move(in.complaints);
    }
    if (detail::frame_pool::live() != frames) all.complaints.emplace_back("a coroutine is left");
    return all;
}

} // namespace thalweg::simulation
