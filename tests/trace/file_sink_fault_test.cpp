// SPDX-License-Identifier: BSL-1.0

// What the file sink does when the system refuses, takes half, or somebody else touches the file: the fault
// is one call's, and every later record is whole and on a line of its own.

#include "trace_support.hpp"

#include <thalweg/trace/detail/append_file.hpp>
#include <thalweg/trace/reader.hpp>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

std::string error_of(const result<void>& failed) {
    REQUIRE_FALSE(failed);
    return failed.error().message();
}

bool has(std::string_view sentence, std::string_view part) {
    return sentence.find(part) != std::string_view::npos;
}

// Texts of the readable records.
std::vector<std::string> texts_in(const std::string& path) {
    auto opened = trace::reader::open(path);
    if (!opened) FAIL(opened.error().message());
    std::vector<std::string> found;
    for (const auto& r : trace::read_all(opened.value()).records)
        found.push_back(r.content.content().str());
    return found;
}

} // namespace

TEST_CASE("a write that is cut anywhere loses no record and leaves each whole on a line of its own") {
    const std::vector<message> three{note("one"), note("two"), note("three")};
    const std::string whole = lines(three);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        INFO("cut after " << cut << " bytes");
        const temporary_folder folder;
        faulty_ops system;
        const auto sink = open_sink(folder.file("t.jsonl"), system);
        system.faults["write"] = {{.number = 0, .taken = cut}};
        REQUIRE(write(*sink, three));
        REQUIRE(system.write_calls == 2);
        REQUIRE(texts_in(folder.file("t.jsonl")) == std::vector<std::string>{"one", "two", "three"});
        // Each record lies in one write call as a whole.
        for (const message& m : three) {
            const auto holds = [&](const std::string& bytes) { return has(bytes, to_json(m)); };
            REQUIRE(std::count_if(system.written.begin(), system.written.end(), holds) == 1);
        }
    }
}

TEST_CASE("a disk that gets full in the middle of a record is reported, and healed by the next record") {
    const std::vector<message> two{note("one"), note("two")};
    const std::string whole = lines(two);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        INFO("full after " << cut << " bytes");
        const temporary_folder folder;
        const std::string path = folder.file("t.jsonl");
        faulty_ops system;
        const auto sink = open_sink(path, system);
        system.faults["write"] = {{.number = 0, .taken = cut}, {.number = ENOSPC}};
        const auto failed = write(*sink, two);
        const bool has_first = cut >= line(two[0]).size() - 1; // its LF alone may be missing
        if (cut == whole.size() - 1) {
            REQUIRE(failed);
            REQUIRE(write(*sink, {note("three")}));
            REQUIRE(texts_in(path) == std::vector<std::string>{"one", "two", "three"});
            continue;
        }
        REQUIRE(has(error_of(failed), path));
        REQUIRE(failed.error().code() == std::errc::no_space_on_device);
        REQUIRE(has(error_of(failed), has_first ? "; 1 of 2 records" : "; 2 of 2 records"));
        REQUIRE(write(*sink, {note("three")}));
        const auto expected = has_first ? std::vector<std::string>{"one", "three"}
                                        : std::vector<std::string>{"three"};
        REQUIRE(texts_in(path) == expected);
        REQUIRE(bytes_of(path).ends_with("\n" + line(note("three"))) == (cut > 0));
    }
}

TEST_CASE("a disk that stays full fails each call alone") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    REQUIRE(write(*sink, {note("before")}));
    system.every_write = faulty_ops::fault{.number = ENOSPC};
    REQUIRE(has(error_of(write(*sink, {note("a")})), "make room"));
    REQUIRE(has(error_of(write(*sink, {note("b")})), "1 of 1 records"));
    system.every_write.reset();
    REQUIRE(write(*sink, {note("after")}));
    REQUIRE(bytes_of(folder.file("t.jsonl")) == line(note("before")) + line(note("after")));
}

