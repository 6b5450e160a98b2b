// SPDX-License-Identifier: BSL-1.0

#include "stored.hpp"

#include <thalweg/engine/fork.hpp>
#include <thalweg/engine/session_trace.hpp>

namespace {

using namespace thalweg;
using namespace thalweg::testing;
using trace::errc;

message own_meta() {
    return message::session_meta(
        {.session_id = session_id,
         .provider = "p",
         .model_id = "m",
         .system_prompt = text(std::string("You are ") + session_id + ", \"" + session_id + "\"."),
         .source = text("schedule")});
}

// 0 meta, 1 prompt, 2–6 a call, 7 its output, 8–11 the answer, 12 the next prompt, 13–16 its answer.
const records two_tasks = records{own_meta(), user("1"), began(),           says("I look."), call("c1"),
                                  used(1, 1), ended(),   output("c1", "r"), began(),         says("first"),
                                  used(2, 1), ended(),   user("2"),         began(),         says("second"),
                                  used(3, 1), ended()};

result<trace::session_file> fork(const temporary_folder& traces, std::size_t ordinal, int file = 1) {
    return fork_session(traces.path(), session_id, {.file = file, .ordinal = ordinal},
                        {.now_ms = 86'400'000});
}

/// Refused, and nothing is left behind.
void check_refused(const temporary_folder& traces, std::size_t ordinal, errc code, const char* part,
                   int file = 1) {
    INFO(part);
    const auto before = tree_of(traces.path());
    const auto got = fork(traces, ordinal, file);
    REQUIRE_FALSE(got);
    INFO(got.error().message());
    CHECK(got.error().code() == code);
    CHECK(got.error().message().find(part) != std::string::npos);
    CHECK(tree_of(traces.path()) == before);
}

TEST_CASE("a fork holds everything up to the next task, under a new id") {
    const temporary_folder traces;
    store(file_of(traces.path()), two_tasks);
    const auto made = fork(traces, 9);
    REQUIRE(made);
    CHECK(made.value().date == "2026-11-30");
    CHECK(made.value().session_id.starts_with("session-1970-01-02-00-00-00-"));
    const auto got = load_session(traces.path(), made.value().session_id);
    REQUIRE(got);
    CHECK(words_of(got.value().state.history) ==
          words{"text:1", "text:I look.", "tool_call:t:{}:c1", "tool_call_output:r:c1", "text:first"});
    CHECK(got.value().state.carry_over.empty());
    const std::string bytes = bytes_of(made.value().path());
    CHECK(bytes.find(session_id) == std::string::npos);
    CHECK(bytes.find("\"source\"") == std::string::npos);
    CHECK(got.value().state.meta->system_prompt ==
          "You are " + made.value().session_id + ", \"" + made.value().session_id + "\".");
    const std::string copied = lines(stamped(two_tasks));
    const auto second_line = copied.find('\n');
    const auto prompt = copied.find("\"2\"");
    CHECK(bytes.substr(bytes.find('\n')) ==
          copied.substr(second_line, copied.rfind('\n', prompt) + 1 - second_line));
}

TEST_CASE("a fork at the last answer holds the whole session, earlier files too") {
    const temporary_folder traces;
    const records closing = {compacts(), user("P"), began(), says("s"), ended(), compacted()};
    store(file_of(traces.path()), two_tasks + closing);
    store(file_of(traces.path(), 2), two_tasks + closing);
    const auto made = fork(traces, 14, 2);
    REQUIRE(made);
    CHECK(made.value().index == 2);
    CHECK(load_session(traces.path(), made.value().session_id).value().where.index == 2);
    CHECK(load_session(traces.path(), made.value().session_id).value().state.session_turns == 3);
    trace::session_file first = made.value();
    first.index = 1;
    CHECK(bytes_of(first.path()).find("compaction_end") != std::string::npos);
}

TEST_CASE("unknown members of session_meta are kept in a fork") {
    const temporary_folder traces;
    std::string bytes = lines(stamped(two_tasks));
    bytes.insert(bytes.find("\"payload\":{") + 11, "\"later\":[1.50,{}],");
    store(file_of(traces.path()), {}, bytes);
    const auto made = fork(traces, 9);
    REQUIRE(made);
    CHECK(bytes_of(made.value().path()).find("\"later\":[1.50,{}]") != std::string::npos);
}

TEST_CASE("torn lines are not counted and not copied") {
    const temporary_folder traces;
    std::string bytes = lines(stamped(two_tasks));
    bytes.insert(bytes.find('\n') + 1, "torn\n");
    store(file_of(traces.path()), {}, bytes + "{\"half");
    const auto made = fork(traces, 9);
    REQUIRE(made);
    CHECK(load_session(traces.path(), made.value().session_id).value().damage_count == 0);
}

TEST_CASE("a place that is no end of a task cannot be forked at") {
    const temporary_folder traces;
    store(file_of(traces.path()), two_tasks);
    check_refused(traces, 99, errc::not_a_fork_point, "only 17 records");
    check_refused(traces, 1, errc::not_a_fork_point, "no text of the assistant");
    check_refused(traces, 4, errc::not_a_fork_point, "no text of the assistant");
    check_refused(traces, 3, errc::not_a_fork_point, "says more behind it");
    check_refused(traces, 9, errc::not_found, "has no file 2", 2);
    check_refused(traces, 9, errc::not_found, "has no file 0", 0);
}

TEST_CASE("an answer whose request did not complete cannot be forked at") {
    const temporary_folder traces;
    const records start = {own_meta(), user("1"), began(), says("half")};
    store(file_of(traces.path()), start);
    check_refused(traces, 3, errc::not_a_fork_point, "was not completed");
    store(file_of(traces.path()), start + records{ended(stop_reason::timeout), user("2")});
    check_refused(traces, 3, errc::not_a_fork_point, "a request behind it was timeout");
    store(file_of(traces.path()),
          start + records{call("c1"), ended(), output("c1", "r"), began(), ended(stop_reason::aborted)});
    check_refused(traces, 3, errc::not_a_fork_point, "was aborted");
}

TEST_CASE("a cut at which something is owed is refused") {
    const temporary_folder traces;
    store(file_of(traces.path()),
          records{own_meta(), user("1"), began(), says("a"), call("c1"), ended(), output("c1", "r")});
    check_refused(traces, 3, errc::not_a_fork_point, "owed");
    // The text of the turn limit: behind it nothing completes.
    store(file_of(traces.path()), records{own_meta(), user("1"), began(), call("c1"), ended(),
                                          output("c1", "r"), says("[reached max turns (1); stopping]")});
    check_refused(traces, 6, errc::not_a_fork_point, "not completed");
}

TEST_CASE("the work of a compaction cannot be forked at, what comes before it can") {
    const temporary_folder traces;
    store(file_of(traces.path()),
          two_tasks + records{compacts(), user("P"), began(), says("s"), used(4, 1), ended(), compacted()});
    check_refused(traces, 20, errc::not_a_fork_point, "compaction");
    CHECK(fork(traces, 14));
}

TEST_CASE("steering and notices belong to the task they join") {
    const temporary_folder traces;
    const message steering = user("[user_steering]\nmore\n[/user_steering]");
    const message notice = message::user_text("done").with_sender("harness");
    store(file_of(traces.path()), records{own_meta(), user("1")} + answered({says("a")}) + records{steering} +
                                      answered({says("b")}) + records{notice} + answered({says("c")}));
    check_refused(traces, 3, errc::not_a_fork_point, "says more behind it");
    REQUIRE(fork(traces, 7)); // the notice found an idle session
    store(file_of(traces.path()), records{own_meta(), user("1")} + answered({says("a"), call("c1")}) +
                                      records{output("c1", "r"), notice} + answered({says("c")}));
    check_refused(traces, 3, errc::not_a_fork_point, "says more behind it");
}

TEST_CASE("a session that is open elsewhere is not forked, unless its owner says that it is idle") {
    const temporary_folder traces;
    store(file_of(traces.path()), two_tasks);
    const auto held = reopen_session(traces.path(), session_id);
    REQUIRE(held);
    check_refused(traces, 9, errc::locked, session_id);
    CHECK(fork_session(traces.path(), session_id, {.ordinal = 9}, {.is_idle = true}));
}

TEST_CASE("a file that does not begin with session_meta takes back the whole fork") {
    const temporary_folder traces;
    store(file_of(traces.path()), {user("no head")});
    store(file_of(traces.path(), 2), two_tasks);
    check_refused(traces, 9, errc::foreign, "session_meta", 2);
}

TEST_CASE("files of the session's own are copied, and prompts point to the copies") {
    const temporary_folder traces;
    const temporary_folder pads;
    std::filesystem::create_directories(pads.file("old/sub"));
    write_bytes(pads.file("old/sub/a.txt"), "content");
    const std::string said = "look\n[attached file: " + pads.file("old/sub/a.txt") +
                             "]\n[attached file: /elsewhere/b]";
    store(file_of(traces.path()), records{own_meta(), user(text(said))} + answered({says("a")}));
    fork_options options;
    options.scratchpad = pads.file("old");
    options.new_scratchpad = pads.file("new");
    const auto made = fork_session(traces.path(), session_id, {.ordinal = 3}, options);
    REQUIRE(made);
    CHECK(bytes_of(pads.file("new/sub/a.txt")) == "content");
    const auto got = load_session(traces.path(), made.value().session_id);
    REQUIRE(got);
    CHECK(got.value().state.history.at(0).content() ==
          "look\n[attached file: " + pads.file("new/sub/a.txt") + "]\n[attached file: /elsewhere/b]");

    const auto before = tree_of(traces.path());
    const auto again = fork_session(traces.path(), session_id, {.ordinal = 3}, options);
    REQUIRE_FALSE(again);
    CHECK(again.error().code() == std::errc::file_exists);
    CHECK(tree_of(traces.path()) == before);
    CHECK(bytes_of(pads.file("new/sub/a.txt")) == "content"); // somebody else's is left alone
}

TEST_CASE("a foreign trace becomes a session of its own, once") {
    const temporary_folder traces;
    const std::string file = traces.file("sent.jsonl");
    write_bytes(file, lines(stamped(two_tasks)) + "{\"torn");
    const auto made = import_trace(file, traces.file("in"), 86'400'000);
    REQUIRE(made);
    CHECK(made.value().path() ==
          trace::session_file{traces.file("in"), trace::local_date(86'400'000), session_id, 1}.path());
    CHECK(bytes_of(made.value().path()) == lines(stamped(two_tasks)));
    const auto again = import_trace(file, traces.file("in"), 999'999'999);
    REQUIRE_FALSE(again);
    CHECK(again.error().code() == errc::exists);
}

TEST_CASE("what is no whole trace is not imported and leaves nothing") {
    const temporary_folder traces;
    const std::string file = traces.file("sent.jsonl");
    const auto check = [&](const std::string& bytes, std::error_code code, const std::string& part) {
        write_bytes(file, bytes);
        const auto got = import_trace(file, traces.file("in"), 1);
        REQUIRE_FALSE(got);
        INFO(got.error().message());
        CHECK(got.error().code() == code);
        CHECK(got.error().message().find(part) != std::string::npos);
        CHECK_FALSE(std::filesystem::exists(traces.file("in")));
    };
    const std::string good = lines(stamped(two_tasks));
    check("", errc::foreign, "session_meta");
    check(lines(stamped({user("1"), own_meta()})), errc::foreign, "session_meta");
    check(lines(stamped({meta("../up"), user("1")})), errc::bad_name, "../up");
    check(good.substr(0, good.find('\n') + 1) + "damaged\n" + good, errc::malformed, file + ":2: ");
}

} // namespace
