// SPDX-License-Identifier: BSL-1.0

// What somebody says to a run under way, and what comes in from the background (R-ENG-60…65, R-ENG-92).

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <stdexcept>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;

namespace {

std::string steered(const std::string& body) {
    return "text:[user_steering]\n" + body + "\n[/user_steering]";
}

std::vector<message> with_image(const char* words, const char* url) {
    std::vector<message> input;
    if (words != nullptr) input.push_back(message::user_text(text(words)));
    input.push_back(message::image_url(text(url)));
    return input;
}

/// A model that calls a tool of 100 ms, then answers; and the session.
struct stage {
    scripted_model model{answer().call("c", "t"), answer().text("done"), answer().text("more"),
                         answer().text("next")};
    scripted_tools tools{{"t", after(100ms, "out")}};
    trace::memory_sink sink;
    session_options options;
};

/// Does `what` 50 ms after the start of a run, which is read to its end.
template <class Chat>
task<collected<message, run_outcome>> run_with(Chat& chat, std::function<void()> what) {
    const context here = co_await this_coroutine();
    scope timers(here);
    timers.spawn(do_at(50ms, std::move(what)));
    co_return co_await collect(chat.run("go", {.approve = allow_all}));
}

bool has(const words& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

} // namespace

CO_TEST_CASE(
    "steered input reaches the model behind the outputs, in the order in which it came, and is recorded") {
    stage on;
    on.options.trace = &on.sink;
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    std::vector<message> pair{message::user_text("two"), message::user_text("three")};
    auto all = co_await run_with(chat, [&] {
        CHECK(chat.steer("one"));
        CHECK(chat.steer(std::move(pair)));
        CHECK(chat.steer(with_image("four", "data:x")));
    });
    CHECK(all.result.ok());
    const words asked = {"tool_call_output:out:c", steered("one"), steered("two\n\nthree"), steered("four"),
                         "image_url:data:x"};
    CHECK(words_of_request(on.model, 1) == asked);
    const words streamed = words_of(all.items);
    const words recorded = words_of(on.sink.files().at(0));
    for (std::size_t at = 1; at < asked.size(); ++at) {
        CHECK(std::count(streamed.begin(), streamed.end(), asked[at]) == 1);
        CHECK(std::count(recorded.begin(), recorded.end(), asked[at]) == 1);
    }
}

CO_TEST_CASE("blank input is taken and says nothing") {
    for (const char* blank : {"", " ", "\n\t  \r\n"}) {
        stage on;
        session chat(std::ref(on.model), std::ref(on.tools), on.options);
        steering_ticket ticket;
        auto all = co_await run_with(chat, [&] {
            ticket = chat.steer(text(blank));
            CHECK(ticket);
            CHECK_FALSE(chat.unsteer(ticket));
            CHECK(chat.steer(std::vector<message>{}));
        });
        CHECK(all.result.turns() == 2);
        CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c"});
    }
}

CO_TEST_CASE("an image without words is not blank") {
    stage on;
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await run_with(chat, [&] { CHECK(chat.steer(with_image(nullptr, "data:x"))); });
    CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", steered(""), "image_url:data:x"});
}

CO_TEST_CASE("an adapter puts words in the place of images, inside the block") {
    stage on;
    std::vector<std::string> described;
    on.options.adapt_image = [&described](message image) -> task<std::string> {
        described.push_back(image.content().str());
        co_await sleep_for(10ms);
        co_return "a cat";
    };
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await run_with(chat, [&] { CHECK(chat.steer(with_image("look", "data:x"))); });
    CHECK(all.result.ok());
    CHECK(described == std::vector<std::string>{"data:x"});
    CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", steered("look\n\na cat")});
}

CO_TEST_CASE("an adapter that gives nothing or throws ends the run with its cause, and no output is lost") {
    struct {
        image_adapter adapt;
        const char* why;
    } const cases[] = {
        {[](message) -> task<std::string> { co_return " \n"; },
         "image adapter failed: it gave no text for an image"},
        {[](message) -> task<std::string> {
             co_await yield();
             throw std::runtime_error("no eyes");
         },
         "image adapter failed: it threw: no eyes"},
        {[](message) -> task<std::string> {
             co_await yield();
             throw 42;
         },
         "image adapter failed: it threw something that is no std::exception"},
    };
    for (const auto& each : cases) {
        stage on;
        on.options.adapt_image = each.adapt;
        session chat(std::ref(on.model), std::ref(on.tools), on.options);
        auto all = co_await run_with(chat, [&] { CHECK(chat.steer(with_image("look", "data:x"))); });
        CHECK(all.result.how() == how::input_failed);
        CHECK(all.result.why() == each.why);
        CHECK(word_of(all.items.back()) == std::string("abort:") + each.why);
        CHECK(words_of(chat.carry_over()) == words{"tool_call_output:out:c"});
        auto next = co_await collect(chat.run("on"));
        CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", "text:on"});
    }
}

CO_TEST_CASE("steered input is taken back before it is delivered and not after") {
    stage on;
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    steering_ticket kept;
    auto all = co_await run_with(chat, [&] {
        const auto gone = chat.steer("gone");
        kept = chat.steer("kept");
        CHECK(chat.unsteer(gone));
        CHECK_FALSE(chat.unsteer(gone));
    });
    CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", steered("kept")});
    CHECK_FALSE(chat.unsteer(kept));
    CHECK_FALSE(chat.unsteer(steering_ticket()));
}

CO_TEST_CASE("steering is refused while no run goes on, after its end, and when it is about to stop") {
    stage on;
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    CHECK_FALSE(chat.steer("idle"));
    auto all = co_await run_with(chat, [&] {
        CHECK(chat.steer("in time"));
        CHECK(chat.stop_after_answer());
        CHECK_FALSE(chat.steer("too late"));
    });
    CHECK(all.result.how() == how::stopped);
    CHECK_FALSE(chat.steer("over"));
    auto next = co_await collect(chat.run("on"));
    CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", "text:on"});
}

CO_TEST_CASE("steering in a turn without tools keeps the run going") {
    scripted_model model{answer().wait(100ms).text("bye"), answer().text("still here")};
    session chat(std::ref(model), scripted_tools{});
    auto all = co_await run_with(chat, [&] { CHECK(chat.steer("wait")); });
    CHECK(all.result.turns() == 2);
    CHECK(words_of_request(model, 1) == words{steered("wait")});
}

CO_TEST_CASE("steering waits for the end of a turn's retries") {
    scripted_model model{answer().wait(100ms).ends(model_outcome::failed("busy")), answer().text("x"),
                         answer().text("y")};
    session chat(std::ref(model), scripted_tools{});
    auto all = co_await run_with(chat, [&] { CHECK(chat.steer("wait")); });
    CHECK(words_of_request(model, 1) == words{"text:go"});
    CHECK(words_of_request(model, 2) == words{steered("wait")});
}

CO_TEST_CASE("what was steered and not delivered goes with the run, whichever way it ends") {
    for (const bool fails : {false, true}) {
        scripted_model model;
        if (fails) model.add(answer().wait(100ms).ends(model_outcome::auth("no")));
        if (!fails) model.add(answer().wait(100ms).text("a"));
        model.add(answer().text("next"));
        session chat(std::ref(model), scripted_tools{});
        auto all = co_await run_with(chat, [&] {
            CHECK(chat.steer("lost"));
            if (!fails) CHECK(chat.interrupt());
        });
        CHECK(is_aborted(all.items));
        auto next = co_await collect(chat.run("on"));
        CHECK(times_asked(model, "lost") == 0);
    }
}

CO_TEST_CASE("notices go before what was steered, are recorded with their sender, and are delivered once") {
    stage on;
    on.options.trace = &on.sink;
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    chat.notify("before");
    auto all = co_await run_with(chat, [&] {
        CHECK(chat.steer("said"));
        chat.notify("noticed");
    });
    CHECK(words_of_request(on.model, 0) == words{"text:go", "text:before"});
    CHECK(words_of_request(on.model, 1) == words{"tool_call_output:out:c", "text:noticed", steered("said")});
    CHECK(on.model.request(1).input.at(1).sender() == "harness");
    CHECK(has(words_of(all.items), "text:noticed"));
    for (const char* each : {"before", "noticed", "said"})
        CHECK(times_asked(on.model, each) == 1);
    CHECK(chat.take_notices().empty());
}

CO_TEST_CASE("a notice without a run calls the host, who may take it as an input; else the next run has it") {
    stage on;
    int calls = 0;
    on.options.when_notified = [&calls] { ++calls; };
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    chat.notify("first");
    CHECK(calls == 1);
    auto taken = chat.take_notices();
    CHECK(words_of(taken) == words{"text:first"});
    CHECK(chat.take_notices().empty());
    auto all = co_await collect(chat.run(std::move(taken), {.approve = allow_all}));
    CHECK(words_of_request(on.model, 0) == words{"text:first"});

    chat.notify("second");
    CHECK(calls == 2);
    auto next = co_await collect(chat.run("on"));
    CHECK(words_of_request(on.model, 2) == words{"text:on", "text:second"});
    CHECK(times_asked(on.model, "first") == 1);
}

CO_TEST_CASE("a notice that a run could not deliver any more stays for the next one") {
    stage on;
    int calls = 0;
    on.options.when_notified = [&calls] { ++calls; };
    session chat(std::ref(on.model), std::ref(on.tools), on.options);
    auto all = co_await run_with(chat, [&] {
        chat.notify("late");
        CHECK(chat.interrupt());
    });
    CHECK(all.result.how() == how::interrupted);
    CHECK(times_asked(on.model, "late") == 0);
    auto next = co_await collect(chat.run("on"));
    CHECK(times_asked(on.model, "late") == 1);
}

CO_TEST_CASE("each accepted input reaches the model once, in whatever turn it comes") {
    for (int moment = 0; moment <= 300; moment += 10) {
        INFO("at " << moment << " ms");
        scripted_model model{answer().wait(50ms).call("c", "t"), answer().wait(50ms).call("d", "t"),
                             answer().wait(50ms).text("x"), answer().text("y"), answer().text("z")};
        scripted_tools tools{{"t", after(50ms, "out")}};
        session chat(std::ref(model), std::ref(tools));
        const context here = co_await this_coroutine();
        scope timers(here);
        bool is_accepted = false;
        timers.spawn(do_at(milliseconds(moment), [&] {
            is_accepted = static_cast<bool>(chat.steer("marker-s"));
            chat.notify("marker-n");
        }));
        auto all = co_await collect(chat.run("marker-p", {.approve = allow_all}));
        if (moment > 250) co_await sleep_for(100ms);
        const bool is_waiting = !is_accepted;
        CHECK(times_asked(model, "marker-s") == (is_accepted ? 1 : 0));
        CHECK(times_asked(model, "marker-n") == (is_waiting ? 0 : 1));
        CHECK(times_asked(model, "marker-p") == 1);
        auto next = co_await collect(chat.run("on"));
        CHECK(times_asked(model, "marker-n") == 1);
    }
}
