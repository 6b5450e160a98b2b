// SPDX-License-Identifier: BSL-1.0

#pragma once

// Agents made of agents: one after the other, side by side, the fastest, whoever fits, one per input.
//
//     auto team = sequence(parallel(researcher, critic), writer);
//     auto run = team.run("Why do thalwegs wander?");
//     while (auto m = co_await run.next()) show(*m);          // every member's messages, live, with their
//     run.result().answer()                                   // origin
//
// Members are agents, sessions (both by reference: they outlive the run) and compositions (by value), in any
// nesting. One stream shows all of them in the order of arrival: messages of one member keep their order, and
// each has that member's id in its origin; a composition adds no hop of its own. What a member says begins
// with its session_meta, once in a stream, and its prompt as a text of the sender parent_agent. What runs at
// once must have different ids: of two members of one composition that share one, the later fails with a
// sentence; across nested compositions it is up to you.
//
// A member that fails is a value: its part of the outcome, which says why. What that means for the whole
// stands at each function; nothing is thrown. A stop request to whoever reads the stream stops all members in
// order, and the outcome has the code `aborted`; dropping the stream drops them.
//
// run_options go to every member, one after the other or at once. Without an approver an agent asks its own
// (D-12), and a session denies every call; with one, each question names the member in the call's origin.
// Sessions take its approver, depth and grace alone. Members lie no deeper than their composition (D-14).
//
// Loop thread. A composition is a value and cheap to copy; its runs need only the agents.

#include <thalweg/agent/member.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// How a composition ended. A value.
class composition_outcome {
public:
    composition_outcome(result<std::string> answer, std::vector<part> parts)
        : answer_(std::move(answer)), parts_(std::move(parts)) {}

    [[nodiscard]] bool ok() const noexcept { return answer_.has_value(); }
    /// The answer of the whole; empty unless ok().
    [[nodiscard]] std::string answer() const { return ok() ? answer_.value() : std::string(); }
    /// Code agent_errc, and a sentence that names the member; nothing while ok().
    [[nodiscard]] thalweg::error error() const { return ok() ? thalweg::error() : answer_.error(); }
    /// What came of each member that was to run, in the order of the members, of the inputs, or of the steps.
    [[nodiscard]] const std::vector<part>& parts() const noexcept { return parts_; }

private:
    result<std::string> answer_;
    std::vector<part> parts_;
};

namespace detail {

struct composition_plan {
    enum class form : std::uint8_t { sequence, parallel, race, handoff, map };
    form how = form::sequence;
    std::vector<member> members = {}; // of handoff: the router first
    std::vector<text> inputs = {};    // of map, as is what follows
    std::function<member(const text&)> make = {};
    std::size_t limit = 1;
};

} // namespace detail

class composition {
public:
    explicit composition(detail::composition_plan plan)
        : plan_(std::make_shared<const detail::composition_plan>(std::move(plan))) {}

    /// Works while somebody reads. `prompt` is what the members are asked, see each function.
    [[nodiscard]] stream<message, composition_outcome> run(text prompt = {}, run_options options = {}) const;
    [[nodiscard]] stream<message, composition_outcome> run_for(detail::member_request asked) const;
    /// Which function made it: "sequence", "parallel", …
    [[nodiscard]] std::string_view name() const noexcept;

private:
    std::shared_ptr<const detail::composition_plan> plan_;
};

namespace detail {

template <class A>
[[nodiscard]] member member_of(A&& runs) {
    static_assert(std::is_lvalue_reference_v<A> || !Runnable<std::remove_cvref_t<A>>,
                  "thalweg: a composition refers to its agents and sessions; name the one that is meant, and "
                  "let it outlive the runs");
    static_assert(std::convertible_to<A, member>,
                  "thalweg: a composition is made of agents, sessions and compositions");
    return member(std::forward<A>(runs));
}

template <class... All>
[[nodiscard]] composition composed(composition_plan::form how, All&&... all) {
    composition_plan plan;
    plan.how = how;
    plan.members.reserve(sizeof...(All));
    (plan.members.push_back(member_of(std::forward<All>(all))), ...);
    return composition(std::move(plan));
}

} // namespace detail

