// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/session_core.hpp>

#include <thalweg/async/scope.hpp>
#include <thalweg/engine/compaction.hpp>
#include <thalweg/engine/context_repair.hpp>
#include <thalweg/engine/guarded_trace.hpp>
#include <thalweg/engine/run_conductor.hpp>

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

namespace thalweg {

namespace {

/// The address of the coroutine that awaits it: stream::address() of what it is read by. Never suspends.
class own_address {
public:
    explicit own_address(std::nullptr_t) noexcept {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> self) noexcept {
        address_ = self.address();
        return false;
    }
    [[nodiscard]] const void* await_resume() const noexcept { return address_; }

private:
    const void* address_ = nullptr;
};

} // namespace

/// A run, and the session's knowledge that it goes on.
class session_core::run_work {
public:
    run_work(session_core& owner, run_options options, const context& parent, const void* stream)
        : conductor(owner.state_, owner, options, parent), owner_(owner) {
        owner_.running_ = &conductor;
        owner_.running_stream_ = stream;
    }
    run_work(const run_work&) = delete;
    ~run_work() {
        owner_.running_ = nullptr;
        owner_.running_stream_ = nullptr;
    }

    run_conductor conductor;

private:
    session_core& owner_;
};

/// A compaction on request. One that is dropped before its end leaves what it owes to the next run.
class session_core::compaction_work {
public:
    compaction_work(session_core& owner, const context& parent)
        : owed(std::exchange(owner.state_.carry_over, {})),
          context(parent.loop(), cancel),
          work(owner.state_, out, pause, owed, used),
          owner_(owner) {
        cancel.follow(parent.cancel());
        owner_.compacting_ = this;
    }
    compaction_work(const compaction_work&) = delete;
    ~compaction_work() {
        owner_.compacting_ = nullptr;
        const bool is_done = work.status() == stop_reason::completed;
        owner_.state_.carry_over = std::move(is_done ? kept : owed);
    }

    /// What a context that is thrown away leaves of what is owed to it: the texts (R-ENG-7A).
    void keep_texts() {
        std::erase_if(owed, [](const message& m) { return m.kind() == kind::tool_call_output; });
        kept = owed;
    }
    task<void> conduct() {
        co_await work.run(compaction_reason::manual);
        out.finish();
    }

