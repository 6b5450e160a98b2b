// SPDX-License-Identifier: BSL-1.0

// What the file sink writes, in which order, in how many calls, and where.

#include "support/allocation_count.hpp"
#include "trace_support.hpp"

#include <thalweg/async/frame_pool.hpp>
#include <thalweg/trace/memory_sink.hpp>
#include <thalweg/trace/reader.hpp>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

trace::session_file place_in(const temporary_folder& folder) {
    return {.traces = folder.file("traces"), .date = "2026-11-30", .session_id = "session-x", .index = 1};
}

std::unique_ptr<trace::file_sink> open_session(const trace::session_file& where,
                                               std::vector<message> head = {}) {
    auto opened = trace::file_sink::open(where, {.head = std::move(head)});
    if (!opened) FAIL(opened.error().message());
    return std::move(opened).value();
}

} // namespace

TEST_CASE("the file holds the recordable messages of the stream in its order, each on a line") {
    const temporary_folder folder;
    const auto run = sample_run();
    {
        const auto sink = open_sink(folder.file("t.jsonl"));
        REQUIRE(write(*sink, {sample_meta(), note("go")}));
        for (const message& m : run)
            REQUIRE(write(*sink, {m}));
    }
    REQUIRE(bytes_of(folder.file("t.jsonl")) == line(sample_meta()) + line(note("go")) + lines(run));
    REQUIRE(lines(run).find("partial_") == std::string::npos);
    REQUIRE(lines(run).find("of a child") == std::string::npos);
}

TEST_CASE("records that come together go out with one write call, and none lies in two") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    const auto run = sample_run();
    REQUIRE(write(*sink, run));
    REQUIRE(system.written == std::vector<std::string>{lines(run)});
    REQUIRE(write(*sink, std::span(run).subspan(0, 1)));
    REQUIRE(system.write_calls == 2);
}

TEST_CASE("messages that are not recordable touch nothing") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    REQUIRE(write(*sink, {message::partial_text(frame::delta, "x"), note("x").with_origin_prefix("child")}));
    REQUIRE(write(*sink, std::span<const message>()));
    REQUIRE(system.write_calls == 0);
    REQUIRE_FALSE(std::filesystem::exists(folder.file("t.jsonl")));
}

TEST_CASE("a session's file lies in its date folder and appears with the first write") {
    const temporary_folder folder;
    const auto where = place_in(folder);
    const auto sink = open_session(where);
    REQUIRE(sink->path() == folder.file("traces/2026-11-30/session-x_001.jsonl"));
    REQUIRE_FALSE(std::filesystem::exists(sink->path()));
    REQUIRE(write(*sink, {note("a")}));
    REQUIRE(bytes_of(sink->path()) == line(note("a")));
}

