// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;
using namespace std::chrono_literals;

namespace {

session_options child_options() {
    session_options options;
    options.meta.emplace().session_id = text("child");
    return options;
}

/// A session whose tool lets another one work in the background.
struct pair_of_sessions {
    explicit pair_of_sessions(scripted_model& of_parent, scripted_model& of_child, session_options options)
        : child(std::ref(of_child), scripted_tools{}, child_options()),
          parent(std::ref(of_parent), launching{child}, std::move(options)) {}

    struct launching {
        session<scripted_model&, scripted_tools>& child;
        std::vector<tool_definition> tools() const {
            std::vector<tool_definition> all;
            all.push_back({text("launch"), text("starts a colleague"), text()});
            return all;
        }
        stream<chunk, tool_result> execute(tool_call, tool_context context) {
            return child.launch_under(context, text("work on it"));
        }
    };
    session<scripted_model&, scripted_tools> child;
    session<scripted_model&, launching> parent;
};

std::vector<message> of_child(std::span<const message> all) {
    std::vector<message> found;
    for (const message& m : all) {
        if (!m.origin().empty()) found.push_back(m);
    }
    return found;
}

} // namespace

CO_TEST_CASE(
    "a background child's call ends at once, its messages join the run, and its report keeps the run going") {
    scripted_model colleague{answer().wait(50ms).text("found it")};
    scripted_model model{answer().call("a", "launch"), answer().wait(200ms).text("waiting"),
                         answer().text("thanks")};
    trace::memory_sink sink;
    session_options options;
    options.trace = &sink;
    pair_of_sessions both(model, colleague, std::move(options));

    auto seen = co_await collect(both.parent.run("go", {.approve = allow_all}));

    CHECK(seen.result.ok());
    CHECK(outputs(seen).front().content().view().find("runs in the background") != std::string_view::npos);
    CHECK(of_child(seen).size() > 5);
    REQUIRE(model.requests() == 3);
    const std::string report = model.request(2).input.back().content().str();
    CHECK(report == "[background_task_done]\nkind: subagent\nid: child\nstatus: completed\n"
                    "[/background_task_done]\n\nfound it");
    CHECK(of_kind(sink.files().front(), kind::subagent).size() == 1);
    CHECK(of_child(sink.files().front()).empty());
    CHECK(both.parent.background_count() == 0);
}

CO_TEST_CASE("a background child outlives the run, and what it says goes to the program") {
    scripted_model colleague{answer().wait(500ms).text("late")};
    scripted_model model{answer().call("a", "launch"), answer().text("bye"), answer().text("I see")};
    std::vector<message> shown;
    int notified = 0;
    session_options options;
    options.on_background = [&shown](message m) { shown.push_back(std::move(m)); };
    options.when_notified = [&notified] { ++notified; };
    pair_of_sessions both(model, colleague, std::move(options));

    auto seen = co_await collect(both.parent.run("go", {.approve = allow_all}));
    CHECK(seen.result.ok());
    CHECK(both.parent.background_count() == 1);
    co_await sleep_for(1s);
    CHECK(both.parent.background_count() == 0);
    CHECK(of_kind(shown, kind::text).back().content() == "late");
    CHECK(notified == 1);

    auto next = co_await collect(both.parent.run("and?"));
    CHECK(next.result.ok());
    CHECK(model.request(2).input.back().content().view().ends_with("late"));
}

CO_TEST_CASE("an interrupt of the run leaves a background child alone; stop_background ends it in order") {
    scripted_model colleague{answer().text("so far").hang()};
    scripted_model model{answer().call("a", "launch"), answer().hang()};
    pair_of_sessions both(model, colleague, {});
    auto run = both.parent.run("go", {.approve = allow_all});
    while (auto m = co_await run.next()) {
        if (m->kind() == kind::partial_text && m->frame() == frame::delta) both.parent.interrupt();
    }
    CHECK(run.result().how() == run_outcome::end::interrupted);
    CHECK(both.parent.background_count() == 1);
    CHECK(!both.parent.stop_background(text("another")));
    CHECK(both.parent.stop_background());
    co_await sleep_for(1ms);
    CHECK(both.parent.background_count() == 0);
    const std::vector<message> reports = both.parent.take_notices();
    REQUIRE(reports.size() == 1);
    CHECK(reports.front().content().view().find("status: failed") != std::string_view::npos);
    CHECK(reports.front().content().view().find("aborted by user") != std::string_view::npos);
}

CO_TEST_CASE("a session that is destroyed takes its background children along") {
    scripted_model colleague{answer().text("so far").hang()};
    scripted_model model{answer().call("a", "launch"), answer().text("bye")};
    {
        pair_of_sessions both(model, colleague, {});
        auto seen = co_await collect(both.parent.run("go", {.approve = allow_all}));
        CHECK(seen.result.ok());
        co_await sleep_for(10ms);
        CHECK(both.parent.background_count() == 1);
    }
    co_await sleep_for(1s);
    CHECK(colleague.requests() == 1);
}
