// SPDX-License-Identifier: BSL-1.0

#include "agent/logs.hpp"
#include "support/catch.hpp"

#include <thalweg/agent/agent_event_checker.hpp>

#include <algorithm>
#include <functional>

using namespace agent_logs;
using thalweg::agent_event;
using thalweg::agent_event_checker;
using thalweg::agent_message;
using thalweg::agent_stop;
using thalweg::assistant_update;
using thalweg::content_block;
using thalweg::finish;
using rule = agent_event_checker::rule;
using list = std::vector<agent_event>;

namespace {

list good() {
    return events(join({prompt("Go"),
                        answer(),
                        words({"Hel", "lo"}),
                        call("c1", "read", {"{}"}),
                        done(finish::tool_use),
                        begun("c1", "read"),
                        {thalweg::message::call_progress("c1", "10%")},
                        output("c1", "A"),
                        settled({"c1"}),
                        answer(),
                        words({"ok"}),
                        done(),
                        run_end()}));
}

std::size_t place(const list& all, std::string_view wanted) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (line(all[i]) == wanted) return i;
    }
    FAIL("no event " << wanted);
    return 0;
}

void drop(list& all, std::string_view wanted) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(place(all, wanted)));
}

void twice(list& all, std::string_view wanted) {
    const std::size_t at = place(all, wanted);
    const agent_event again = all[at];
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(at), again);
}

void trade(list& all, std::string_view a, std::string_view b) {
    std::swap(all[place(all, a)], all[place(all, b)]);
}

template <class Event>
void put(list& all, std::string_view wanted, Event into) {
    all[place(all, wanted)] = agent_event::of(std::move(into));
}

struct broken_case {
    rule which;
    std::string_view name;
    std::function<void(list&)> damage;
};

