// SPDX-License-Identifier: BSL-1.0

#pragma once

// What a composition is made of: an agent, a session or another composition, without its type; and what came
// of it. Users write the agent itself, as_tool.hpp and compose.hpp make the member:
//
//     sequence(parallel(researcher, named("doubts", critic)), writer)
//
// Agents and sessions are referred to and outlive everything that was made of them; compositions are values
// and are copied. A member runs once at a time: while it is busy a second run of it ends at once, with the
// code `busy` as its part's error. Loop thread.

#include <thalweg/agent/agent_outcome.hpp>
#include <thalweg/agent/agent_state.hpp>
#include <thalweg/async/stream.hpp>
#include <thalweg/engine/session_options.hpp>
#include <thalweg/protocol/environment.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

/// What came of one member: its answer, or why there is none. A value.
class part {
public:
    part(text name, result<std::string> answer, std::vector<part> parts = {})
        : name_(std::move(name)), answer_(std::move(answer)), parts_(std::move(parts)) {}

    /// Of named(), else the id of the agent or session, else what kind of composition it is.
    [[nodiscard]] const text& name() const noexcept { return name_; }
    /// The last answer, or an error with code agent_errc.
    [[nodiscard]] const result<std::string>& answer() const noexcept { return answer_; }
    [[nodiscard]] bool ok() const noexcept { return answer_.has_value(); }
    /// Of a member that is a composition: its own parts.
    [[nodiscard]] const std::vector<part>& parts() const noexcept { return parts_; }

    part renamed(text name) && {
        name_ = std::move(name);
        return std::move(*this);
    }

private:
    text name_;
    result<std::string> answer_;
    std::vector<part> parts_;
};

class composition;

namespace detail {

/// Which agents a stream has shown already: the session_meta of each comes once (R-PRO-41). Sessions keep
/// this themselves.
class introductions {
public:
    /// True the first time.
    bool introduce(const text& id) {
        if (std::find(known_.begin(), known_.end(), id) != known_.end()) return false;
        known_.push_back(id);
        return true;
    }

private:
    std::vector<text> known_;
};

/// What a member is asked, and for whom. `known` belongs to the stream that its messages are for.
struct member_request {
    member_request(text p, run_options o, std::shared_ptr<introductions> k)
        : prompt(std::move(p)), around(o), known(std::move(k)) {}
    text prompt;
    run_options around;
    std::shared_ptr<introductions> known;
};

/// One member, by whatever it is. Outlives the streams it gave.
class member_source {
public:
    virtual ~member_source() = default;
    [[nodiscard]] virtual text name() const = 0;
    /// The first hop of its messages, which no two that run at once may share; empty: not known before.
    [[nodiscard]] virtual text hop() const = 0;
    /// Its messages with its hop in front.
    [[nodiscard]] virtual stream<message, part> run(member_request asked) = 0;
    /// The same as the tool `tool` of whoever made the context; of `asked` the options do not count.
    [[nodiscard]] virtual stream<chunk, tool_result> run_under(tool_context parent, member_request asked,
                                                               text tool) = 0;
};

class agent_member : public member_source {
public:
    [[nodiscard]] text name() const override { return id(); }
    [[nodiscard]] text hop() const override { return id(); }
    [[nodiscard]] stream<message, part> run(member_request asked) override;
    [[nodiscard]] stream<chunk, tool_result> run_under(tool_context parent, member_request asked,
                                                       text tool) override;

private:
    [[nodiscard]] virtual text id() const = 0;
    [[nodiscard]] virtual const agent_state& state() const = 0;
    [[nodiscard]] virtual stream<message, agent_outcome> start(text prompt, run_options around) = 0;
};

class session_member : public member_source {
public:
    [[nodiscard]] text name() const override { return text("session"); }
    [[nodiscard]] text hop() const override { return {}; }
    [[nodiscard]] stream<message, part> run(member_request asked) override;
    [[nodiscard]] stream<chunk, tool_result> run_under(tool_context parent, member_request asked,
                                                       text tool) override;

private:
    [[nodiscard]] virtual stream<chunk, tool_result> start_under(tool_context parent, text prompt) = 0;
};

template <class A>
concept agent_like = requires(A& a, text prompt, run_options options) {
    { a.run(std::move(prompt), options) } -> std::same_as<stream<message, agent_outcome>>;
    { a.id() } -> std::convertible_to<text>;
    { a.state() } -> std::same_as<const agent_state&>;
};

template <class S>
concept session_like = requires(S& s, tool_context parent, text prompt) {
    { s.run_under(std::move(parent), std::move(prompt)) } -> std::same_as<stream<chunk, tool_result>>;
};

/// `Held`: a pointer, which may own.
template <agent_like A, class Held>
class agent_member_of final : public agent_member {
public:
    explicit agent_member_of(Held held) noexcept : held_(std::move(held)) {}

private:
    [[nodiscard]] text id() const override { return held_->id(); }
    [[nodiscard]] const agent_state& state() const override { return held_->state(); }
    [[nodiscard]] stream<message, agent_outcome> start(text prompt, run_options around) override {
        return held_->run(std::move(prompt), around);
    }

    Held held_;
};

template <session_like S, class Held>
class session_member_of final : public session_member {
public:
    explicit session_member_of(Held held) noexcept : held_(std::move(held)) {}

private:
    [[nodiscard]] stream<chunk, tool_result> start_under(tool_context parent, text prompt) override {
        return held_->run_under(std::move(parent), std::move(prompt));
    }

    Held held_;
};

template <class A, class Held>
[[nodiscard]] std::shared_ptr<member_source> source_of(Held held) {
    if constexpr (agent_like<A>)
        return std::make_shared<agent_member_of<A, Held>>(std::move(held));
    else
        return std::make_shared<session_member_of<A, Held>>(std::move(held));
}

} // namespace detail

/// An agent, a session, or what has the members of one of them that are used here.
template <class A>
concept Runnable = detail::agent_like<A> || detail::session_like<A>;

class member {
public:
    template <Runnable A>
    member(A& runs) : source_(detail::source_of<A>(&runs)) {}
    template <Runnable A>
    member(std::reference_wrapper<A> runs) : member(runs.get()) {}
    member(const composition& runs);
    /// With a name of its own.
    template <class A>
        requires std::convertible_to<A, member>
    member(std::string_view name, A&& runs) : member(std::forward<A>(runs)) {
        name_ = text(name);
    }

    /// Takes part in owning what it runs.
    template <Runnable A>
    [[nodiscard]] static member owning(std::shared_ptr<A> runs) {
        return member(detail::source_of<A>(std::move(runs)));
    }

    [[nodiscard]] text name() const { return name_.empty() ? source_->name() : name_; }
    [[nodiscard]] detail::member_source& source() const noexcept { return *source_; }
    /// What came of a run of it, under its name.
    [[nodiscard]] part named(part came) const {
        return name_.empty() ? std::move(came) : std::move(came).renamed(name_);
    }

private:
    explicit member(std::shared_ptr<detail::member_source> source) noexcept : source_(std::move(source)) {}

    text name_;
    std::shared_ptr<detail::member_source> source_;
};

/// A member with a name of its own: for headings, parts() and handoff(). The origin of its messages stays its
/// id.
template <class A>
    requires std::convertible_to<A, member>
[[nodiscard]] member named(std::string_view name, A&& runs) {
    return member(name, std::forward<A>(runs));
}

} // namespace thalweg
