// SPDX-License-Identifier: BSL-1.0

// All that stands around providers at once: under every fault of what is inside, and what it costs.

#include "providers/asking.hpp"
#include "providers/scratch.hpp"
#include "support/allocation_count.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/no_tools.hpp>
#include <thalweg/providers/any_provider.hpp>
#include <thalweg/providers/fallback.hpp>
#include <thalweg/providers/rate_limited.hpp>
#include <thalweg/providers/recording.hpp>
#include <thalweg/providers/replay.hpp>
#include <thalweg/providers/traced.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/fault_points.hpp>

#include <random>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;
using providers::answer;
using providers::fallback;
using providers::rate_limited;
using providers::recording;
using providers::replay;
using providers::request_record;
using providers::request_stage;
using providers::scripted;
using providers::traced;

namespace {

struct tally {
    int begun = 0;
    int ended = 0;
    request_stage last = request_stage::end;
    void operator()(const request_record& r) {
        begun += r.stage == request_stage::begin ? 1 : 0;
        ended += r.stage == request_stage::end ? 1 : 0;
        last = r.stage;
    }
};

template <class Session>
task<void> interrupt_every_hour(Session& chat) {
    for (bool goes_on = true; goes_on;) {
        goes_on = co_await sleep_for(1h);
        chat.interrupt();
    }
}

scripted chatty() {
    return scripted(answer().thinking("hm").text("a", "b").usage(tokens(1, 2)));
}

/// Two runs with a fault in one of them, and an interrupt in case it hangs.
task<void> two_runs(fault_plan& plan, bool has_fault, const std::string& path) {
    const context here = co_await this_coroutine();
    scripted second(answer().text("second"), answer().text("second"));
    tally seen;
    fallback inner(faulty_provider(chatty(), plan), std::ref(second));
    rate_limited limited(std::ref(inner), {.concurrent = 1});
    traced watched(std::ref(limited), std::ref(seen));
    recording model(std::ref(watched), path);
    {
        session chat(any_provider(std::ref(model)), none, {.retry = {.most = 0}});
        scope person(here);
        person.spawn(interrupt_every_hour(chat));
        const auto first = co_await collect(chat.run("go"));
        REQUIRE((has_fault || first.result.ok()));
        const auto next = co_await collect(chat.run("on"));
        REQUIRE((has_fault || next.result.ok()));
        person.drop();
    }
    rate_limited last(chatty(), limited.limit());
    const auto after = co_await ask(last);
    REQUIRE(after.text == "ab");
    REQUIRE(limited.limit().running() == 0);
    REQUIRE(limited.limit().waiting() == 0);
    REQUIRE(seen.begun == 2);
    REQUIRE(seen.ended == 2);
    REQUIRE(seen.last == request_stage::end);
    REQUIRE_FALSE(model.file().fault());
    const replay again(path);
    REQUIRE_FALSE(again.fault());
    REQUIRE(again.exchanges() == 2);
}

} // namespace

TEST_CASE("whatever happens inside, every request ends once for the log, the limit and the recording") {
    const scratch folder;
    const std::string path = folder.path("faults.jsonl");
    const std::size_t plays = sweep([&](fault_plan& plan, const planned_fault& fault) {
        INFO(describe(fault));
        virtual_loop on;
        on.run(two_runs(plan, fault.action != fault_action::none, path));
    });
    REQUIRE(plays > 20);
}

template <class Model>
task<void> count_deltas(Model* from, const question* asked, std::size_t* count) {
    auto answer = from->generate(asked->request());
    while (const delta* each = co_await answer.peek())
        *count += each == nullptr ? 0 : 1;
}

TEST_CASE("a delta costs no allocation on its way out") {
    if (!allocations_are_counted) return;
    const auto cost = [](std::size_t pieces) {
        std::vector<text> all(pieces, text("short"));
        traced model(rate_limited(fallback(scripted(answer().text_pieces(std::move(all)))), {.requests = 5}),
                     tally());
        const question what;
        std::size_t allocations = 0;
        std::size_t seen = 0;
        virtual_loop on;
        allocations = allocations_of([&] { on.run(count_deltas(&model, &what, &seen)); });
        REQUIRE(seen == pieces + 2);
        return allocations;
    };
    static_cast<void>(cost(10)); // fills pools
    REQUIRE(cost(1000) == cost(10));
}

CO_TEST_CASE("a recording with broken bytes is refused or played, never more than that") {
    const scratch folder;
    const std::string path = folder.path("fuzz.jsonl");
    recording model(scripted(answer()
                                 .thinking("hm")
                                 .text("ab\"\n", "ü")
                                 .call_pieces("x", "look", {"{\"a\":", "1}"})
                                 .with_fidelity(R"({"s":1})")
                                 .whole(message::image_url("data:image/png;base64,AAAA"))
                                 .usage(tokens(1, 2))
                                 .ends(model_outcome::completed(finish::length, "max"))),
                    path, {.keep_pace = true});
    co_await ask(model);
    const std::string good = read_file(path);
    std::mt19937 random(1);
    const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
    int played = 0;
    int refused = 0;
    for (int n = 0; n < 2000; ++n) {
        std::string bad = good;
        for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
            const std::size_t at = below(bad.size() - 1);
            if (below(3) == 0) {
                bad.erase(at, 1 + below(8));
            } else {
                bad[at] = static_cast<char>("{}[]\",:0a\\\xff-"[below(12)]);
            }
        }
        write_file(path, bad);
        replay again(path);
        const auto got = co_await ask(again);
        const bool is_miss = got.outcome.is_permanent();
        if (again.fault()) REQUIRE(got.outcome.message() == again.fault()->message());
        played += is_miss ? 0 : 1;
        refused += is_miss ? 1 : 0;
    }
    REQUIRE(played > 0);
    REQUIRE(refused > 0);
}