TEST_CASE("a system that takes a byte at a time ends in an error, not in a loop") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    for (const std::size_t taken : {0, 1}) {
        system.every_write = faulty_ops::fault{.number = 0, .taken = taken};
        const auto failed = write(*sink, {note("a"), note("b")});
        REQUIRE(has(error_of(failed), "2 of 2 records"));
        REQUIRE(failed.error().code() == trace::errc::short_write);
    }
    system.every_write.reset();
    REQUIRE(write(*sink, {note("c")}));
    REQUIRE(texts_in(folder.file("t.jsonl")) == std::vector<std::string>{"c"});
}

TEST_CASE("an interrupted system call is made again") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    write_bytes(folder.file("t.jsonl"), "torn");
    for (const char* call : {"open", "write", "read", "state"})
        system.faults[call] = {{.number = EINTR}, {.number = EINTR}};
    REQUIRE(write(*sink, {note("a")}));
    REQUIRE(bytes_of(folder.file("t.jsonl")) == "torn\n" + line(note("a")));
}

TEST_CASE("a file that ends anywhere gets its next record on a line of its own") {
    const std::string whole = line(note("one")) + line(note("two"));
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        INFO("cut after " << cut << " bytes");
        const temporary_folder folder;
        const std::string path = folder.file("t.jsonl");
        write_bytes(path, whole.substr(0, cut));
        REQUIRE(write(*open_sink(path), {note("three")}));
        const bool is_torn = cut > 0 && whole[cut - 1] != '\n';
        REQUIRE(bytes_of(path) == whole.substr(0, cut) + (is_torn ? "\n" : "") + line(note("three")));
        REQUIRE(texts_in(path).back() == "three");
    }
}

TEST_CASE("a look at the tail that fails is reported, and repeated with the next write") {
    const temporary_folder folder;
    const std::string path = folder.file("t.jsonl");
    write_bytes(path, "torn");
    faulty_ops system;
    system.faults["read"] = {{.number = EIO}};
    system.faults["state"] = {{}, {.number = EACCES}};
    const auto sink = open_sink(path, system);
    REQUIRE(has(error_of(write(*sink, {note("a")})),
                "cannot be read: Input/output error; 1 records are not in the file"));
    REQUIRE(has(error_of(write(*sink, {note("b")})), "cannot be looked at: Permission denied"));
    REQUIRE(write(*sink, {note("c")}));
    REQUIRE(bytes_of(path) == "torn\n" + line(note("c")));
}

TEST_CASE("a file that cannot be opened is tried again with each write, and the head is not lost") {
    const temporary_folder folder;
    faulty_ops system;
    system.faults["open"] = {{.number = EMFILE}};
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    REQUIRE(has(error_of(write(*sink, {sample_meta(), note("a")})), "cannot be opened"));
    REQUIRE(write(*sink, {note("b")}));
    REQUIRE(bytes_of(folder.file("t.jsonl")) == line(sample_meta()) + line(note("b")));
}

TEST_CASE("a folder that is a file gets a clear error before anything runs") {
    const temporary_folder folder;
    write_bytes(folder.file("file"), "x");
    const auto session = trace::file_sink::open(trace::new_session_file(folder.file("file"), 0));
    REQUIRE_FALSE(session);
    REQUIRE(session.error().message() ==
            "trace folder " + folder.file("file") +
                " cannot be made: Not a directory; choose a folder that can be written");
    const auto below = trace::file_sink::open(trace::new_session_file(folder.file("file/traces"), 0));
    REQUIRE_FALSE(below);
    REQUIRE(has(below.error().message(), "Not a directory"));
}

