// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/agent.hpp>
#include <thalweg/environments/functions.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace thalweg;
using namespace std::chrono_literals;
using providers::answer;

/// What a screen shows of a run. The whole reducer: no event is looked at twice, nothing is kept beside it.
struct screen {
    struct bubble {
        std::string who;
        std::string words;
        bool locked = false;
    };
    struct card {
        std::string tool;
        std::string shown;
        bool locked = false;
        bool is_error = false;
    };
    std::vector<bubble> bubbles;
    std::map<std::string, card> cards; // by the id of the call
    bool spins = false;

    void operator()(const agent_event& e) {
        using event = agent_event;
        if (e.get_if<event::agent_start>()) spins = true;
        if (e.get_if<event::agent_end>()) spins = false;
        if (const auto* begun = e.get_if<event::message_start>())
            bubbles.push_back({std::string(begun->message.role()), begun->message.content().joined_text()});
        if (const auto* update = e.get_if<event::message_update>())
            bubbles.back().words = update->message.content().joined_text();
        if (const auto* ended = e.get_if<event::message_end>()) {
            bubbles.back().words = ended->message.content().joined_text();
            bubbles.back().locked = true;
        }
        if (const auto* begun = e.get_if<event::tool_execution_start>())
            cards[begun->tool_call_id.str()].tool = begun->tool_name.str();
        if (const auto* update = e.get_if<event::tool_execution_update>())
            cards[update->tool_call_id.str()].shown = update->partial_result.content.joined_text();
        if (const auto* ended = e.get_if<event::tool_execution_end>()) {
            card& shown = cards[ended->tool_call_id.str()];
            shown.shown = ended->result.content.joined_text();
            shown.is_error = ended->is_error;
            shown.locked = true;
        }
    }
};

struct forecast_args {
    std::string city;
};
BOOST_DESCRIBE_STRUCT(forecast_args, (), (city))

task<std::string> forecast(forecast_args args) {
    co_await sleep_for(10ms); // stands for a real query
    co_return args.city + ": sun";
}

task<int> talk() {
    providers::scripted model{answer().text("Let me see.").call("c1", "forecast", R"({"city":"Oslo"})"),
                              answer().text("It is ", "dry.")};
    auto tools = environments::functions(tool("forecast", "Weather forecast for a city", forecast));
    agent helper(std::ref(model), std::move(tools));
    screen shown;
    auto watching = helper.subscribe(std::ref(shown));

    auto outcome = co_await helper.prompt("Is it dry in Oslo?");

    for (const auto& each : shown.bubbles)
        std::cout << each.who << ": " << each.words << '\n';
    for (const auto& [id, each] : shown.cards)
        std::cout << each.tool << " -> " << each.shown << '\n';
    co_return outcome.ok() && !shown.spins ? 0 : 1;
}

int main() {
    return run_main(talk);
}
