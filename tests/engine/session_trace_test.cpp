// SPDX-License-Identifier: BSL-1.0

#include "stored.hpp"

#include <thalweg/engine/session_trace.hpp>

namespace {

using namespace thalweg;
using namespace thalweg::testing;
using trace::errc;

template <class T>
void check_error(const result<T>& got, std::error_code code, std::initializer_list<const char*> parts) {
    REQUIRE_FALSE(got);
    INFO(got.error().message());
    CHECK(got.error().code() == code);
    for (const char* part : parts) {
        INFO(part);
        CHECK(got.error().message().find(part) != std::string::npos);
    }
}

const records one_turn = records{meta(session_id), user("1"),      began(), call("c1"),
                                 says("a"),        used(100, 100), ended(), output("c1", "r")};
const records closing = records{compacts(),    user("P"), began(),    says("[summary]s[/summary]"),
                                used(150, 50), ended(),   compacted()};

TEST_CASE("a session is read from its newest file, by its id or as the latest") {
    const temporary_folder traces;
    store(file_of(traces.path(), 1, "session-0"), records{meta("session-0"), user("older")});
    store(file_of(traces.path()), one_turn);
    for (const char* asked : {session_id, "latest"}) {
        const auto got = load_session(traces.path(), asked);
        REQUIRE(got);
        CHECK(got.value().where.path() == file_of(traces.path()).path());
        CHECK(words_of(got.value().state.history) == words{"text:1", "tool_call:t:{}:c1", "text:a"});
        CHECK(got.value().damage_count == 0);
        CHECK_FALSE(got.value().state.came_from_compaction);
    }
}

TEST_CASE("ids that are no file names, and sessions that are not there, are told apart") {
    const temporary_folder traces;
    for (const char* id : {"../up", "a/b", "", ".hidden", "a\\b", "a b"})
        check_error(load_session(traces.path(), id), errc::bad_name, {"is no session id"});
    check_error(reopen_session(traces.path(), "../up"), errc::bad_name, {"../up"});
    check_error(load_session(traces.path(), "session-x"), errc::not_found,
                {"session-x", traces.path().c_str()});
    check_error(load_session(traces.path(), "latest"), errc::not_found,
                {"no session", traces.path().c_str()});
    check_error(load_session(traces.file("missing"), "latest"), errc::not_found, {"missing"});
    CHECK(tree_of(traces.path()).empty());
}

TEST_CASE("lines that cannot be read are told with file and line, and the rest is used") {
    const temporary_folder traces;
    const std::string path = file_of(traces.path()).path();
    store(file_of(traces.path()), one_turn, "garbage\n" + lines(stamped({user("2")})) + "{\"timest");
    const std::string before = bytes_of(path);
    const auto got = load_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(words_of(got.value().state.carry_over) == words{"tool_call_output:r:c1", "text:2"});
    REQUIRE(got.value().damages.size() == 2);
    CHECK(to_string(got.value().damages[0]).starts_with(path + ":9: "));
    CHECK(got.value().damages[0].what.why.code() == errc::malformed);
    CHECK(to_string(got.value().damages[1]).starts_with(path + ":11: "));
    CHECK(got.value().damages[1].what.why.code() == errc::torn_tail);
    CHECK(bytes_of(path) == before);
}

TEST_CASE("a file cut at any byte gives what its whole records say") {
    const temporary_folder traces;
    const trace::session_file where = file_of(traces.path());
    const records all = stamped(one_turn);
    const std::string whole = lines(all);
    std::size_t kept = 1;
    std::size_t kept_bytes = line(all[0]).size();
    for (std::size_t n = kept_bytes; n <= whole.size(); ++n) {
        if (kept < all.size() &&
            n >= kept_bytes + line(all[kept]).size() - 1) // a record counts without its LF
            kept_bytes += line(all[kept++]).size();
        store(where, {}, whole.substr(0, n));
        const auto got = load_session(traces.path(), session_id);
        CAPTURE(n);
        REQUIRE(got);
        const std::span<const message> readable(all.data(), kept);
        REQUIRE(text_of(got.value().state) == text_of(resume(readable)));
        REQUIRE(got.value().damage_count == (n > kept_bytes ? 1 : 0));
    }
}

TEST_CASE("of many damaged lines twenty are kept and all are counted") {
    const temporary_folder traces;
    std::string garbage;
    for (int i = 0; i < 30; ++i)
        garbage += "x\n";
    store(file_of(traces.path()), one_turn, garbage);
    const auto got = load_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(got.value().damages.size() == 20);
    CHECK(got.value().damage_count == 30);
}

TEST_CASE("files that are no trace of the session are refused") {
    const temporary_folder traces;
    const trace::session_file where = file_of(traces.path());
    store(where, {}, "Dear diary,\nnothing happened.\n");
    check_error(load_session(traces.path(), session_id), errc::foreign, {"not one is a record", ":1: "});
    store(where, {user("1")});
    check_error(load_session(traces.path(), session_id), errc::foreign, {"no session_meta"});
    store(where, {});
    check_error(load_session(traces.path(), session_id), errc::foreign, {"no session_meta"});
    store(where, {meta("session-b"), user("1")});
    check_error(load_session(traces.path(), session_id), errc::foreign, {"session-b"});
    check_error(reopen_session(traces.path(), session_id), errc::foreign, {"session-b"});
    CHECK(tree_of(traces.path()).size() == 2); // the date and the file: no lock stays
}

TEST_CASE("a trace of a newer version is refused, one of this version is not") {
    const temporary_folder traces;
    std::string first = lines(stamped({meta(session_id)}));
    const auto with_version = [&first](const std::string& version) {
        std::string changed = first;
        return changed.insert(changed.find("\"payload\":{") + 11, "\"trace_version\":" + version + ",");
    };
    for (const char* version : {"2", "1.5", "\"next\""}) {
        store(file_of(traces.path()), {}, with_version(version) + lines(stamped({user("1")})));
        check_error(load_session(traces.path(), session_id), errc::newer, {"is of version", version});
    }
    store(file_of(traces.path()), {}, with_version("1") + lines(stamped({user("1")})));
    CHECK(load_session(traces.path(), session_id));
}

TEST_CASE("a session goes on in its own file, behind a torn line") {
    const temporary_folder traces;
    const std::string path = file_of(traces.path()).path();
    store(file_of(traces.path()), one_turn, "{\"timest");
    const std::string before = bytes_of(path);
    {
        auto got = reopen_session(traces.path(), session_id);
        REQUIRE(got);
        CHECK(got.value().sink->path() == path);
        REQUIRE(write(*got.value().sink, {note("on")}));
    }
    CHECK(bytes_of(path) == before + "\n" + line(note("on")));
    const auto again = load_session(traces.path(), session_id);
    REQUIRE(again);
    CHECK(words_of(again.value().state.carry_over) == words{"tool_call_output:r:c1", "text:on"});
    CHECK(again.value().damage_count == 1);
}

TEST_CASE("a session that is open is refused with the holder's name") {
    const temporary_folder traces;
    store(file_of(traces.path()), one_turn);
    auto first = reopen_session(traces.path(), session_id);
    REQUIRE(first);
    check_error(reopen_session(traces.path(), session_id), errc::locked,
                {session_id, std::to_string(::getpid()).c_str()});
    CHECK(load_session(traces.path(), session_id)); // looking is free
    first.value().sink.reset();
    CHECK(reopen_session(traces.path(), session_id));
}

TEST_CASE("a workspace that is gone is named before anything is written") {
    const temporary_folder traces;
    struct session_meta m{.session_id = session_id, .provider = "p", .model_id = "m"};
    m.workspace = text(traces.file("work"));
    store(file_of(traces.path()), {message::session_meta(m), user("1")});
    check_error(reopen_session(traces.path(), session_id), errc::not_found,
                {"workspace", traces.file("work").c_str()});
    CHECK(reopen_session(traces.path(), session_id, {.needs_workspace = false}));
    std::filesystem::create_directory(traces.file("work"));
    CHECK(reopen_session(traces.path(), session_id));
}

TEST_CASE("behind a completed compaction the next record begins a file with the session's head") {
    const temporary_folder traces;
    const message tools = sample_tools();
    store(file_of(traces.path()), records{meta(session_id), tools} + one_turn + closing);
    auto got = reopen_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(got.value().stored.state.context_closed);
    CHECK_FALSE(std::filesystem::exists(file_of(traces.path(), 2).path()));
    REQUIRE(write(*got.value().sink, {note("s"), note("2")}));
    CHECK(bytes_of(file_of(traces.path(), 2).path()) ==
          lines(stamped({meta(session_id)})) + line(tools) + line(note("s")) + line(note("2")));
}

TEST_CASE("a head without its first record is as good as no file") {
    const temporary_folder traces;
    store(file_of(traces.path()), one_turn + closing);
    store(file_of(traces.path(), 2), {meta(session_id)}, "{\"torn");
    auto got = reopen_session(traces.path(), session_id);
    REQUIRE(got);
    const resumed_state& state = got.value().stored.state;
    REQUIRE(state.pending_summary);
    CHECK(state.pending_summary->content() == "[context_summary]\ns\n[/context_summary]");
    CHECK(state.usage.total == 150);
    CHECK(state.came_from_compaction);
    CHECK_FALSE(state.context_closed);
    CHECK(got.value().sink->path() == file_of(traces.path(), 2).path());
}

TEST_CASE("counts and ids go on over the files of a session") {
    const temporary_folder traces;
    store(file_of(traces.path()), one_turn + closing);
    store(file_of(traces.path(), 2), records{meta(session_id), user("s"), user("2"), began(), call("c2")});
    const auto got = load_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(got.value().state.usage.total == 150);
    CHECK(got.value().state.last_request_total == 0);
    CHECK(got.value().state.call_ids == std::vector<text>{"c1", "c2"});
    CHECK(got.value().state.came_from_compaction);
    CHECK_FALSE(got.value().state.pending_summary);
    CHECK(words_of(got.value().state.carry_over) == words{"text:s", "text:2"});
}

TEST_CASE("a head that was lost is taken from an earlier file") {
    const temporary_folder traces;
    store(file_of(traces.path()), one_turn + closing);
    store(file_of(traces.path(), 2), {}, "{\"lost\n" + lines(stamped({user("s")})));
    const auto got = load_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(got.value().state.meta->session_id == session_id);
    CHECK(got.value().state.head.size() == 1);
    CHECK(got.value().damage_count == 1);
}

TEST_CASE("the newest file counts in whatever folder it lies") {
    const temporary_folder traces;
    store(file_of(traces.path()), one_turn + closing);
    trace::session_file other = file_of(traces.path(), 2);
    other.date = "2026-01-01";
    store(other, {meta(session_id), user("s"), user("2")});
    const auto got = load_session(traces.path(), session_id);
    REQUIRE(got);
    CHECK(got.value().where.path() == other.path());
}

} // namespace
