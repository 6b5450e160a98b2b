// SPDX-License-Identifier: BSL-1.0
// A program of somebody else: built once against the installed tree and once with Thalweg as a subproject.

#include <thalweg/environments/functions.hpp>
#include <thalweg/providers/openai_chat.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <iostream>
#include <string>

struct word_args {
    std::string word;
};
BOOST_DESCRIBE_STRUCT(word_args, (), (word))

std::string repeat(word_args args) {
    return args.word;
}

thalweg::task<int> talk() {
    using namespace thalweg;
    providers::openai_chat unused({.model = "any"}); // linked with all that it needs, never asked
    providers::scripted model{providers::answer().call("a", "repeat", R"({"word":"from"})"),
                              providers::answer().text("outside")};
    session chat(std::ref(model), environments::functions(tool("repeat", "Says a word again", repeat)));

    auto run = chat.run("go", {.approve = allow_all});
    std::string said;
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::tool_call_output) said += std::string(m->content()) + " ";
        if (m->kind() == kind::text) said += m->content();
    }
    std::cout << said << '\n';
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return thalweg::run_main(talk);
}
