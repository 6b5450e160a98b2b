// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/combine.hpp>
#include <thalweg/thalweg.hpp>

#include <cctype>
#include <iostream>
#include <sstream>
#include <string>

using namespace thalweg;

std::string upper(std::string word) {
    for (char& c : word)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return word;
}

struct shouting { // deltas only: the engine frames them, so a provider cannot break the streaming discipline
    stream<delta, model_outcome> generate(model_request request) {
        std::istringstream words{std::string(request.last_text())};
        std::int64_t count = 0;
        for (std::string word; words >> word; ++count)
            co_yield delta::text(upper(word) + "! ");
        token_counts used;
        used.output = count;
        used.total = 2 * count;
        co_yield delta::usage(used);
        co_return model_outcome::completed();
    }
};
static_assert(is_provider<shouting>);

task<int> talk() {
    session chat(shouting(), none);
    auto run = chat.run("who is there");
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::partial_text) std::cout << m->content() << std::flush;
    }
    std::cout << '\n';
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return run_main(talk);
}
