// SPDX-License-Identifier: BSL-1.0

#pragma once

// Named awaits on the outside world, and a plan which of them fails, hangs or does not listen. The points lie
// in decorators around what a session is made of, so neither the engine nor a program has test code inside:
//
//     fault_plan plan;
//     plan.at(fault_point::model_delta, 2, fault_action::hang);
//     faulty_provider model(std::ref(my_model), plan);
//     faulty_environment tools(std::ref(my_tools), plan);
//     faulty_approver asks(allow_all, plan);
//     faulty_sink records(my_sink, plan);
//     session chat(std::ref(model), std::ref(tools), {.trace = &records});
//     chat.run("go", {.approve = std::ref(asks)});
//
// sweep() plays a case once for each point, pass and action: the cheapest way to be asked for everything that
// may go wrong.
//
// Thread rule: loop thread. The plan outlives its decorators, these what was made of them.

#include <thalweg/async/sleep.hpp>
#include <thalweg/protocol/environment.hpp>
#include <thalweg/protocol/provider.hpp>
#include <thalweg/trace/sink.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg::testing {

/// Where the outside world is waited for.
enum class fault_point : std::uint8_t {
    model_begin,   ///< a request, before its first delta
    model_delta,   ///< before each further delta
    model_outcome, ///< before the outcome
    tool_begin,    ///< a tool call, before anything of it runs
    tool_chunk,    ///< before each chunk is handed on
    tool_result,   ///< before the result
    approval,      ///< before the approver is asked
    trace_write,   ///< a write with something to record
    trace_rotate,  ///< the first write behind a rotation; it is no trace_write then
};
inline constexpr std::size_t fault_point_count = 9;
[[nodiscard]] std::string_view to_string(fault_point p) noexcept;

/// What happens there.
enum class fault_action : std::uint8_t {
    none,
    fail,   ///< as the interface has it: a failed outcome or result, a denial, an error value
    throws, ///< an exception; environment_failure from tool_begin
    hang,   ///< waits until asked to stop, then ends as aborted (an approver denies, a write is left out)
    deaf,   ///< waits for ever, whatever is asked
};
[[nodiscard]] std::string_view to_string(fault_action a) noexcept;

/// One fault: `action` at the `pass`-th time (from 1) that `point` is reached.
struct planned_fault {
    fault_point point = fault_point::model_begin;
    std::size_t pass = 1;
    fault_action action = fault_action::none;
};
/// E.g. `hang at model_delta 2`.
[[nodiscard]] std::string describe(const planned_fault& f);

/// Which fault happens where, and how often each point was passed.
class fault_plan {
public:
    fault_plan& at(fault_point point, std::size_t pass, fault_action action) {
        faults_.push_back({point, pass, action});
        return *this;
    }
    fault_plan& at(const planned_fault& f) { return at(f.point, f.pass, f.action); }

    /// Counts a pass and says what happens there.
    [[nodiscard]] fault_action pass(fault_point point);
    [[nodiscard]] std::size_t passes(fault_point point) const noexcept {
        return passes_[static_cast<std::size_t>(point)];
    }

private:
    std::vector<planned_fault> faults_;
    std::array<std::size_t, fault_point_count> passes_{};
};

namespace detail {

/// Waits as `action` says; throws if it says so.
[[nodiscard]] task<void> suffer(fault_action action, fault_point where);
[[nodiscard]] std::string fault_words(fault_point where);

} // namespace detail

/// A provider with fault points. Takes the provider by value, or refers to it with std::ref.
template <class Provider>
class faulty_provider {
public:
    faulty_provider(Provider inner, fault_plan& plan) : inner_(std::move(inner)), plan_(&plan) {}

    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        return play(static_cast<std::unwrap_reference_t<Provider>&>(inner_).generate(std::move(request)),
                    *plan_);
    }

