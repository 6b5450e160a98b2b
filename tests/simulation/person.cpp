// SPDX-License-Identifier: BSL-1.0

#include "simulation/person.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>

namespace thalweg::simulation {

using namespace std::chrono_literals;

namespace {

/// Asks for a stop when everybody thinks that nobody will.
task<void> stop_late(node& at) {
    co_await sleep_through(10s);
    at.chat.interrupt();
}

} // namespace

// Reading
// -----------------------------------------------------------------------------------------------------------------

person::reading person::draw_reading() {
    if (in_.is_calm) return reading::to_the_end;
    if (in_.draw.chance(in_.mood.crashes)) return reading::crash;
    if (in_.draw.chance(in_.mood.drops)) return reading::drop;
    if (in_.draw.chance(in_.mood.detaches)) return reading::detach;
    return reading::to_the_end;
}

task<void> person::on_message(const message& m) {
    const bool was_at_end = m.kind() == kind::abort;
    at_.on_message(m);
    if (!in_.is_calm && !was_at_end && in_.draw.chance(3)) { // a slow reader
        const auto nap = milliseconds(in_.draw.below(50));
        if (stopped_at_) reader_slept_ += nap;
        co_await sleep_through(nap);
        if (stopped_at_ && reader_slept_ == 0ms) reader_slept_ = nap;
    }
}

task<bool> person::run() {
    const context here = co_await this_coroutine();
    const mark own = in_.new_mark();
    const reading how = draw_reading();
    const std::size_t patience = in_.draw.chance(30) ? in_.draw.below(4) : in_.draw.below(60);
    cancel_source reader;
    const context under(here.loop(), reader);
    stopped_at_.reset();
    reader_slept_ = 0ms;
    is_last_answer_ = is_detached_ = false;
    tickets_.clear();
    at_.view.begin_run();

    std::vector<message> input;
    input.push_back(message::user_text(text(spell(own))));
    if (in_.draw.chance(10)) input.push_back(message::image_url("https://example.org/a.png"));
    run_options options;
    options.approve = std::ref(asks_);
    if (in_.is_calm) options.max_turns = -1;
    auto run = at_.chat.run(std::move(input), options);
    scope gestures(here);
    gestures.spawn(disturb(reader));
    at_.books.expect(own);
    std::size_t count = 0;
    bool goes_on = true;
    while (goes_on) {
        auto m = co_await run.next_under(under);
        goes_on = m.has_value();
        if (m) co_await on_message(*m);
        if (!goes_on || ++count < patience || how == reading::to_the_end) continue;
        if (how == reading::detach) {
            if (at_.view.phase() != phase::idle) in_.count(incident::detach);
            if (!at_.chat.detach(std::move(run))) in_.complain("a run that goes on cannot be detached");
            is_detached_ = true;
            const auto ended = co_await read_attached();
            gestures.cancel();
            gestures.drop();
            on_end(&*ended);
            co_return false;
        }
        in_.count(how == reading::crash ? incident::crash : incident::drop);
        gestures.drop();
        if (how == reading::crash) co_return true;
        run = {};
        has_dropped_ = true;
        at_.view.on_drop();
        at_.steered.clear();
        co_return false;
    }
    gestures.drop();
    run_outcome outcome = std::move(run.result());
    run = {};
    on_end(&outcome);
    co_return false;
}

/// Comes back to a run that went on alone.
task<std::optional<run_outcome>> person::read_attached() {
    for (;;) {
        co_await sleep_through(milliseconds(in_.draw.below(3'000)));
        auto tail = at_.chat.attach();
        const bool leaves = in_.draw.chance(30);
        std::size_t left = in_.draw.below(20);
        bool goes_on = true;
        while (goes_on) {
            auto m = co_await tail.next();
            goes_on = m.has_value();
            if (m) co_await on_message(*m);
            if (goes_on && leaves && left-- == 0) break;
        }
        if (!goes_on) {
            reader_slept_ = 24h; // when it ended nobody saw
            std::optional<run_outcome> how = std::move(tail.result());
            co_return how;
        }
    }
}

void person::on_end(const run_outcome* outcome) {
    check_bound();
    if (at_.chat.is_running()) in_.complain("a run has ended, and its session says that it goes on");
    at_.on_end(outcome);
    if (outcome != nullptr && outcome->ok() && !is_last_answer_ && !at_.steered.empty())
        in_.complain("steering " + spell(*at_.steered.begin()) + " was accepted and not delivered");
    at_.steered.clear();
}

/// R-ENG-35: what does not listen cannot hold a run for longer than the grace. A trace is waited for beside.
void person::check_bound() {
    if (!stopped_at_) return;
    const milliseconds took = in_.now() - *stopped_at_;
    const milliseconds allowed = grace + reader_slept_ + (in_.mood.trace_trouble > 0 ? 2 * grace : 1ms);
    if (took > allowed)
        in_.complain("a run ended " + std::to_string(took.count()) + " ms after it was interrupted");
}

task<void> person::compact() {
    const context here = co_await this_coroutine();
    const bool discards = in_.mood.compaction && in_.mood.compaction->mode == compaction_mode::discard;
    if (discards && at_.chat.compactability() == compactability::ok) {
        for (const message& m : at_.chat.carry_over()) { // R-ENG-7A
            if (m.kind() != kind::tool_call_output) continue;
            for (const mark lost : input_marks(std::span(&m, 1)))
                at_.books.excuse(lost);
        }
    }
    cancel_source reader;
    const context under(here.loop(), reader);
    stopped_at_.reset();
    reader_slept_ = 0ms;
    auto work = at_.chat.compact();
    scope gestures(here);
    gestures.spawn(disturb(reader));
    while (auto m = co_await work.next_under(under))
        co_await on_message(*m);
    gestures.drop();
    work = {};
    on_end(nullptr);
}

// Disturbing
// -----------------------------------------------------------------------------------------------------------------

task<void> person::disturb(cancel_source& reader) {
    std::size_t left = in_.is_calm ? 0 : in_.draw.between(0, in_.mood.gestures);
    for (; left > 0; --left) {
        if (in_.draw.chance(70))
            co_await sleep_for(milliseconds(in_.draw.below(in_.draw.chance(50) ? 300 : 4'000)));
        for (std::size_t turns = in_.draw.below(6); turns > 0; --turns)
            co_await yield();
        co_await disturb_once(reader);
    }
    const bool hangs = co_await sleep_for(1h);
    if (hangs) stop(reader); // nobody waits for ever for what hangs
}

task<void> person::disturb_once(cancel_source& reader) {
    switch (in_.draw.below(10)) {
    case 0:
    case 1: stop(reader); break;
    case 2:
        if (at_.chat.stop_after_answer()) {
            in_.count(incident::stop_after);
            is_last_answer_ = true;
        }
        break;
    case 3:
        if (at_.chat.skip_retry_wait()) in_.count(incident::retry_now);
        break;
    case 4: notify(); break;
    case 5:
        if (!tickets_.empty()) {
            const auto [which, ticket] = tickets_[in_.draw.below(tickets_.size())];
            if (at_.chat.unsteer(ticket)) {
                in_.count(incident::recall);
                if (at_.steered.erase(which) == 0)
                    in_.complain("steering was taken back that had been shown");
                at_.unwanted.insert(which);
            }
        }
        break;
    case 6: co_await try_second_run(); break;
    default: steer(); break;
    }
}

void person::stop(cancel_source& reader) {
    if (!at_.chat.is_running() && !at_.chat.is_compacting()) return;
    const bool by_reader = !is_detached_ && in_.draw.chance(40);
    in_.count(incident::interrupt);
    bool taken = true;
    if (in_.mutate.is(mutant::interrupt_lost)) {
    } else if (in_.mutate.is(mutant::interrupt_late)) {
        late_.emplace(in_.loop.root_context());
        late_->spawn(stop_late(at_));
    } else if (by_reader) {
        taken = reader.request(cancel_reason::user);
    } else {
        taken = at_.chat.interrupt();
    }
    if (taken && !stopped_at_) stopped_at_ = in_.now();
}

void person::steer() {
    const mark own = in_.new_mark();
    const steering_ticket ticket = at_.chat.steer(text(spell(own)));
    if (!ticket) {
        at_.unwanted.insert(own);
        return;
    }
    in_.count(incident::steer);
    at_.steered.insert(own);
    tickets_.emplace_back(own, ticket);
}

void person::notify() {
    const mark own = in_.new_mark();
    in_.count(incident::notice);
    at_.unsaid.insert(own);
    at_.books.expect(own);
    at_.chat.notify(text(spell(own)));
}

task<void> person::try_second_run() {
    if (!at_.chat.is_running() && !at_.chat.is_compacting()) co_return;
    in_.count(incident::second_run);
    const mark own = in_.new_mark();
    at_.unwanted.insert(own);
    auto refused = at_.chat.run(text(spell(own)));
    const auto none = co_await refused.next();
    if (none || refused.result().how() != run_outcome::end::busy)
        in_.complain("a second run was not refused");
    auto also = at_.chat.compact();
    const auto nothing = co_await also.next();
    if (nothing || also.result().how() != compaction_outcome::end::busy)
        in_.complain("a compaction beside a run was not refused");
}

} // namespace thalweg::simulation
