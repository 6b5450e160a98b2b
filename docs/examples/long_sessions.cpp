// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/combine.hpp>
#include <thalweg/environments/functions.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;
using namespace thalweg;
using providers::answer;

struct question {
    std::string prompt;
};
BOOST_DESCRIBE_STRUCT(question, (), (prompt))

/// An environment whose only tool is another session.
template <class Session>
struct helper_tool {
    Session& helper;

    std::vector<tool_definition> tools() const {
        std::vector<tool_definition> all;
        tool_definition ask{text("ask_helper"), text("Asks a colleague"), schema<question>()};
        ask.timeout = session_call_timeout; // it may ask its own model several times
        all.push_back(std::move(ask));
        return all;
    }
    stream<chunk, tool_result> execute(tool_call call, tool_context context) {
        auto asked = call.decode<question>();
        if (!asked) return refuse(asked.error());
        return helper.run_under(context, text(asked.value().prompt));
    }
    static stream<chunk, tool_result> refuse(error why) { co_return tool_result::failed(why); }
};

task<void> show(stream<message, run_outcome> run) {
    while (auto m = co_await run.next()) {
        if (m->kind() != kind::text && m->kind() != kind::tool_call_output) continue;
        for (const text& hop : m->origin())
            std::cout << hop << " > ";
        std::cout << m->content() << '\n';
    }
    std::cout << "-- " << (run.result().ok() ? "answered" : run.result().why()) << '\n';
}

/// A session that asks another one, and is spoken to while it waits.
task<void> speak(trace::memory_sink& records) {
    providers::scripted colleague{answer().wait(100ms).text("Forty-two.")};
    session helper(std::ref(colleague), none);

    providers::scripted model{answer().call("a", "ask_helper", R"({"prompt":"How many?"})"),
                              answer().text("It is forty-two, as you wished: short."),
                              answer().text("[summary]The answer is forty-two.[/summary]")};
    session_options options;
    options.trace = &records;
    options.compaction.emplace();
    session chat(std::ref(model), helper_tool<decltype(helper)>{helper}, std::move(options));

    scope beside(co_await this_coroutine());
    beside.spawn(show(chat.run("How many are there?", {.approve = allow_all})));
    co_await sleep_for(20ms);
    if (!chat.steer("Keep it short.")) std::cout << "too late\n";
    co_await beside.join();

    auto compaction = chat.compact();
    while (auto m = co_await compaction.next())
        std::cout << m->type_name() << '\n';
}

/// Another process, later: the records are all that is left.
task<void> go_on(trace::memory_sink& records) {
    providers::scripted model{answer().text("Still forty-two.")};
    session chat(std::ref(model), none);
    const auto restored = chat.restore(resume(records.files().back()));
    std::cout << "-- " << (restored ? "restored" : restored.error().message()) << '\n';
    co_await show(chat.run("And now?"));
    std::cout << model.request(0).input.front().content() << '\n'; // the summary goes before the prompt
}

task<int> tell() {
    trace::memory_sink records;
    co_await speak(records);
    co_await go_on(records);
    co_return 0;
}

int main() {
    return run_main(tell);
}