private:
    static stream<delta, model_outcome> play(stream<delta, model_outcome> answer, fault_plan& plan) {
        fault_point where = fault_point::model_begin;
        for (bool goes_on = true; goes_on;) {
            auto piece = co_await answer.next();
            if (!piece && where == fault_point::model_delta) where = fault_point::model_outcome;
            const fault_action what = plan.pass(where);
            co_await detail::suffer(what, where);
            if (what == fault_action::fail) co_return model_outcome::failed(detail::fault_words(where));
            if (what == fault_action::hang) co_return model_outcome::aborted();
            where = fault_point::model_delta;
            goes_on = piece.has_value();
            if (goes_on) co_yield std::move(*piece);
        }
        co_return std::move(answer.result());
    }

    Provider inner_;
    fault_plan* plan_;
};

/// An environment with fault points. Takes the environment by value, or refers to it with std::ref.
template <class Environment>
class faulty_environment {
public:
    faulty_environment(Environment inner, fault_plan& plan) : inner_(std::move(inner)), plan_(&plan) {}

    [[nodiscard]] std::vector<tool_definition> tools() { return inner().tools(); }
    [[nodiscard]] stream<chunk, tool_result> execute(tool_call call, tool_context around) {
        return play(inner(), *plan_, std::move(call), std::move(around));
    }

private:
    using inner_type = std::unwrap_reference_t<Environment>;
    inner_type& inner() { return static_cast<inner_type&>(inner_); }

    static stream<chunk, tool_result> play(inner_type& tools, fault_plan& plan, tool_call call,
                                           tool_context around) {
        fault_point where = fault_point::tool_begin;
        fault_action what = plan.pass(where);
        if (what == fault_action::throws) throw environment_failure(detail::fault_words(where));
        co_await detail::suffer(what, where);
        if (what == fault_action::fail) co_return tool_result::failed(detail::fault_words(where));
        if (what == fault_action::hang) co_return tool_result::aborted();
        auto output = tools.execute(std::move(call), std::move(around));
        for (bool goes_on = true; goes_on;) {
            auto piece = co_await output.next();
            where = piece ? fault_point::tool_chunk : fault_point::tool_result;
            what = plan.pass(where);
            co_await detail::suffer(what, where);
            if (what == fault_action::fail) co_return tool_result::failed(detail::fault_words(where));
            if (what == fault_action::hang) co_return tool_result::aborted();
            goes_on = piece.has_value();
            if (goes_on) co_yield std::move(*piece);
        }
        co_return std::move(output.result());
    }

    Environment inner_;
    fault_plan* plan_;
};

/// An approver with a fault point; hand it to a run with std::ref.
class faulty_approver {
public:
    faulty_approver(approver inner, fault_plan& plan) noexcept : inner_(inner), plan_(&plan) {}

    [[nodiscard]] task<decision> operator()(const tool_call& call);

private:
    approver inner_;
    fault_plan* plan_;
};

/// A trace sink with fault points.
class faulty_sink final : public trace::sink {
public:
    faulty_sink(trace::sink& inner, fault_plan& plan) noexcept : inner_(&inner), plan_(&plan) {}

    [[nodiscard]] task<result<void>> write(std::span<const message> messages) override;
    void rotate() override;
    [[nodiscard]] std::string_view path() const noexcept override { return inner_->path(); }

private:
    [[nodiscard]] task<result<void>> suffer_and_write(fault_action what, fault_point where,
                                                      std::span<const message> messages);

    trace::sink* inner_;
    fault_plan* plan_;
    bool is_rotated_ = false;
};

/// Plays a case without a fault, to see which points it passes, and then once for each fault: every pass of
/// every point with every one of `actions`. `play` makes all it needs anew, runs it to its end and asserts
/// what must hold whatever goes wrong; `fault.action` is none the first time. At most `most_passes` of a
/// point. Gives the number of plays.
std::size_t sweep(const std::function<void(fault_plan& plan, const planned_fault& fault)>& play,
                  std::span<const fault_action> actions, std::size_t most_passes = 64);
/// The same with all actions.
std::size_t sweep(const std::function<void(fault_plan& plan, const planned_fault& fault)>& play);

} // namespace thalweg::testing
