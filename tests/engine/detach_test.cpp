// SPDX-License-Identifier: BSL-1.0

// A run that nobody watches goes on, and can be picked up again (D-21).

#include "support/catch.hpp"

#include "engine/turn.hpp"

#include <thalweg/async/scope.hpp>
#include <thalweg/testing/co_test_case.hpp>

#include <memory>

using namespace turn;
using namespace std::chrono_literals;
using how = run_outcome::end;

namespace {

/// Ten pieces of text, one each 10 ms, and a tool in between.
scripted_model talkative() {
    return scripted_model(
        answer().text("1", "2", "3", "4", "5", "6", "7", "8", "9", "0").with_gap(10ms).call("c", "t"),
        answer().wait(10ms).text("done"));
}

/// Reads until `count` messages are there, then lets the session have the rest.
template <class Chat>
task<void> read_and_leave(Chat& chat, std::size_t count, std::vector<message>& items, bool& was_taken) {
    auto run = chat.run("go", {.approve = allow_all});
    while (items.size() < count) {
        auto m = co_await run.next();
        items.push_back(std::move(*m));
    }
    was_taken = chat.detach(std::move(run));
}

/// Reads what is left; stops after `most` messages and leaves the stream by destroying it.
template <class Chat>
task<bool> read_on(Chat& chat, std::vector<message>& items, std::size_t most) {
    auto tail = chat.attach();
    std::size_t count = 0;
    while (auto m = co_await tail.next()) {
        items.push_back(std::move(*m));
        if (++count == most) co_return false;
    }
    CHECK(tail.result().ok());
    co_return true;
}

task<void> until_idle(const session<scripted_model&, scripted_tools&>& chat) {
    while (chat.is_running())
        co_await sleep_for(50ms);
}

} // namespace

CO_TEST_CASE("a detached run survives its reader and is read on from where the reader left it") {
    scripted_model whole = talkative();
    scripted_tools tools{{"t", after(30ms, "out")}};
    session watched(std::ref(whole), std::ref(tools));
    auto expected = co_await collect(watched.run("go", {.approve = allow_all}));

    int busy = 0;
    for (std::size_t left_after = 1; left_after < expected.size(); ++left_after) {
        INFO("left after " << left_after << " messages");
        scripted_model model = talkative();
        session chat(std::ref(model), std::ref(tools));
        std::vector<message> items;
        bool was_taken = false;
        const context here = co_await this_coroutine();
        {
            scope reader(here);
            reader.spawn(read_and_leave(chat, left_after, items, was_taken));
            while (!was_taken)
                co_await sleep_for(1ms);
            reader.cancel(cancel_reason::user);
        }
        if (chat.is_running()) {
            ++busy;
            const auto second = co_await collect(chat.run("another"));
            CHECK(second.items.empty());
            CHECK(second.result.how() == how::busy);
            CHECK(second.result.why().starts_with("another run of this session is going on"));
        }

        const bool is_whole = co_await read_on(chat, items, 1000);
        CHECK(is_whole);
        CHECK(words_of(items) == words_of(expected.items));
        CHECK(objections(items) == "");
        CHECK_FALSE(chat.is_running());
    }
    CHECK(busy > 20); // where nothing more was to be waited for, the run has ended meanwhile
}

CO_TEST_CASE("what is not read is kept until somebody attaches, also when the run has ended") {
    scripted_model model = talkative();
    scripted_tools tools{{"t", after(30ms, "out")}};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 3, items, was_taken);
    co_await until_idle(chat);
    CHECK(model.requests() == 2);
    const bool is_whole = co_await read_on(chat, items, 1000);
    CHECK(is_whole);
    CHECK(objections(items) == "");
    CHECK(word_of(items.back()) == "request_end:completed");

    std::vector<message> again; // nothing is left, the outcome is
    const bool is_known = co_await read_on(chat, again, 1000);
    CHECK(is_known);
    CHECK(again.empty());
}

