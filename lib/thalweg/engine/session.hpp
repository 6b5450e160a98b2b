// SPDX-License-Identifier: BSL-1.0

#pragma once

// A session: a model, tools, and the context they build together. The main class of this library.
//
//     session chat(providers::openai_chat({.model = "…"}), environments::functions(tool(…)));
//     auto run = chat.run("Is it dry in Oslo?", {.approve = allow_all});
//     while (auto m = co_await run.next()) std::cout << to_json(*m) << '\n';
//     run.result().ok()
//
// run() gives one totally ordered stream: what the model says, what each tool says, decisions and events, in
// the order of their arrival; docs/reference/ordering.md says what holds and what does not. What the stream
// delivered has been recorded before, if the session has a trace.
//
// Lifetime: the session is immovable and outlives the streams it gives, until they have ended (debug builds
// assert it). Destroying a run before its end stops and destroys what feeds it; what it had not submitted
// goes in front of the next run. Thread rule: one loop's thread; no lock anywhere.

#include <thalweg/engine/session_core.hpp>
#include <thalweg/protocol/no_tools.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

template <class P, class E = environments::no_tools>
class session {
    static_assert(is_provider<P>);
    static_assert(is_environment<E>);

public:
    /// Takes provider and environment by value, or refers to them with std::ref (they outlive the session
    /// then).
    template <class ProviderArg, class EnvironmentArg>
        requires(!std::same_as<std::remove_cvref_t<EnvironmentArg>, session_options>)
    session(ProviderArg&& provider, EnvironmentArg&& environment, session_options options = {})
        : provider_(std::forward<ProviderArg>(provider)),
          environment_(std::forward<EnvironmentArg>(environment)),
          core_(provider_ref(provider_), environment_ref(environment_), std::move(options)) {}
    /// A session without tools.
    template <class ProviderArg>
        requires std::same_as<E, environments::no_tools> &&
                 (!std::same_as<std::remove_cvref_t<ProviderArg>, session>)
    explicit session(ProviderArg&& provider, session_options options = {})
        : session(std::forward<ProviderArg>(provider), none, std::move(options)) {}

    /// Starts a run with a user text; it works while somebody awaits next() or peek() of the stream. One run
    /// at a time: a second one is an empty stream whose result is `busy` and says so. Errors: none thrown; a
    /// failing model or tool shows on the stream and in the result. An environment that cannot list its tools
    /// makes an empty stream whose result is `environment_failed`; the input is not kept then.
    [[nodiscard]] stream<message, run_outcome> run(text prompt, run_options options = {}) {
        std::vector<message> input;
        input.push_back(message::user_text(std::move(prompt)));
        return core_.run(std::move(input), options);
    }
    /// The same with any user messages (texts, images), at least one or what an earlier run left over.
    [[nodiscard]] stream<message, run_outcome> run(std::vector<message> input, run_options options = {}) {
        return core_.run(std::move(input), options);
    }

    /// Gives the context up for a summary of it (engine §7), between two runs. The stream has
    /// compaction_begin, token_usage and compaction_end; it is empty when there is nothing to compact, see
    /// compactability().
    [[nodiscard]] stream<message, compaction_outcome> compact() { return core_.compact(); }
    [[nodiscard]] thalweg::compactability compactability() const noexcept { return core_.compactability(); }

    // Stopping (docs/reference/stopping.md has the table). All three give false when no run goes on that
    // could take it.

    /// Stops the current run or compaction in order: model, tools and approver are asked to stop, what does
    /// not react within the grace is destroyed, `abort` is the last message. Loop thread; from elsewhere:
    /// loop::post().
    bool interrupt(cancel_reason why = cancel_reason::user) { return core_.interrupt(why); }
    /// The model's answer and the tools it called finish; then the run ends, and their outputs wait for the
    /// next one.
    bool stop_after_answer() { return core_.stop_after_answer(); }
    /// Takes the current run's stream over: the run goes on unwatched, with the session as its owner, and no
    /// longer stops when its reader is asked to. What its approver refers to must live until it has ended.
    /// False if `run` is not the stream of the run that goes on; it is left as it was then. Not while
    /// somebody awaits the next message of it.
    bool detach(stream<message, run_outcome>&& run) { return core_.detach(std::move(run)); }
    /// Goes on reading a detached run: first what is kept of it (tail_limits), then what comes, and how the
    /// run ended. Dropping this stream leaves the run alone. Three results are this stream's own and not the
    /// run's: `nothing_detached`, `has_reader` (one at a time), `reader_left` (it was asked to stop; the run
    /// goes on).
    [[nodiscard]] stream<message, run_outcome> attach() { return core_.attach(); }

    // Nudges to a run that goes on.