TEST_CASE("others may not read the file") {
    const temporary_folder folder;
    const auto sink = open_sink(folder.file("t.jsonl"));
    REQUIRE(write(*sink, {note("secret")}));
    const auto allowed = std::filesystem::status(folder.file("t.jsonl")).permissions();
    REQUIRE((allowed & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
            std::filesystem::perms::none);
}

TEST_CASE("a session that goes on appends to its file") {
    const temporary_folder folder;
    const auto where = place_in(folder);
    REQUIRE(write(*open_session(where), {note("a")}));
    REQUIRE(write(*open_session(where), {note("b")}));
    REQUIRE(bytes_of(where.path()) == line(note("a")) + line(note("b")));
}

TEST_CASE("rotation is lazy, keeps the date folder and starts the new file with the head records") {
    const temporary_folder folder;
    const auto sink = open_session(place_in(folder));
    REQUIRE(write(*sink, {sample_meta(), note("a"), sample_tools()}));
    sink->rotate();
    const auto second = folder.file("traces/2026-11-30/session-x_002.jsonl");
    REQUIRE(sink->path() == second);
    REQUIRE_FALSE(std::filesystem::exists(second));
    REQUIRE(write(*sink, {note("b")}));
    REQUIRE(write(*sink, {note("c")}));
    REQUIRE(bytes_of(second) ==
            line(sample_meta()) + line(sample_tools()) + line(note("b")) + line(note("c")));
    sink->rotate();
    sink->rotate();
    REQUIRE(write(*sink, {sample_meta("s2"), note("d")}));
    REQUIRE(bytes_of(folder.file("traces/2026-11-30/session-x_004.jsonl")) ==
            line(sample_meta("s2")) + line(note("d")));
    REQUIRE(bytes_of(folder.file("traces/2026-11-30/session-x_001.jsonl")) ==
            line(sample_meta()) + line(note("a")) + line(sample_tools()));
}

TEST_CASE("head records that are known beforehand stand in rotated files only") {
    const temporary_folder folder;
    const auto sink = open_session(place_in(folder), {sample_meta()});
    REQUIRE(write(*sink, {note("a")}));
    sink->rotate();
    REQUIRE(write(*sink, {note("b")}));
    REQUIRE(bytes_of(folder.file("traces/2026-11-30/session-x_001.jsonl")) == line(note("a")));
    REQUIRE(bytes_of(sink->path()) == line(sample_meta()) + line(note("b")));
}

TEST_CASE("a single file of any name rotates beside itself") {
    const temporary_folder folder;
    const auto sink = open_sink(folder.file("new/run.jsonl"));
    REQUIRE(write(*sink, {note("a")}));
    sink->rotate();
    REQUIRE(write(*sink, {note("b")}));
    REQUIRE(bytes_of(folder.file("new/run.jsonl")) == line(note("a")));
    REQUIRE(bytes_of(folder.file("new/run_002.jsonl")) == line(note("b")));
}

TEST_CASE("a write that was submitted before rotation goes to the old file, awaited or not") {
    const temporary_folder folder;
    const auto sink = open_sink(folder.file("t.jsonl"));
    const std::vector<message> first{note("a")};
    const std::vector<message> second{note("b")};
    auto early = sink->write(first);
    sink->rotate();
    auto late = sink->write(second);
    virtual_loop on;
    REQUIRE(on.run(std::move(late)));
    REQUIRE(on.run(std::move(early)));
    REQUIRE(bytes_of(folder.file("t.jsonl")) == line(note("a")));
    REQUIRE(bytes_of(folder.file("t_002.jsonl")) == line(note("b")));
}

TEST_CASE("hostile text stays one line of strict JSON") {
    const temporary_folder folder;
    const std::vector<message> hostile{
        note(std::string_view("nul \0 in it\n", 12)),
        note("line\xe2\x80\xa8separator\xe2\x80\xa9"),
        note("broken \xff\xc3 utf-8"),
        note("\xed\xa0\x80 lone surrogate"),
        note(std::string(5 << 20, 'x') + "\n\r\t\"\\"),
    };
    const auto sink = open_sink(folder.file("t.jsonl"));
    REQUIRE(write(*sink, hostile));
    auto opened = trace::reader::open(folder.file("t.jsonl"));
    REQUIRE(opened);
    const auto read = trace::read_all(opened.value());
    REQUIRE(read.damage_count == 0);
    REQUIRE(read.records.size() == hostile.size());
    REQUIRE(read.records[0].content.content() == hostile[0].content());
    REQUIRE(read.records[1].content.content() == hostile[1].content());
    REQUIRE(read.records[2].content.content() == "broken \xef\xbf\xbd\xef\xbf\xbd utf-8");
    REQUIRE(read.records[3].content.content() == hostile[3].content());
    REQUIRE(read.records[4].content.content() == hostile[4].content());
    const std::string bytes = bytes_of(folder.file("t.jsonl"));
    REQUIRE(std::count(bytes.begin(), bytes.end(), '\n') == 5);
}

TEST_CASE("a record without time gets that of the write, so that a reader takes it") {
    const temporary_folder folder;
    const auto sink = open_sink(folder.file("t.jsonl"));
    REQUIRE(write(*sink, {message::user_text("unstamped")}));
    auto opened = trace::reader::open(folder.file("t.jsonl"));
    REQUIRE(opened);
    REQUIRE(trace::read_all(opened.value()).records.size() == 1);
}

TEST_CASE("writing a short record allocates nothing once the buffers have grown") {
    const temporary_folder folder;
    const auto sink = open_sink(folder.file("t.jsonl"));
    const auto run = sample_run();
    virtual_loop on;
    const auto all_to_file = [&]() -> task<void> {
        for (int i = 0; i < 3; ++i) {
            auto done = co_await sink->write(run);
            if (!done) FAIL(done.error().message());
        }
        const std::size_t before = allocation_count();
        for (int i = 0; i < 100; ++i) {
            auto done = co_await sink->write(run);
            if (!done) FAIL(done.error().message());
        }
        const std::size_t allocated = allocation_count() - before;
        const std::size_t frames = THALWEG_FRAME_POOL == 1 ? 0 : 100; // each write is one coroutine
        REQUIRE(allocated == frames);
    };
    on.run(all_to_file());
}

TEST_CASE("the memory sink keeps what the file sink writes") {
    const temporary_folder folder;
    const auto file = open_session(place_in(folder));
    trace::memory_sink memory;
    const auto run = sample_run();
    for (trace::sink* to : {static_cast<trace::sink*>(file.get()), static_cast<trace::sink*>(&memory)}) {
        REQUIRE(write(*to, {sample_meta(), note("a"), sample_tools()}));
        REQUIRE(write(*to, run));
        to->rotate();
        REQUIRE(write(*to, run));
        REQUIRE(write(*to, {message::partial_text(frame::start)}));
    }
    REQUIRE(memory.files().size() == 2);
    REQUIRE(memory.write_count() == 3);
    REQUIRE(bytes_of(folder.file("traces/2026-11-30/session-x_001.jsonl")) == lines(memory.files()[0]));
    REQUIRE(bytes_of(folder.file("traces/2026-11-30/session-x_002.jsonl")) == lines(memory.files()[1]));
}

TEST_CASE("the memory sink fails as often as it is told to, and goes on") {
    trace::memory_sink memory;
    memory.fail_writes(1, error(std::make_error_code(std::errc::no_space_on_device), "full"));
    const auto refused = write(memory, {note("a")});
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().message() == "full");
    REQUIRE(write(memory, {note("b")}));
    REQUIRE(memory.files().size() == 1);
    REQUIRE(lines(memory.files()[0]) == line(note("b")));
}