CO_TEST_CASE("a reader that attaches, leaves and attaches again misses nothing and gets nothing twice") {
    scripted_model whole = talkative();
    scripted_tools tools{{"t", after(30ms, "out")}};
    session watched(std::ref(whole), std::ref(tools));
    auto expected = co_await collect(watched.run("go", {.approve = allow_all}));
    for (const std::size_t each : {1, 2, 5}) {
        scripted_model model = talkative();
        session chat(std::ref(model), std::ref(tools));
        std::vector<message> items;
        bool was_taken = false;
        co_await read_and_leave(chat, 1, items, was_taken);
        for (bool is_over = false; !is_over;) {
            is_over = co_await read_on(chat, items, each);
            co_await sleep_for(each % 2 == 0 ? 15ms : 0ms);
        }
        CHECK(words_of(items) == words_of(expected.items));
    }
}

CO_TEST_CASE("a reader that is destroyed while it waits for the next message leaves it to the next reader") {
    scripted_model model(answer().text("a", "b").with_gap(100ms));
    scripted_tools tools{};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 3, items, was_taken);
    const context here = co_await this_coroutine();
    std::vector<message> none;
    {
        scope reader(here);
        auto waiting = [](auto& from, std::vector<message>& into) -> task<void> {
            const bool is_over = co_await read_on(from, into, 1000);
            static_cast<void>(is_over);
        };
        reader.spawn(waiting(chat, none));
        co_await sleep_for(50ms);
    }
    CHECK(none.empty());
    const bool is_whole = co_await read_on(chat, items, 1000);
    CHECK(is_whole);
    CHECK(objections(items) == "");
}

CO_TEST_CASE("a reader that is asked to stop leaves the detached run alone") {
    scripted_model model(answer().text("a", "b").with_gap(100ms));
    scripted_tools tools{};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 3, items, was_taken);
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context under(here.loop(), stop);
    stop.request(cancel_reason::user);
    auto tail = chat.attach();
    while (auto m = co_await tail.next_under(under))
        items.push_back(std::move(*m));
    CHECK(tail.result().how() == how::reader_left);
    CHECK(chat.is_running());
    const bool is_whole = co_await read_on(chat, items, 1000);
    CHECK(is_whole);
    CHECK(objections(items) == "");
}

CO_TEST_CASE("a tail that grew beyond its bounds begins with a notice that counts what is missing") {
    struct {
        tail_limits limits;
        std::size_t kept;
    } const cases[] = {{{.messages = 4, .bytes = 1000}, 4}, {{.messages = 1000, .bytes = 6}, 6}};
    for (const auto& each : cases) {
        scripted_model model(answer().text("abc", "def", "ghi", "jkl"));
        scripted_tools tools{};
        session_options options;
        options.tail = each.limits;
        session chat(std::ref(model), std::ref(tools), options);
        std::vector<message> items;
        bool was_taken = false;
        co_await read_and_leave(chat, 1, items, was_taken);
        co_await until_idle(chat);
        std::vector<message> tail;
        const bool is_whole = co_await read_on(chat, tail, 1000);
        CHECK(is_whole);
        REQUIRE(tail.front().kind() == kind::notice);
        const auto* cut = tail.front().event_if<notice>();
        CHECK(cut->code == "tail_cut");
        const std::size_t missing = std::stoul(cut->body.str());
        CHECK(1 + missing + tail.size() - 1 == 10); // of the run
        if (each.limits.messages == 4) CHECK(tail.size() - 1 == 4);
        CHECK(word_of(tail.back()) == "request_end:completed");
    }
}