/// One after the other. The first is asked the prompt; each later one is asked the prompt, an empty line,
/// "# Answer so far", an empty line and the answer of the one before it. The first that fails ends it and
/// makes the whole fail. The answer is the last one's.
template <class First, class... Rest>
[[nodiscard]] composition sequence(First&& first, Rest&&... rest) {
    return detail::composed(detail::composition_plan::form::sequence, std::forward<First>(first),
                            std::forward<Rest>(rest)...);
}

/// All at once, all asked the same. The answer has a part for each member, in their order: a line "## NAME",
/// an empty line, and its answer or "(no answer: WHY)". It fails only if no member has an answer: whoever
/// needs all of them looks at parts().
template <class First, class... Rest>
[[nodiscard]] composition parallel(First&& first, Rest&&... rest) {
    return detail::composed(detail::composition_plan::form::parallel, std::forward<First>(first),
                            std::forward<Rest>(rest)...);
}

/// All at once, all asked the same. The first answer wins; the others are stopped in order, and have ended
/// when the stream does. A member that fails loses nothing for the others; it fails when all do.
template <class First, class... Rest>
[[nodiscard]] composition race(First&& first, Rest&&... rest) {
    return detail::composed(detail::composition_plan::form::race, std::forward<First>(first),
                            std::forward<Rest>(rest)...);
}

/// `router` names who goes on:
///
///     handoff(router, {{"billing", accounts}, {"technology", engineers}})
///
/// It is asked the prompt and, below, to answer with one of the names alone; quotes, a full stop and
/// upper case do not matter. Who is named is asked the prompt itself, and the answer is theirs. An answer
/// that is none of the names is the error `mismatch`, which quotes it.
template <class Router>
[[nodiscard]] composition handoff(Router&& router, std::vector<member> routes) {
    detail::composition_plan plan;
    plan.how = detail::composition_plan::form::handoff;
    plan.members.push_back(detail::member_of(std::forward<Router>(router)));
    for (member& each : routes)
        plan.members.push_back(std::move(each));
    return composition(std::move(plan));
}

struct map_options {
    std::size_t limit = 4; ///< inputs that are worked on at once; at least one
};

namespace detail {

/// What a factory made, where it was made: agents do not move.
template <class Made>
struct made_here {
    template <class Make>
    explicit made_here(Make&& make) : value(std::forward<Make>(make)()) {}
    Made value;
};

template <class Make>
[[nodiscard]] member make_member(Make& make, const text& input) {
    const auto made = [&]() -> decltype(auto) {
        if constexpr (std::invocable<Make&, const text&>)
            return make(input);
        else
            return make();
    };
    using type = std::remove_cvref_t<decltype(made())>;
    if constexpr (std::convertible_to<type, member> && !Runnable<type>) {
        return member(made());
    } else {
        static_assert(Runnable<type>,
                      "thalweg: the factory of a map gives an agent, a session or a composition");
        auto holder = std::make_shared<made_here<type>>(made);
        type* const value = &holder->value;
        return member::owning(std::shared_ptr<type>(std::move(holder), value));
    }
}

} // namespace detail

/// One agent for each of `inputs`, at most `limit` at once; each is asked the prompt, an empty line and its
/// input, or its input alone if the prompt is empty. `make` is called with the input, or without anything,
/// when its turn comes, and gives the agent (or session, or composition) by value:
///
///     map(questions, [&] { return agent(std::ref(model), tools, {.system = "Answer."}); }, {.limit =
///     2})
///
/// It is destroyed when it has answered. Give it no id of its own, or one that is made of the input. What
/// `make` throws makes that input fail. The answer is that of parallel(), with the parts named "input 1" and
/// so on, in the order of the inputs.
template <class Make>
[[nodiscard]] composition map(std::vector<text> inputs, Make make, map_options options = {}) {
    detail::composition_plan plan;
    plan.how = detail::composition_plan::form::map;
    plan.inputs = std::move(inputs);
    plan.make = [make = std::move(make)](const text& input) mutable {
        return detail::make_member(make, input);
    };
    plan.limit = options.limit;
    return composition(std::move(plan));
}

} // namespace thalweg
