// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent_core.hpp>

#include <thalweg/agent/agent_json.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <iostream>
#include <iterator>

namespace thalweg {

namespace {

text fresh_id() {
    static std::atomic<unsigned> count{0};
    return text("agent-" + std::to_string(++count));
}

agent_outcome busy_outcome() {
    return agent_outcome(agent_errc::busy, "a run of this agent is going on; wait_for_idle(), steer() or "
                                           "follow_up() instead, or abort() it first");
}

} // namespace

agent_core::agent_core(provider_ref provider, environment_ref environment,
                       std::span<const custom_type* const> customs, agent_options options)
    : provider_(provider),
      environment_(environment),
      customs_(customs),
      id_(options.id.empty() ? fresh_id() : options.id),
      steering_(options.steering_mode),
      follow_ups_(options.follow_up_mode) {
    state_.system_prompt = text(options.system);
    state_.model = text(options.model);
    state_.thinking_level = text(options.thinking_level);
    state_.messages = std::move(options.messages);
    options.messages.clear();
    const auto joined = [](agent_queue& own, poll_hook more) {
        return [&own, more = std::move(more)] {
            if (!more) return own.take();
            std::vector<agent_message> others = more(); // first: if it throws, the queue keeps what it has
            std::vector<agent_message> taken = own.take();
            std::move(others.begin(), others.end(), std::back_inserter(taken));
            return taken;
        };
    };
    options.poll_steering = joined(steering_, std::move(options.poll_steering));
    options.poll_follow_ups = joined(follow_ups_, std::move(options.poll_follow_ups));
    options_ = std::make_shared<const agent_options>(std::move(options));
}

agent_core::~agent_core() {
    assert(!state_.is_streaming && "an agent outlives its runs: read them to the end or drop them first");
}

// Runs
// --------------------------------------------------------------------------------------------------------------------

task<agent_outcome> agent_core::prompt(std::vector<agent_message> all, text response_schema) {
    agent_task what;
    what.prompts = std::move(all);
    what.response_schema = std::move(response_schema);
    return drain(begin_prompt(std::move(what)));
}

stream<message, agent_outcome> agent_core::run(std::vector<agent_message> prompts, run_options options) {
    agent_task what;
    what.prompts = std::move(prompts);
    what.around = options;
    return begin_prompt(std::move(what));
}

stream<message, agent_outcome> agent_core::begin_prompt(agent_task what) {
    if (state_.is_streaming) return refuse(busy_outcome());
    if (what.prompts.empty()) {
        return refuse(agent_outcome(agent_errc::bad_prompt,
                                    "a prompt has at least one message; continue_() goes on without one"));
    }
    if (!std::all_of(what.prompts.begin(), what.prompts.end(), is_input)) {
        return refuse(agent_outcome(agent_errc::bad_prompt,
                                    "a prompt is made of messages of the user or of the program; "
                                    "set_messages() takes answers and results"));
    }
    return begin(std::move(what));
}

/// R-EVT-56…58: from a tail that wants an answer, else with what is queued.
task<agent_outcome> agent_core::continue_() {
    if (state_.is_streaming) return drain(refuse(busy_outcome()));
    agent_task what;
    const bool is_empty = state_.messages.empty();
    const bool is_answered = !is_empty && state_.messages.back().kind() == agent_message::type::assistant;
    if (is_empty || is_answered) {
        if (!has_queued_messages()) {
            return drain(refuse(
                is_empty ? agent_outcome(agent_errc::empty,
                                         "there is nothing to continue from: no messages and nothing queued")
                         : agent_outcome(agent_errc::assistant_tail,
                                         "the last message is the model's own, and nothing is queued; "
                                         "prompt() instead")));
        }
    }
    return drain(begin(std::move(what)));
}

/// Busy from here on, before anything is awaited (R-EVT-54).
stream<message, agent_outcome> agent_core::begin(agent_task what) {
    if (state_.is_streaming) return refuse(busy_outcome());
    what.transcript = state_.messages;
    what.customs = customs_;
    what.abort_words = &abort_reason_;
    abort_reason_ = text();
    is_abort_asked_ = false;
    return pump(claim(*this), std::move(what));
}

stream<message, agent_outcome> agent_core::refuse(agent_outcome why) {
    co_return std::move(why);
}

task<agent_outcome> agent_core::drain(stream<message, agent_outcome> run) {
    for (;;) {
        const message* m = co_await run.peek();
        if (m == nullptr) break;
    }
    co_return std::move(run.result());
}

/// Reads the run, changes the state, tells the listeners, and passes on what is public.
stream<message, agent_outcome> agent_core::pump(claim busy, agent_task what) {
    const claim held = std::move(busy);
    const context here = co_await this_coroutine();
    cancel_source stop;
    stop.follow(here.cancel());
    const context under(here.loop(), stop);
    const running now(*this, stop);
    if (is_abort_asked_) stop.request(cancel_reason::user); // between the call and here
    const bool shows_facts = what.around.facts;
    if (what.prompts.empty() &&
        (what.transcript.empty() || what.transcript.back().kind() == agent_message::type::assistant)) {
        // Taken now, so that a run that nobody begins to read leaves them in their queue (R-EVT-57).
        what.polls_steering_first = steering_.empty();
        what.prompts = steering_.empty() ? follow_ups_.take() : steering_.take();
    }
    auto steps = agent_steps(provider_, environment_, std::move(what), options_);
    for (;;) {
        agent_step* step = co_await steps.peek_under(under);
        if (step == nullptr) break;
        for (const agent_event& e : step->events) {
            state_.apply(e);
            listeners::round telling(listeners_);
            for (std::size_t at = 0; at < telling.size(); ++at) {
                task<void> rest = tell(telling, at, e);
                if (rest) co_await attend(std::move(rest)).under(under);
            }
        }
        if (!step->fact.is_fact()) {
            listeners::round telling(listeners_);
            for (std::size_t at = 0; at < telling.size(); ++at) {
                task<void> rest = tell(telling, at, step->fact);
                if (rest) co_await attend(std::move(rest)).under(under);
            }
        }
        if (shows_facts || !step->fact.is_fact()) co_yield std::move(step->fact);
    }
    co_return std::move(steps.result());
}

/// Awaits a listener; what it throws is reported and goes no further (R-EVT-86, R-EVT-87).
task<void> agent_core::attend(task<void> rest) {
    std::string fault;
    try {
        co_await std::move(rest);
        co_return;
    } catch (const std::exception& e) {
        fault = e.what();
    } catch (...) {
        fault = "something that is no std::exception";
    }
    report_fault(fault);
}

template <class What>
task<void> agent_core::tell(listeners::round& telling, std::size_t at, const What& what) {
    try {
        return telling.tell(at, what);
    } catch (const std::exception& e) {
        report_fault(e.what());
    } catch (...) {
        report_fault("something that is no std::exception");
    }
    return {};
}

void agent_core::report_fault(std::string_view what) const {
    try {
        if (options_->on_listener_fault) return options_->on_listener_fault(what);
    } catch (const std::exception& e) {
        std::clog << "thalweg: on_listener_fault threw: " << e.what() << '\n';
    } catch (...) {
        std::clog << "thalweg: on_listener_fault threw something that is no std::exception\n";
    }
    std::clog << "thalweg: a listener of the agent " << id_.view() << " threw: " << what << '\n';
}

void agent_core::settle() {
    state_.settle();
    idle_.notify();
}

// Everything else
// ---------------------------------------------------------------------------------------------------------

bool agent_core::abort(text reason) {
    if (!state_.is_streaming || is_abort_asked_) return false;
    if (running_ != nullptr && running_->requested()) return false;
    abort_reason_ = std::move(reason);
    is_abort_asked_ = true;
    if (running_ != nullptr) running_->request(cancel_reason::user);
    return true;
}

task<void> agent_core::wait_for_idle() {
    const context here = co_await this_coroutine();
    static_cast<void>(here);
    while (state_.is_streaming)
        co_await idle_.wait();
}

void agent_core::set_system(std::string system) {
    agent_options changed = *options_;
    state_.system_prompt = text(system);
    changed.system = std::move(system);
    options_ = std::make_shared<const agent_options>(std::move(changed));
}

void agent_core::set_thinking_level(std::string level) {
    agent_options changed = *options_;
    state_.thinking_level = text(level);
    changed.thinking_level = std::move(level);
    options_ = std::make_shared<const agent_options>(std::move(changed));
}

bool agent_core::reset() {
    if (state_.is_streaming) return false;
    state_.reset();
    steering_.clear();
    follow_ups_.clear();
    return true;
}

std::string agent_core::save() const {
    return transcript_json(state_.messages);
}

result<void> agent_core::load(std::string_view json) {
    if (state_.is_streaming) return busy_outcome().error();
    auto read = parse_transcript(json, customs_);
    if (!read) return read.error();
    state_.messages = std::move(read.value());
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

} // namespace thalweg