    std::vector<message> owed;
    std::vector<message> kept;
    token_counts used;
    cancel_source cancel;
    thalweg::context context;
    merge<message> point;
    merge<message>::producer out = point.attach();
    retry_wait pause;
    compaction work;

private:
    session_core& owner_;
};

/// Who reads the detached run, for as long as it lives.
class session_core::sole_reader {
public:
    sole_reader(std::shared_ptr<life> of, std::uint64_t number) : life_(std::move(of)), number_(number) {
        life_->number_read = number_;
    }
    sole_reader(const sole_reader&) = delete;
    ~sole_reader() {
        if (life_->number_read == number_) life_->number_read = 0;
    }

private:
    std::shared_ptr<life> life_;
    std::uint64_t number_;
};

session_core::~session_core() {
    detached_.reset();
    assert(life_.use_count() == 1 &&
           "a session outlives the streams of its runs: read them to the end or drop them first");
}

namespace {

/// The last fact of a run.
message end_fact(const run_outcome& outcome, loop& on) {
    using end = run_outcome::end;
    run_end last;
    last.reason = text(outcome.why());
    switch (outcome.how()) {
    case end::answered:
    case end::max_turns: last.how = run_ending::finished; break;
    case end::interrupted:
    case end::stopped: last.how = run_ending::aborted; break;
    default: last.how = run_ending::failed; break;
    }
    message fact = message::event(std::move(last));
    fact.stamp(on.wall_ms());
    return fact;
}

} // namespace

// Runs and compactions
// ---------------------------------------------------------------------------------------------------

stream<message, run_outcome> session_core::run(std::vector<message> input, run_options options) {
    return run_alive(life_, std::move(input), options);
}

stream<message, run_outcome> session_core::run_alive(std::shared_ptr<life> kept, std::vector<message> input,
                                                     run_options options) {
    const std::shared_ptr<life> until_its_end = std::move(kept);
    if (is_running() || is_compacting()) co_return run_outcome(run_outcome::end::busy, what_is_going_on());
    if (std::string fault = fault_of(input); !fault.empty()) {
        co_return run_outcome(run_outcome::end::input_failed, std::move(fault));
    }
    if (std::string fault = list_tools(); !fault.empty()) {
        co_return run_outcome(run_outcome::end::environment_failed, std::move(fault));
    }
    const context here = co_await this_coroutine();
    loop_ = &here.loop();
    const void* self = co_await own_address(nullptr);
    run_work work(*this, options, here, self);
    run_conductor& conductor = work.conductor;
    state_.grace = options.grace.value_or(state_.options.interrupt_grace);
    guarded_trace trace(state_.options.trace, conductor.context(), state_.grace);
    for (message& m : input) {
        if (!m.has_timestamp()) m.stamp(here.loop().wall_ms());
    }
    std::vector<message> records = opening_records(input, here.loop());
    std::vector<message> facts;
    state_.sends_facts = options.facts;
    if (options.facts) {
        facts.push_back(message::run_begin().with_timestamp(here.loop().wall_ms()));
        for (const message& m : input)
            facts.push_back(message(m).as_input());
    }
    conductor.submit(take_input(std::move(input))); // now, so that a run that is dropped here owes it
    co_await record(records, trace);
    if (!records.empty() && records.back().kind() == kind::tool_list_ready)
        co_yield std::move(records.back());
    for (message& m : facts)
        co_yield std::move(m);

    scope producers(conductor.context());
    producers.spawn(conductor.conduct());
    for (;;) {
        const std::span<message> batch = co_await conductor.point().next_batch();
        if (batch.empty()) break;
        co_await record(batch, trace);
        for (message& m : batch) {
            if (!m.is_trace_only()) co_yield std::move(m);
        }
    }
    co_await producers.join();
    // Found with the last records. Behind an abort, and in front of a summary, it waits for the next run.
    if (state_.fault && !conductor.has_aborted() && !state_.pending_summary) {
        message fault = message::event(*std::exchange(state_.fault, std::nullopt));
        fault.stamp(here.loop().wall_ms());
        co_await record(std::span(&fault, 1), trace);
        co_yield std::move(fault);
    }
    if (options.facts) co_yield end_fact(conductor.outcome(), here.loop());
    co_return std::move(conductor.outcome());
}

stream<message, compaction_outcome> session_core::compact() {
    return compact_alive(life_);
}

stream<message, compaction_outcome> session_core::compact_alive(std::shared_ptr<life> kept) {
    const std::shared_ptr<life> until_its_end = std::move(kept);
    using end = compaction_outcome::end;
    if (is_running() || is_compacting()) co_return compaction_outcome(end::busy, what_is_going_on());
    if (const auto is_possible = compactability(); is_possible != compactability::ok) {
        co_return compaction_outcome(end::nothing,
                                     std::string("nothing to compact: ") + to_string(is_possible));
    }
    if (std::string fault = list_tools(); !fault.empty())
        co_return compaction_outcome(end::failed, std::move(fault));
    const context here = co_await this_coroutine();
    compaction_work now(*this, here);
    state_.grace = state_.options.interrupt_grace;
    if (state_.options.compaction->mode == compaction_mode::discard) now.keep_texts();
    guarded_trace trace(state_.options.trace, now.context, state_.grace);
    const std::vector<message> records = take_owed_records(here.loop());
    co_await record(records, trace);

    scope producers(now.context);
    producers.spawn(now.conduct());
    for (;;) {
        const std::span<message> batch = co_await now.point.next_batch();
        if (batch.empty()) break;
        co_await record(batch, trace);
        for (message& m : batch) {
            if (!m.is_trace_only()) co_yield std::move(m);
        }
    }
    co_await producers.join();
    const stop_reason status = now.work.status();
    const end how = status == stop_reason::completed ? end::compacted
                    : status == stop_reason::aborted ? end::aborted
                                                     : end::failed;
    const std::string why = how == end::aborted ? "aborted during compaction" : now.work.why();
    co_return compaction_outcome(how, how == end::compacted ? std::string() : why);
}

/// Asks for the tools of what is about to begin. Why that failed, or empty (H-55).
std::string session_core::list_tools() {
    std::string why;
    try {
        state_.tools = state_.environment.tools();
    } catch (const std::exception& e) {
        why = std::string("it threw: ") + e.what();
    } catch (...) {
        why = "it threw something that is no std::exception";
    }
    if (why.empty()) return why;
    return "the environment could not list its tools: " + why +
           "; nothing was begun, and a later run asks again";
}

/// Why a run cannot take `input`, or empty.
std::string session_core::fault_of(std::span<const message> input) const {
    for (std::size_t at = 0; at < input.size(); ++at) {
        const message& m = input[at];
        const bool is_input = m.is_complete() && m.role() == role::user && m.kind() != kind::tool_call_output;
        if (is_input) continue;
        return "message " + std::to_string(at) + " of the input is a " + std::string(m.type_name()) +
               (m.is_complete() && m.role() == role::assistant ? " of the assistant" : "") +
               "; a run takes texts, images and data of the user";
    }
    const bool is_owing = state_.pending_summary || !state_.carry_over.empty() || !state_.notices.empty();
    if (input.empty() && !is_owing)
        return "the run has no input, and nothing was left over from an earlier one";
    return {};
}

std::string session_core::what_is_going_on() const {
    return std::string(is_compacting() ? "a compaction" : "another run") +
           " of this session is going on; wait for its end, or interrupt it first";
}

compactability session_core::compactability() const noexcept {
    if (!state_.options.compaction) return compactability::unsupported;
    if (state_.turns > 0) return compactability::ok;
    return state_.is_compacted ? compactability::just_compacted : compactability::empty;
}

// Nudges
// ------------------------------------------------------------------------------------------------------------------

bool session_core::interrupt(cancel_reason why) {
    if (running_ != nullptr) return running_->interrupt(why);
    return compacting_ != nullptr && compacting_->cancel.request(why);
}

bool session_core::stop_after_answer() {
    return running_ != nullptr && running_->stop_after_answer();
}

bool session_core::skip_retry_wait() {
    if (running_ != nullptr) return running_->skip_retry_wait();
    return compacting_ != nullptr && compacting_->pause.skip();
}

bool session_core::detach(stream<message, run_outcome>&& run) {
    // An earlier one has ended if this one runs.
    if (running_ == nullptr || run.address() != running_stream_) return false;
    running_->detach();
    detached_.reset(); // of a run before
    ++detached_number_;
    detached_ = std::make_unique<detached_run>(std::move(run), running_->context().loop(),
                                               state_.options.tail);
    return true;
}

stream<message, run_outcome> session_core::attach() {
    return read_detached(life_);
}

stream<message, run_outcome> session_core::read_detached(std::shared_ptr<life> kept) {
    using end = run_outcome::end;
    if (detached_ == nullptr) {
        co_return run_outcome(end::nothing_detached,
                              "no run of this session was detached; detach() one that goes on first");
    }
    if (kept->number_read == detached_number_) {
        co_return run_outcome(end::has_reader,
                              "somebody reads the detached run; that stream has to be dropped first");
    }
    detached_run* const tail = detached_.get();
    const auto number = detached_number_; // an address may come again
    const sole_reader here(std::move(kept), number);
    while (detached_number_ == number) { // a later run that is detached takes the place of one that has ended
        auto m = co_await tail->next();
        if (!m) break;
        co_yield std::move(*m);
    }
    if (detached_number_ != number) {
        co_return run_outcome(end::reader_left, "another run was detached meanwhile; attach() again");
    }
    if (!tail->has_ended()) {
        co_return run_outcome(end::reader_left,
                              "the reader was asked to stop; the run goes on, attach() again");
    }
    run_outcome how = tail->outcome();
    co_return std::move(how);
}

steering_ticket session_core::steer(std::vector<message> input) {
    return running_ != nullptr ? running_->steer(std::move(input)) : steering_ticket();
}

void session_core::notify(text report) {
    state_.notices.push_back(message::user_text(std::move(report)).with_sender(text("harness")));
    if (running_ == nullptr && state_.options.when_notified) state_.options.when_notified();
}

result<void> session_core::restore(resumed_state from) {
    if (is_running() || is_compacting()) {
        return failure(std::make_error_code(std::errc::device_or_resource_busy),
                       "session: it cannot be restored while " + what_is_going_on());
    }
    if (state_.is_opened) {
        return failure(std::make_error_code(std::errc::operation_not_permitted),
                       "session: only a new one can be restored, and this one has run, or was restored, "
                       "already; make another session");
    }
    state_.is_opened = true;
    state_.context = std::move(from.history);
    state_.carry_over = std::move(from.carry_over);
    state_.repairs = repair_context(state_.context, state_.carry_over);
    state_.pending_summary = std::move(from.pending_summary);
    state_.usage = from.usage;
    state_.context_size = from.last_request_total;
    state_.turns = from.session_turns;
    state_.is_compacted = from.came_from_compaction;
    if (from.came_from_compaction) state_.resume_trigger(from.first_request_total);
    for (const text& id : from.call_ids)
        state_.ids.mark_used(id);
    if (from.meta) state_.options.meta = std::move(from.meta);
    open_compaction_ = std::move(from.dangling);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

} // namespace thalweg
