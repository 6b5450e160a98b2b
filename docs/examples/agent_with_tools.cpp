// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/functions.hpp>
#include <thalweg/providers/openai_chat.hpp>
#include <thalweg/thalweg.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

struct forecast_args {
    std::string city;
    int days = 1; // a default makes the parameter optional
    static constexpr thalweg::doc docs[] = {{"city", "Name of the city"}, {"days", "How far ahead, 1 to 14"}};
};
BOOST_DESCRIBE_STRUCT(forecast_args, (), (city, days))

thalweg::task<std::string> forecast(forecast_args args) {
    co_await thalweg::sleep_for(200ms); // stands for a real query
    co_return args.city + ": sun for " + std::to_string(args.days) + " day(s)";
}

thalweg::task<int> talk() {
    using namespace thalweg;
    auto tools = environments::functions(tool("forecast", "Weather forecast for a city", forecast));
    session chat(providers::openai_chat({.model = "gpt-5-mini"}), std::move(tools));

    auto run = chat.run("Is it dry in Oslo and in Rome?", {.approve = allow_all});
    while (auto m = co_await run.next())
        std::cout << to_json(*m) << '\n';
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return thalweg::run_main(talk); // Ctrl-C interrupts the run, once politely
}
