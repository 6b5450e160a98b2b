// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/compose.hpp>

#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

namespace thalweg {

namespace {

using detail::composition_plan;
using plan_ptr = std::shared_ptr<const composition_plan>;

/// What a composition was asked. Owns what the options refer to for the begin of a run: members begin late.
class errand {
public:
    explicit errand(detail::member_request asked)
        : asked_(std::move(asked)), level_(asked_.around.thinking_level) {}

    [[nodiscard]] const text& prompt() const noexcept { return asked_.prompt; }
    /// The same for a member, in other words. Valid while this stays where it is.
    [[nodiscard]] detail::member_request with(text words) const {
        run_options around = asked_.around;
        around.thinking_level = level_.view();
        return {std::move(words), around, asked_.known};
    }

private:
    detail::member_request asked_;
    text level_;
};

part unanswered(text name, agent_errc code, std::string why) {
    return part(std::move(name), error(code, std::move(why)));
}

part not_begun(text name) {
    return unanswered(std::move(name), agent_errc::aborted, "not begun: the run was stopped before");
}

// What comes of the parts
// -------------------------------------------------------------------------------------------------------

std::string joined(const std::vector<part>& parts) {
    std::string out;
    for (const part& each : parts) {
        if (!out.empty()) out += "\n\n";
        out += "## " + each.name().str() + "\n\n";
        out += each.ok() ? each.answer().value() : "(no answer: " + each.answer().error().message() + ")";
    }
    return out;
}

bool has_answer(const part& p) noexcept {
    return p.ok();
}

composition_outcome stopped(std::vector<part> parts) {
    return {error(agent_errc::aborted, "the run was stopped"), std::move(parts)};
}

/// The outcome where `deciding` failed.
composition_outcome failed_by(const part& deciding, std::vector<part> parts) {
    const error& why = deciding.answer().error();
    error named(why.code(), deciding.name().str() + ": " + why.message());
    return {std::move(named), std::move(parts)};
}

composition_outcome none_answered(std::vector<part> parts) {
    std::string why = "no member has an answer";
    for (const part& each : parts)
        why += (&each == &parts.front() ? ": " : "; ") + each.name().str() + ": " +
               each.answer().error().message();
    const std::error_code code = parts.front().answer().error().code();
    return {error(code, std::move(why)), std::move(parts)};
}

composition_outcome joined_outcome(std::vector<part> parts, bool was_stopped) {
    const auto answered = std::count_if(parts.begin(), parts.end(), has_answer);
    const bool has_all = answered == static_cast<std::ptrdiff_t>(parts.size());
    if (was_stopped && !has_all) return stopped(std::move(parts));
    if (answered == 0 && !has_all) return none_answered(std::move(parts));
    std::string all = joined(parts);
    return {std::move(all), std::move(parts)};
}

// One after the other
// -------------------------------------------------------------------------------------------------------

text with_answer(const text& prompt, const std::string& answer) {
    std::string words = prompt.str();
    if (!words.empty()) words += "\n\n";
    return text(words + "# Answer so far\n\n" + answer);
}

stream<message, composition_outcome> in_sequence(plan_ptr plan, errand asked) {
    const context here = co_await this_coroutine();
    std::vector<part> parts;
    text words = asked.prompt();
    for (const member& each : plan->members) {
        if (here.stop_requested()) {
            parts.push_back(not_begun(each.name()));
            break;
        }
        auto run = each.source().run(asked.with(std::move(words)));
        while (message* m = co_await run.peek())
            co_yield std::move(*m);
        parts.push_back(each.named(std::move(run.result())));
        if (!parts.back().ok()) break;
        words = with_answer(asked.prompt(), parts.back().answer().value());
    }
    if (!parts.back().ok()) {
        if (here.stop_requested()) co_return stopped(std::move(parts));
        const part deciding = parts.back();
        co_return failed_by(deciding, std::move(parts));
    }
    std::string last = parts.back().answer().value();
    co_return composition_outcome(std::move(last), std::move(parts));
}

// Whoever is named
// -------------------------------------------------------------------------------------------------------

text with_question(const text& prompt, const std::vector<member>& members) {
    std::string words = prompt.str();
    words += "\n\nWho should go on with this? Answer with one of these names and nothing else: ";
    for (std::size_t at = 1; at < members.size(); ++at)
        words += (at == 1 ? "" : ", ") + members[at].name().str();
    return text(words);
}

/// Without what models put around a single word, in lower case.
std::string bare_name(std::string_view said) {
    constexpr std::string_view around = " \t\r\n\"'`*.";
    const auto first = said.find_first_not_of(around);
    if (first == std::string_view::npos) return {};
    said = said.substr(first, said.find_last_not_of(around) - first + 1);
    std::string bare(said);
    std::transform(bare.begin(), bare.end(), bare.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return bare;
}

const member* named_by(std::string_view said, const std::vector<member>& members) {
    for (std::size_t at = 1; at < members.size(); ++at) {
        if (bare_name(members[at].name()) == bare_name(said)) return &members[at];
    }
    return nullptr;
}

stream<message, composition_outcome> by_handoff(plan_ptr plan, errand asked) {
    const context here = co_await this_coroutine();
    const std::vector<member>& members = plan->members;
    std::vector<part> parts;
    auto routing = members.front().source().run(asked.with(with_question(asked.prompt(), members)));
    while (message* m = co_await routing.peek())
        co_yield std::move(*m);
    parts.push_back(members.front().named(std::move(routing.result())));
    const part router = parts.front();
    if (here.stop_requested()) co_return stopped(std::move(parts));
    if (!router.ok()) co_return failed_by(router, std::move(parts));

    const member* chosen = named_by(router.answer().value(), members);
    if (chosen == nullptr) {
        error why(agent_errc::mismatch, router.name().str() + " was to name who goes on, and said: \"" +
                                            router.answer().value() + "\"");
        co_return composition_outcome(std::move(why), std::move(parts));
    }
    auto run = chosen->source().run(asked.with(asked.prompt()));
    while (message* m = co_await run.peek())
        co_yield std::move(*m);
    parts.push_back(chosen->named(std::move(run.result())));
    const part last = parts.back();
    if (last.ok()) co_return composition_outcome(last.answer(), std::move(parts));
    if (here.stop_requested()) co_return stopped(std::move(parts));
    co_return failed_by(last, std::move(parts));
}

// Side by side
// -------------------------------------------------------------------------------------------------------

/// What those who run at once share. In the frame of the composition's stream, before the scope.
struct side_by_side {
    explicit side_by_side(errand e) : asked(std::move(e)) {}
    errand asked;
    std::vector<part> parts;
    std::size_t next = 0;              // of the inputs
    std::optional<std::size_t> winner; // of a race
};

/// Runs one member; what it says goes to `out`, what comes of it to `into`. When the stream is being left,
/// `out` takes nothing more, and the member still ends in order.
task<void> feed(const member& one, detail::member_request asked, merge<message>::producer& out, part& into) {
    auto run = one.source().run(std::move(asked));
    while (message* m = co_await run.peek()) {
        const bool taken = co_await out.send(std::move(*m));
        static_cast<void>(taken);
    }
    into = one.named(std::move(run.result()));
}

task<void> take_part(const member& one, std::size_t at, side_by_side& all, merge<message>::producer out) {
    const context here = co_await this_coroutine();
    static_cast<void>(here);
    co_await feed(one, all.asked.with(all.asked.prompt()), out, all.parts[at]);
}

task<void> compete(const member& one, std::size_t at, side_by_side& all, merge<message>::producer out,
                   scope& field) {
    const context here = co_await this_coroutine();
    static_cast<void>(here);
    co_await feed(one, all.asked.with(all.asked.prompt()), out, all.parts[at]);
    if (!all.parts[at].ok() || all.winner) co_return;
    all.winner = at;
    field.cancel();
}

/// Two that run at once under the same hop could not be told apart in the stream.
bool shares_its_id(const std::vector<member>& members, std::size_t at) {
    const text own = members[at].source().hop();
    return !own.empty() && std::any_of(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(at),
                                       [&own](const member& m) { return m.source().hop() == own; });
}

stream<message, composition_outcome> at_once(plan_ptr plan, errand asked) {
    const context here = co_await this_coroutine();
    const bool is_race = plan->how == composition_plan::form::race;
    const std::vector<member>& members = plan->members;
    side_by_side all(std::move(asked));
    for (const member& each : members)
        all.parts.push_back(not_begun(each.name()));
    merge<message> point;
    scope field(here);
    for (std::size_t at = 0; at < members.size() && !field.context().stop_requested(); ++at) {
        if (shares_its_id(members, at)) {
            all.parts[at] = unanswered(members[at].name(), agent_errc::busy,
                                       "another member that runs at once has the same id");
        } else if (is_race) {
            field.spawn(compete(members[at], at, all, point.attach(), field));
        } else {
            field.spawn(take_part(members[at], at, all, point.attach()));
        }
    }
    while (message* m = co_await point.peek())
        co_yield std::move(*m);
    co_await field.join();
    if (!is_race) co_return joined_outcome(std::move(all.parts), here.stop_requested());
    if (all.winner) {
        std::string won = all.parts[*all.winner].answer().value();
        co_return composition_outcome(std::move(won), std::move(all.parts));
    }
    if (here.stop_requested()) co_return stopped(std::move(all.parts));
    co_return none_answered(std::move(all.parts));
}

/// A member for one input, or why there is none.
result<member> made_for(const composition_plan& plan, const text& input) {
    std::string why;
    try {
        return plan.make(input);
    } catch (const std::exception& e) {
        why = e.what();
    } catch (...) {
        why = "something that is no std::exception was thrown";
    }
    return error(agent_errc::hook_failed, "no agent could be made for this input: " + why);
}

/// Takes one input after the other.
task<void> work_off(const composition_plan& plan, side_by_side& all, merge<message>::producer out) {
    const context here = co_await this_coroutine();
    while (all.next < plan.inputs.size() && !here.stop_requested()) {
        const std::size_t at = all.next++;
        part& into = all.parts[at];
        const text name = into.name();
        const result<member> one = made_for(plan, plan.inputs[at]);
        if (!one) {
            into = part(name, one.error());
            continue;
        }
        std::string words = all.asked.prompt().str();
        if (!words.empty()) words += "\n\n";
        words += plan.inputs[at].view();
        co_await feed(one.value(), all.asked.with(text(words)), out, into);
        into = std::move(into).renamed(name);
    }
}

stream<message, composition_outcome> over_inputs(plan_ptr plan, errand asked) {
    const context here = co_await this_coroutine();
    side_by_side all(std::move(asked));
    for (std::size_t at = 0; at < plan->inputs.size(); ++at)
        all.parts.push_back(not_begun(text("input " + std::to_string(at + 1))));
    merge<message> point;
    scope workers(here);
    const std::size_t limit = std::clamp<std::size_t>(plan->limit, 1,
                                                      std::max<std::size_t>(plan->inputs.size(), 1));
    for (std::size_t n = 0; n < limit; ++n)
        workers.spawn(work_off(*plan, all, point.attach()));
    while (message* m = co_await point.peek())
        co_yield std::move(*m);
    co_await workers.join();
    co_return joined_outcome(std::move(all.parts), here.stop_requested());
}

} // namespace

stream<message, composition_outcome> composition::run(text prompt, run_options options) const {
    return run_for(
        detail::member_request(std::move(prompt), options, std::make_shared<detail::introductions>()));
}

stream<message, composition_outcome> composition::run_for(detail::member_request request) const {
    errand asked(std::move(request));
    switch (plan_->how) {
    case composition_plan::form::sequence: return in_sequence(plan_, std::move(asked));
    case composition_plan::form::handoff: return by_handoff(plan_, std::move(asked));
    case composition_plan::form::map: return over_inputs(plan_, std::move(asked));
    case composition_plan::form::parallel:
    case composition_plan::form::race: break;
    }
    return at_once(plan_, std::move(asked));
}

std::string_view composition::name() const noexcept {
    switch (plan_->how) {
    case composition_plan::form::sequence: return "sequence";
    case composition_plan::form::parallel: return "parallel";
    case composition_plan::form::race: return "race";
    case composition_plan::form::handoff: return "handoff";
    case composition_plan::form::map: return "map";
    }
    return "composition";
}

} // namespace thalweg
