// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace thalweg;

struct tide_args {
    std::string harbor;
    int hours = 6;
};
BOOST_DESCRIBE_STRUCT(tide_args, (), (harbor, hours))

struct tide_table { // no base class, no registration
    std::vector<tool_definition> tools() const {
        return {{"tides", "Water levels of the next hours", schema<tide_args>()}};
    }

    stream<chunk, tool_result> execute(tool_call call, tool_context) {
        auto args = call.decode<tide_args>(); // the error is a sentence with a path
        if (!args) co_return tool_result::failed(args.error());
        for (int hour = 0; hour < args.value().hours; ++hour) {
            co_await sleep_for(10ms); // ends at once when the run is interrupted
            co_yield chunk::text(level(hour));
        }
        co_return tool_result::completed();
    }

    static std::string level(int hour) {
        return std::to_string(hour) + " h: " + std::to_string(2 + hour % 6) + " m\n";
    }
};
static_assert(is_environment<tide_table>); // says in a sentence what is missing

task<int> sail() {
    using providers::answer;
    providers::scripted model(answer().call("a", "tides", R"({"harbor":"Bergen","hours":3})"),
                              answer().text("Sail at two."));
    session chat(std::ref(model), tide_table());

    auto run = chat.run("When can we leave Bergen?", {.approve = allow_all});
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::tool_call_output || m->kind() == kind::text) std::cout << m->content() << '\n';
    }
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return run_main(sail);
}
