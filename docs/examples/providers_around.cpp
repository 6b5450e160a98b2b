// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/combine.hpp>
#include <thalweg/providers/any_provider.hpp>
#include <thalweg/providers/fallback.hpp>
#include <thalweg/providers/rate_limited.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/providers/traced.hpp>
#include <thalweg/thalweg.hpp>

#include <iostream>
#include <string>

using namespace std::chrono_literals;
using namespace thalweg;
using providers::answer;

any_provider provider_named(const std::string& name) { // scripted, so that the program needs no key
    if (name == "large") return providers::scripted{answer().ends(model_outcome::failed("503 overloaded"))};
    return providers::scripted{answer().text("Water digs ", "where it is fast.")};
}

task<int> talk() {
    const providers::rate_limit account({.requests = 50, .per = 1min, .concurrent = 4});
    providers::rate_limited large(provider_named("large"), account);
    providers::rate_limited small(provider_named("small"), account);

    providers::fallback either(std::ref(large), std::ref(small));
    either.on_switch([](const providers::provider_switch& s) {
        std::cout << "switched to provider " << s.to << ": " << s.why->message() << '\n';
    });
    providers::traced model(std::ref(either), [](const providers::request_record& r) {
        if (r.stage == providers::request_stage::end)
            std::cout << "\nrequest " << r.request << ": " << r.text.deltas << " pieces of text\n";
    });

    session chat(std::ref(model), none, {.system = "Be brief."});
    auto run = chat.run("Why do thalwegs wander?");
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::partial_text) std::cout << m->content() << std::flush;
    }
    co_return run.result().ok() ? 0 : 1;
}

int main() {
    return run_main(talk);
}
