// SPDX-License-Identifier: BSL-1.0

// Names of sessions and files, and finding them again.

#include "trace_support.hpp"

#include <algorithm>
#include <cctype>
#include <set>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

void make(const temporary_folder& folder, const std::string& name, std::string_view bytes) {
    const auto path = std::filesystem::path(folder.file(name));
    std::filesystem::create_directories(path.parent_path());
    write_bytes(path.string(), bytes);
}

std::vector<std::string> names(const std::vector<trace::session_file>& files) {
    std::vector<std::string> made;
    for (const auto& f : files)
        made.push_back(std::filesystem::path(f.path()).filename().string());
    return made;
}

} // namespace

TEST_CASE("a session id has its shape, is unique and sorts by time") {
    const std::string id = trace::make_session_id(1'764'522'249'123);
    const std::string form = "session-2025-11-30-17-04-09-";
    REQUIRE(id.substr(0, form.size()) == form);
    const std::string unique = id.substr(form.size());
    REQUIRE(unique.size() == 8);
    REQUIRE(std::all_of(unique.begin(), unique.end(),
                        [](unsigned char c) { return std::isxdigit(c) != 0 && std::isupper(c) == 0; }));
    REQUIRE(trace::is_safe_session_id(id));
    std::set<std::string> many;
    for (int i = 0; i < 100; ++i)
        many.insert(trace::make_session_id(1'764'522'249'123));
    REQUIRE(many.size() == 100);
    REQUIRE(trace::make_session_id(1'764'522'250'000) > *many.rbegin());
}

TEST_CASE("a file's path is folder, local date, id and an index of at least three digits") {
    trace::session_file file{.traces = "/t", .date = "2026-11-30", .session_id = "s", .index = 7};
    REQUIRE(file.path() == "/t/2026-11-30/s_007.jsonl");
    file.index = 1234;
    REQUIRE(file.path() == "/t/2026-11-30/s_1234.jsonl");

    const char* before = std::getenv("TZ");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("TZ", "XYZ-9", 1); // nine hours ahead of UTC
    ::tzset();
    const auto made = trace::new_session_file("/t", 1'764'522'249'123);
    if (before == nullptr)
        ::unsetenv("TZ");
    else
        ::setenv("TZ", kept.c_str(), 1);
    ::tzset();
    REQUIRE(made.date == "2025-12-01");
    REQUIRE(made.session_id.starts_with("session-2025-11-30-17"));
    REQUIRE(made.index == 1);
}

TEST_CASE("the newest file of a session is the one with the highest index, over all dates") {
    const temporary_folder folder;
    make(folder, "2026-11-29/s_001.jsonl", "{}\n");
    make(folder, "2026-11-29/s_010.jsonl", "{}\n");
    make(folder, "2026-11-30/s_009.jsonl", "{}\n");
    make(folder, "2026-11-30/s2_011.jsonl", "{}\n");
    make(folder, "2026-11-30/s_12.jsonl", "{}\n");
    make(folder, "2026-11-30/s_013.json", "");
    make(folder, "notes/s_014.jsonl", "{}\n");
    const auto newest = trace::newest_file(folder.path(), "s");
    REQUIRE(newest);
    REQUIRE(newest.value().path() == folder.file("2026-11-29/s_010.jsonl"));

    const auto missing = trace::newest_file(folder.path(), "other");
    REQUIRE_FALSE(missing);
    REQUIRE(missing.error().code() == trace::errc::not_found);
    REQUIRE(missing.error().message().find(folder.path()) != std::string::npos);
    REQUIRE(trace::newest_file(folder.path(), "../s").error().code() == trace::errc::bad_name);
}

TEST_CASE("a file that a process has made and not written to hides none before it") {
    const temporary_folder folder;
    make(folder, "2026-11-29/s_001.jsonl", "{}\n");
    make(folder, "2026-11-29/s_002.jsonl", "{}\n");
    make(folder, "2026-11-29/s_003.jsonl", "{\"cut");
    make(folder, "2026-11-29/s_004.jsonl", "");
    make(folder, "2026-11-29/t_001.jsonl", "");
    const auto newest = trace::newest_file(folder.path(), "s");
    REQUIRE(newest);
    CHECK(newest.value().index == 2);
    const auto first = trace::newest_file(folder.path(), "t");
    REQUIRE(first);
    CHECK(first.value().index == 1);
    const auto all = trace::list_sessions(folder.path());
    REQUIRE(all);
    CHECK(names(all.value()) == std::vector<std::string>{"t_001.jsonl", "s_002.jsonl"});
}

TEST_CASE("sessions are listed with their newest file, the latest first") {
    const temporary_folder folder;
    make(folder, "2026-11-29/a_001.jsonl", "{}\n");
    make(folder, "2026-11-29/a_002.jsonl", "{}\n");
    make(folder, "2026-11-30/b_001.jsonl", "{}\n");
    make(folder, "b.lock", "1");
    const auto all = trace::list_sessions(folder.path());
    REQUIRE(all);
    REQUIRE(names(all.value()) == std::vector<std::string>{"b_001.jsonl", "a_002.jsonl"});
    const auto none = trace::list_sessions(folder.file("missing"));
    REQUIRE(none);
    REQUIRE(none.value().empty());
    write_bytes(folder.file("file"), "");
    REQUIRE_FALSE(trace::list_sessions(folder.file("file")));
}

TEST_CASE("files are listed by session and index, wherever they lie") {
    const temporary_folder folder;
    make(folder, "2026-11-30/a_002.jsonl", "");
    make(folder, "2026-11-29/a_010.jsonl", "");
    make(folder, "2026-11-30/a_001.jsonl", "");
    make(folder, "2026-11-28/b_001.jsonl", "");
    make(folder, "2026-11-28/readme.txt", "");
    make(folder, "other/c_001.jsonl", "");
    const auto all = trace::list_files(folder.path());
    REQUIRE(all);
    REQUIRE(names(all.value()) ==
            std::vector<std::string>{"a_001.jsonl", "a_002.jsonl", "a_010.jsonl", "b_001.jsonl"});
    REQUIRE(trace::list_files(folder.file("missing")).value().empty());
}

TEST_CASE("the latest session is one that got further than its session_meta") {
    const temporary_folder folder;
    const auto none = trace::latest_session(folder.path());
    REQUIRE(none);
    REQUIRE_FALSE(none.value());
    make(folder, "2026-11-28/c_001.jsonl", line(sample_meta()) + line(note("a")));
    make(folder, "2026-11-29/a_001.jsonl", line(sample_meta()) + line(note("a")));
    make(folder, "2026-11-29/b_001.jsonl", line(sample_meta()) + "torn");
    make(folder, "2026-11-30/d_001.jsonl", line(sample_meta()));
    const auto latest = trace::latest_session(folder.path());
    REQUIRE(latest);
    REQUIRE(latest.value());
    REQUIRE(latest.value()->path() == folder.file("2026-11-29/a_001.jsonl"));
}