TEST_CASE("a folder that cannot be written gets a clear error before anything runs") {
    if (::geteuid() == 0) return; // root may write anywhere
    const temporary_folder folder;
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    const auto session = trace::file_sink::open(trace::new_session_file(folder.path(), 0));
    REQUIRE_FALSE(session);
    REQUIRE(has(session.error().message(), "Permission denied; choose a folder that can be written"));
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST_CASE("a session id that leaves the folder is refused") {
    const temporary_folder folder;
    for (const char* id : {"../x", "", ".x", "a/b", "a b", "a\n"}) {
        const auto refused = trace::file_sink::open(
            {.traces = folder.path(), .date = "2026-11-30", .session_id = id});
        REQUIRE_FALSE(refused);
        REQUIRE(refused.error().code() == trace::errc::bad_name);
    }
}

TEST_CASE("a file that is taken away is told about, and no later record is lost") {
    const temporary_folder folder;
    const std::string path = folder.file("t.jsonl");
    faulty_ops system;
    const auto sink = open_sink(path, system);
    REQUIRE(write(*sink, {sample_meta(), note("a")}));
    SECTION("removed") {
        std::filesystem::remove(path);
    }
    SECTION("moved") {
        std::filesystem::rename(path, path + ".old");
    }
    const auto told = write(*sink, {note("b")});
    REQUIRE(has(error_of(told), "was taken away"));
    REQUIRE(told.error().code() == trace::errc::changed);
    REQUIRE(write(*sink, {note("c")}));
    REQUIRE(bytes_of(path) == line(sample_meta()) + line(note("b")) + line(note("c")));
}

TEST_CASE("the name is not looked at with every write") {
    const temporary_folder folder;
    faulty_ops system;
    const auto sink = open_sink(folder.file("t.jsonl"), system);
    REQUIRE(write(*sink, {note("a")}));
    std::filesystem::rename(folder.file("t.jsonl"), folder.file("u.jsonl"));
    system.stands_still = true;
    REQUIRE(write(*sink, {note("b")}));
    REQUIRE(bytes_of(folder.file("u.jsonl")) == line(note("a")) + line(note("b")));
    system.stands_still = false;
    REQUIRE(has(error_of(write(*sink, {note("c")})), "was taken away"));
}

TEST_CASE("a folder that is taken away is made again") {
    const temporary_folder folder;
    const trace::session_file where{.traces = folder.file("traces"), .date = "2026-11-30", .session_id = "s"};
    faulty_ops system;
    auto opened = trace::file_sink::open(where, {.head = {}, .system = &system});
    REQUIRE(opened);
    REQUIRE(write(*opened.value(), {note("a")}));
    std::filesystem::remove_all(folder.file("traces"));
    REQUIRE(has(error_of(write(*opened.value(), {note("b")})), "was taken away"));
    REQUIRE(bytes_of(where.path()) == line(note("b")));
}

TEST_CASE("a file that was replaced or changed is told about, and its new tail is healed") {
    const temporary_folder folder;
    const std::string path = folder.file("t.jsonl");
    faulty_ops system;
    const auto sink = open_sink(path, system);
    REQUIRE(write(*sink, {note("a")}));
    SECTION("replaced") {
        write_bytes(folder.file("other"), "other");
        std::filesystem::rename(folder.file("other"), path);
        REQUIRE(has(error_of(write(*sink, {note("b")})), "was replaced"));
        REQUIRE(bytes_of(path) == "other\n" + line(note("b")));
    }
    SECTION("cut") {
        std::filesystem::resize_file(path, 5);
        REQUIRE(has(error_of(write(*sink, {note("b")})), "was changed by somebody else"));
        REQUIRE(bytes_of(path) == line(note("a")).substr(0, 5) + "\n" + line(note("b")));
    }
    SECTION("lengthened") {
        std::ofstream(path, std::ios::app) << "more";
        REQUIRE(has(error_of(write(*sink, {note("b")})), "was changed by somebody else"));
        REQUIRE(bytes_of(path) == line(note("a")) + "more\n" + line(note("b")));
    }
    REQUIRE(write(*sink, {note("c")}));
    REQUIRE(texts_in(path).back() == "c");
}

TEST_CASE("a device is written without a look back") {
    trace::detail::append_file full("/dev/full", trace::detail::file_ops::system());
    const std::string bytes = "\nrecord\n";
    const std::vector<std::size_t> ends{bytes.size()};
    REQUIRE(full.prepare());
    REQUIRE(has(error_of(full.append(bytes, ends)),
                "trace /dev/full cannot be written: No space left on device"));
    trace::detail::append_file null("/dev/null", trace::detail::file_ops::system());
    for (int i = 0; i < 2; ++i) {
        const auto ready = null.prepare();
        REQUIRE(ready);
        REQUIRE(ready.value().changed.empty());
        REQUIRE_FALSE(ready.value().is_empty);
        REQUIRE(null.append(bytes, ends));
    }
}