    /// Says something to the model before its next request (R-ENG-60). The ticket is false when no run can
    /// take it. What was accepted and not yet delivered when the run ends is dropped.
    steering_ticket steer(text words) {
        std::vector<message> input;
        input.push_back(message::user_text(std::move(words)));
        return core_.steer(std::move(input));
    }
    steering_ticket steer(std::vector<message> input) { return core_.steer(std::move(input)); }
    /// Takes it back; false once it was delivered.
    bool unsteer(steering_ticket ticket) { return core_.unsteer(ticket); }
    /// Ends the wait before a retry as if its time were over; false when none is going on (R-ENG-57).
    bool skip_retry_wait() { return core_.skip_retry_wait(); }
    /// Tells the model of something that happened outside of any call, in words of the harness. It is said
    /// once: in the run that goes on before its next request, or at the beginning of the next run (R-ENG-64).
    /// While no run goes on, session_options::when_notified is called, so that the program may start one.
    void notify(text report) { core_.notify(std::move(report)); }
    /// Takes out what notify() has queued and nobody was told, e.g. as the input of a run that it is to start
    /// (R-ENG-92).
    [[nodiscard]] std::vector<message> take_notices() { return core_.take_notices(); }

    /// Answers a call of another session's tool with a run of this one, begun with `prompt`. Its messages
    /// pass through the parent's stream with this session's id as origin, and its text is the call's output
    /// (engine §8). To be returned by an environment's execute(), with the context it was given:
    ///
    ///     return helper.run_under(context, std::move(arguments.prompt));
    ///
    /// The parent's approver decides about this session's calls, and a stop request to the parent's call
    /// stops the run. Give the tool's definition session_call_timeout as its time-out: the usual 120 s are
    /// for one command, not for a conversation. Errors: a failed result with a sentence. This session
    /// outlives the stream.
    [[nodiscard]] stream<chunk, tool_result> run_under(tool_context parent, text prompt) {
        return core_.run_under(std::move(parent), std::move(prompt));
    }

    /// The same in the background: the call is answered at once, and the run goes on as a possession of the
    /// parent's session, which no interrupt of the parent's run reaches. Its messages go to the stream of the
    /// parent's run while there is one, else to the parent's session_options::on_background; the parent's
    /// model learns of its end as by notify(). This session, and what the approver of the parent's run refers
    /// to, live until it has ended or the parent's session is destroyed.
    [[nodiscard]] stream<chunk, tool_result> launch_under(tool_context parent, text prompt) {
        return core_.launch_under(std::move(parent), std::move(prompt));
    }
    /// Interrupts a background run of this session's tools by the id of its session, or all (empty). False if
    /// there is none.
    bool stop_background(const text& session_id = {}, cancel_reason why = cancel_reason::user) {
        return core_.stop_background(session_id, why);
    }
    [[nodiscard]] std::size_t background_count() const noexcept { return core_.background_count(); }

    /// Puts a session that has not run yet where another one stopped; `from` comes from resume(),
    /// load_session() or reopen_session(). Errors: std::errc::operation_not_permitted where this session has
    /// run or was restored before, device_or_resource_busy while it runs; it stays as it was. A history of
    /// your own whose calls and outputs do not pair is repaired as repair_context() does it, and the first
    /// run says so with a `notice` (D-24).
    [[nodiscard]] result<void> restore(resumed_state from) { return core_.restore(std::move(from)); }

    [[nodiscard]] bool is_running() const noexcept { return core_.is_running(); }
    [[nodiscard]] bool is_compacting() const noexcept { return core_.is_compacting(); }
    /// The committed context, in the order the model sees it. Valid until the next run goes on.
    [[nodiscard]] std::span<const message> context() const noexcept { return core_.state().context; }
    /// Everything that happened and is worth a record, session_meta first, contexts that were given up
    /// included: read from the trace, which may block, and from memory where records could not be written or
    /// there is no trace (then only what this object has lived through). Errors: what the trace says.
    [[nodiscard]] result<std::vector<message>> history() const { return core_.history(); }
    /// What goes in front of the next run's input: left by an interrupt, a failure or a limit.
    [[nodiscard]] std::span<const message> carry_over() const noexcept { return core_.state().carry_over; }
    /// How many contexts were given up before this one.
    [[nodiscard]] int context_number() const noexcept { return core_.state().context_number; }
    /// Tokens of all requests so far, as the provider counted them: compactions and earlier contexts
    /// included, and what a resumed session had used before.
    [[nodiscard]] const token_counts& usage() const noexcept { return core_.state().usage; }

private:
    P provider_;
    E environment_;
    session_core core_;
};

template <class ProviderArg>
session(ProviderArg) -> session<std::unwrap_ref_decay_t<ProviderArg>>;
template <class ProviderArg>
session(ProviderArg, session_options) -> session<std::unwrap_ref_decay_t<ProviderArg>>;
template <class ProviderArg, class EnvironmentArg>
session(ProviderArg, EnvironmentArg)
    -> session<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;
template <class ProviderArg, class EnvironmentArg>
session(ProviderArg, EnvironmentArg, session_options)
    -> session<std::unwrap_ref_decay_t<ProviderArg>, std::unwrap_ref_decay_t<EnvironmentArg>>;

} // namespace thalweg