CO_TEST_CASE("only the stream of the run that goes on can be detached, any other is left as it was") {
    scripted_model model(answer().text("a", "b").with_gap(10ms), answer().text("c"));
    scripted_model other_model(answer().text("x", "y").with_gap(10ms));
    scripted_tools tools{};
    session chat(std::ref(model), std::ref(tools));
    session other(std::ref(other_model), std::ref(tools));

    auto run = chat.run("go");
    CHECK_FALSE(chat.detach(std::move(run))); // not begun
    auto foreign = other.run("go");
    for (auto* each : {&run, &foreign}) {
        auto m = co_await each->next();
        CHECK(word_of(*m) == "request_begin");
    }
    CHECK_FALSE(chat.detach(std::move(foreign)));
    CHECK_FALSE(chat.detach(stream<message, run_outcome>()));
    auto refused = chat.run("second");
    CHECK_FALSE(chat.detach(std::move(refused)));
    auto rest = co_await collect(std::move(foreign));
    CHECK(rest.result.ok());
    static_cast<void>(take_complaints()); // its begin was read before

    while (auto m = co_await run.next())
        CHECK(m->origin().empty());
    CHECK_FALSE(chat.detach(std::move(run))); // ended
    CHECK(run.result().ok());
    auto nothing = co_await collect(chat.attach());
    CHECK(nothing.result.how() == how::nothing_detached);
}

CO_TEST_CASE("a session that is destroyed while its run is detached takes the run with it") {
    scripted_model model(answer().call("c", "t"));
    scripted_tools tools{{"t", tool_script().wait_through(1h)}};
    using chat_type = session<scripted_model&, scripted_tools&>;
    auto chat = std::make_unique<chat_type>(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(*chat, 2, items, was_taken);
    co_await sleep_for(10ms);
    CHECK(chat->is_running());
    chat.reset(); // the checker of frames looks at the end of the test
    CHECK(tools.executed().size() == 1);
}

CO_TEST_CASE("a detached run can be stopped, in bounded time although a tool is deaf") {
    scripted_model model(answer().call("c", "t"), answer().text("next"));
    scripted_tools tools{{"t", tool_script().wait_through(1h)}};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 2, items, was_taken);
    co_await sleep_for(10ms);
    const auto begin = co_await now();
    CHECK(chat.interrupt());
    co_await until_idle(chat);
    const auto end = co_await now();
    CHECK(end - begin <= 2050ms);
    auto tail = chat.attach();
    while (auto m = co_await tail.next())
        items.push_back(std::move(*m));
    CHECK(tail.result().how() == how::interrupted);
    CHECK(is_aborted(items));
    CHECK(objections(items) == "");

    auto next = co_await collect(chat.run("on"));
    CHECK(next.result.ok());
    CHECK(call_ids(model.request(1).input) == ids{"c"});
}

CO_TEST_CASE("a later run takes the place of a detached one that has ended, also under its reader") {
    scripted_model model(answer().text("a"), answer().text("b"));
    scripted_tools tools{};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 1, items, was_taken);
    co_await until_idle(chat);
    auto old = chat.attach();
    auto first = co_await old.next();
    CHECK(first.has_value());
    std::vector<message> later;
    was_taken = false;
    co_await read_and_leave(chat, 1, later, was_taken);
    CHECK(was_taken);
    auto none = co_await old.next();
    CHECK_FALSE(none.has_value());
    CHECK(old.result().how() == how::reader_left);
    std::vector<message> rest;
    const bool is_whole = co_await read_on(chat, rest, 1000);
    CHECK(is_whole);
    CHECK(words_of(of_kind(rest, kind::text)) == words{"text:b"});
}

CO_TEST_CASE("a detached run has one reader at a time, and a second one is told so") {
    scripted_model model = talkative();
    scripted_tools tools{{"t", after(30ms, "out")}};
    session chat(std::ref(model), std::ref(tools));
    std::vector<message> items;
    bool was_taken = false;
    co_await read_and_leave(chat, 2, items, was_taken);
    {
        auto first = chat.attach();
        auto m = co_await first.next();
        CHECK(m.has_value());
        auto second = co_await collect(chat.attach());
        CHECK(second.items.empty());
        CHECK(second.result.how() == how::has_reader);
        CHECK_FALSE(second.result.ok());
        CHECK_FALSE(second.result.why().empty());
        items.push_back(std::move(*m));
    }
    const bool is_whole = co_await read_on(chat, items, 1000);
    CHECK(is_whole);
    CHECK(objections(items) == "");
}