std::vector<broken_case> broken_cases() {
    const std::string call_end = "end assistant text:Hello toolCall c1:{}";
    return {
        {rule::run, "no start of the run", [](list& l) { drop(l, "agent_start"); }},
        {rule::run, "no end of the run", [](list& l) { l.pop_back(); }},
        {rule::run, "two starts", [](list& l) { twice(l, "agent_start"); }},
        {rule::run, "two ends", [](list& l) { l.push_back(l.back()); }},
        {rule::turn, "a turn in a turn", [](list& l) { twice(l, "turn_start"); }},
        {rule::turn, "no end of the last turn", [](list& l) { drop(l, "turn_end stop"); }},
        {rule::turn, "two ends of a turn", [](list& l) { twice(l, "turn_end stop"); }},
        {rule::turn, "a turn ends inside its message",
         [](list& l) { trade(l, "turn_end stop", "end assistant text:ok"); }},
        {rule::message, "a message outside of a turn",
         [](list& l) { trade(l, "turn_start", "start user Go"); }},
        {rule::message, "a start without end", [](list& l) { drop(l, "end user Go"); }},
        {rule::message, "an end without start", [](list& l) { drop(l, "start user Go"); }},
        {rule::message, "start and end that differ",
         [](list& l) { put(l, "end user Go", agent_event::message_end{agent_message::user("Stop")}); }},
        {rule::order, "an input behind the answer",
         [](list& l) {
             const auto at = l.begin() + static_cast<std::ptrdiff_t>(place(l, "turn_end stop"));
             const agent_message late = agent_message::user("late");
             l.insert(at, {agent_event::of(agent_event::message_start{late}),
                           agent_event::of(agent_event::message_end{late})});
         }},
        {rule::update, "an update of a user message",
         [](list& l) {
             put(l, "end user Go",
                 agent_event::message_update{agent_message::user("Go"), assistant_update::start({}, 0)});
         }},
        {rule::update, "a block without start", [](list& l) { drop(l, "text_start 0"); }},
        {rule::update, "a delta that is lost", [](list& l) { drop(l, "text_delta 0 Hel"); }},
        {rule::update, "a delta twice", [](list& l) { twice(l, "text_delta 0 lo"); }},
        {rule::update, "deltas that change places",
         [](list& l) { trade(l, "text_delta 0 Hel", "text_delta 0 lo"); }},
        {rule::update, "two ends of a block", [](list& l) { twice(l, "text_end 0 Hello"); }},
        {rule::update, "a snapshot that is behind",
         [](list& l) {
             put(l, "text_delta 0 lo",
                 agent_event::message_update{agent_message::assistant(content_block::text("Hel")),
                                             assistant_update::delta(content_block::type::text, 0, "lo")});
         }},
        {rule::update, "an index of no block",
         [](list& l) {
             put(l, "text_start 0",
                 agent_event::message_update{agent_message::assistant(content_block::text({})),
                                             assistant_update::start(content_block::type::text, 3)});
         }},
        {rule::update, "an end that is not the sum",
         [](list& l) {
             put(l, "text_end 0 Hello",
                 agent_event::message_update{agent_message::assistant(content_block::text("Hello")),
                                             assistant_update::end(0, content_block::text("Hallo"))});
         }},
        {rule::tool, "a tool inside the answer",
         [=](list& l) { trade(l, call_end, "tool_start c1 read {}"); }},
        {rule::tool, "an end without start", [](list& l) { drop(l, "tool_start c1 read {}"); }},
        {rule::tool, "two starts", [](list& l) { twice(l, "tool_start c1 read {}"); }},
        {rule::tool, "an update behind the end",
         [](list& l) { trade(l, "tool_update c1 10%", "tool_end c1 A"); }},
        {rule::turn, "a start without end", [](list& l) { drop(l, "tool_end c1 A"); }},
        {rule::result, "a result without execution",
         [](list& l) { trade(l, "tool_end c1 A", "start toolResult c1 A"); }},
        {rule::turn_end, "a turn that forgets its result",
         [](list& l) {
             const auto at = place(l, "turn_end toolUse c1");
             agent_event::turn_end end = *l[at].get_if<agent_event::turn_end>();
             end.tool_results.clear();
             l[at] = agent_event::of(end);
         }},
        {rule::turn_end, "a turn that ends with another message",
         [](list& l) {
             put(l, "turn_end stop",
                 agent_event::turn_end{agent_message::assistant(content_block::text("ko")), {}});
         }},
        {rule::agent_end, "a run that forgets a message",
         [](list& l) {
             agent_event::agent_end end = *l.back().get_if<agent_event::agent_end>();
             end.messages.erase(end.messages.begin());
             l.back() = agent_event::of(end);
         }},
        {rule::error, "an error without words",
         [](list& l) {
             const agent_message wordless = agent_message::assistant(content_block::text("ok"),
                                                                     agent_stop::error);
             put(l, "end assistant text:ok", agent_event::message_end{wordless});
         }},
    };
}

} // namespace

TEST_CASE("a good list of events breaks no rule, run by run") {
    agent_event_checker checker;
    for (int run = 0; run < 2; ++run) {
        for (const agent_event& event : good())
            checker.feed(event);
    }
    checker.finish();
    CHECK(checker.ok());
    CHECK(checker.report().empty());
}

TEST_CASE("each broken promise is found and named") {
    std::vector<bool> seen(10);
    for (const broken_case& each : broken_cases()) {
        list all = good();
        each.damage(all);
        agent_event_checker checker;
        for (const agent_event& event : all)
            checker.feed(event);
        checker.finish();
        INFO(each.name << "\n" << checker.report());
        CHECK_FALSE(checker.ok());
        const auto found = checker.violations();
        CHECK(
            std::any_of(found.begin(), found.end(), [&each](const auto& v) { return v.rule == each.which; }));
        for (const auto& violation : found) {
            CHECK(violation.event_index <= all.size());
            CHECK(violation.text.starts_with("R-EVT-"));
        }
        seen[static_cast<std::size_t>(each.which)] = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) == 10);
}

TEST_CASE("a flood of faults is kept to a hundred") {
    agent_event_checker checker;
    for (int i = 0; i < 500; ++i)
        checker.feed(agent_event::of(agent_event::turn_start{}));
    CHECK(checker.violations().size() == 100);
    CHECK(to_string(rule::turn_end) == "turn_end");
}
