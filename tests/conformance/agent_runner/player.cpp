// SPDX-License-Identifier: BSL-1.0

#include "player.hpp"

#include "hosts.hpp"

#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/virtual_loop.hpp>

#include <boost/json/serialize.hpp>

#include <chrono>
#include <utility>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

namespace {

task<void> settle(task<agent_outcome> call, json::value& place) {
    const agent_outcome outcome = co_await std::move(call);
    place = result_value(outcome);
}

/// What the user does, one act after the other.
class user {
public:
    user(const json::array& actions, host& with) : actions_(actions), host_(with), results_(actions.size()) {}

    [[nodiscard]] task<void> act();
    [[nodiscard]] json::array& results() noexcept { return results_; }

private:
    void perform(const json::object& action, scope& calls, json::value& result);

    const json::array& actions_;
    host& host_;
    json::array results_;
};

task<void> user::act() {
    const context here = co_await this_coroutine();
    const auto start = here.loop().now();
    scope calls(here);
    host_.serve(calls);
    for (std::size_t n = 0; n < actions_.size(); ++n) {
        const json::object& action = actions_[n].as_object();
        if (action.contains("after_idle")) {
            co_await calls.join();
            co_await host_.idle();
            co_await sleep_through(milliseconds(number_or(action, "delay_ms", 0)));
        } else {
            const milliseconds at(number_or(action, "at_ms", 0));
            const auto passed = here.loop().now() - start;
            if (at > passed) co_await sleep_through(at - passed);
        }
        perform(action, calls, results_[n]);
    }
    co_await calls.join();
    co_await host_.idle();
    co_await sleep_through(milliseconds(30));
    co_await calls.join();
}

void user::perform(const json::object& action, scope& calls, json::value& result) {
    const auto message = [&action](std::string_view key) {
        return agent_message::user(text(text_or(action, key, {})));
    };
    result = json::object{{"ok", true}};
    if (const json::value* prompt = action.if_contains("prompt")) {
        result = nullptr;
        calls.spawn(settle(host_.prompt(prompts_of(*prompt)), result));
    } else if (action.contains("continue")) {
        result = nullptr;
        calls.spawn(settle(host_.continue_(), result));
    } else if (action.contains("steer")) {
        host_.steer(message("steer"));
    } else if (action.contains("follow_up")) {
        host_.follow_up(message("follow_up"));
    } else if (action.contains("abort")) {
        host_.abort();
    } else if (action.contains("clear_queues")) {
        host_.clear_queues();
    } else if (action.contains("drop_last")) {
        host_.drop_last(static_cast<std::size_t>(number_or(action, "drop_last", 0)));
    } else {
        throw std::runtime_error("unknown action: " + json::serialize(action));
    }
}

observation play_with(const scenario& s, std::unique_ptr<host> (*make)(const scenario&, record&)) {
    record seen(find_object(&s.data, "options"));
    const std::unique_ptr<host> with = make(s, seen);
    user acting(s.data.at("actions").as_array(), *with);
    thalweg::testing::virtual_loop on;
    on.run(acting.act());

    observation o;
    o.seen["events"] = seen.events();
    o.seen["llm_inputs"] = seen.inputs();
    o.seen["action_results"] = std::move(acting.results());
    with->add_to(o.seen);
    o.checker = seen.complaints();
    return o;
}

} // namespace

observation play(const scenario& s) {
    const bool is_loop = text_or(s.data, "api", {}) == "loop";
    observation o = play_with(s, is_loop ? make_loop : make_agent);
    if (!fits_iterator(s)) return o;
    const observation again = play_with(s, make_steps);
    if (!again.checker.empty()) o.checker += "played on the iterator:\n" + again.checker;
    for (const char* part : {"events", "llm_inputs"}) {
        if (again.seen.at(part) == o.seen.at(part)) continue;
        o.checker += "played on the iterator it has other " + std::string(part) + ": " +
                     json::serialize(again.seen.at(part)) + "\n";
    }
    return o;
}

} // namespace conformance
