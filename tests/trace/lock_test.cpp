// SPDX-License-Identifier: BSL-1.0

// A session has one writer (R-TRC-17): in one process, in two, and after a process died.

#include "trace_support.hpp"

#include <array>
#include <csignal>

#include <sys/wait.h>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

// Another process that has opened the session and then waits to be told to end.
class other_writer {
public:
    explicit other_writer(const trace::session_file& where) {
        REQUIRE(::pipe(to_us_.data()) == 0);
        REQUIRE(::pipe(to_it_.data()) == 0);
        process_ = ::fork();
        if (process_ == 0) hold(where);
        char ready = 0;
        REQUIRE(::read(to_us_[0], &ready, 1) == 1);
        REQUIRE(ready == 'y');
    }
    other_writer(const other_writer&) = delete;
    other_writer& operator=(const other_writer&) = delete;
    ~other_writer() {
        if (process_ > 0) kill();
        for (const int descriptor : {to_us_[0], to_us_[1], to_it_[0], to_it_[1]})
            ::close(descriptor);
    }

    [[nodiscard]] pid_t process() const noexcept { return process_; }
    void kill() {
        ::kill(process_, SIGKILL);
        wait();
    }
    void finish() {
        static_cast<void>(::write(to_it_[1], "x", 1));
        wait();
    }

private:
    [[noreturn]] void hold(const trace::session_file& where) {
        auto opened = trace::file_sink::open(where);
        const char ready = opened ? 'y' : 'n';
        static_cast<void>(::write(to_us_[1], &ready, 1));
        char end = 0;
        static_cast<void>(::read(to_it_[0], &end, 1));
        if (opened) opened.value().reset();
        ::_exit(0);
    }
    void wait() {
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }

    std::array<int, 2> to_us_{};
    std::array<int, 2> to_it_{};
    pid_t process_ = -1;
};

trace::session_file place_in(const temporary_folder& folder) {
    return {.traces = folder.path(), .date = "2026-11-30", .session_id = "s", .index = 1};
}

std::string refusal(const trace::session_file& where) {
    const auto refused = trace::file_sink::open(where);
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().code() == trace::errc::locked);
    return refused.error().message();
}

} // namespace

TEST_CASE("a second writer in the same process is refused until the first is gone") {
    const temporary_folder folder;
    auto where = place_in(folder);
    auto first = trace::file_sink::open(where);
    REQUIRE(first);
    where.index = 2; // the session is locked, not the file
    REQUIRE(refusal(where) == "trace: session s is being written by this process itself (" +
                                  std::to_string(::getpid()) + "), which holds " + where.lock_path() +
                                  "; a session has one writer at a time");
    first.value().reset();
    REQUIRE_FALSE(std::filesystem::exists(where.lock_path()));
    REQUIRE(trace::file_sink::open(where));
}

TEST_CASE("a second writer of a single file is refused too") {
    const temporary_folder folder;
    const auto first = open_sink(folder.file("t.jsonl"));
    const auto second = trace::file_sink::open(folder.file("t.jsonl"));
    REQUIRE_FALSE(second);
    REQUIRE(second.error().message().find("the file " + folder.file("t.jsonl")) != std::string::npos);
    REQUIRE(trace::file_sink::open(folder.file("u.jsonl")));
}

TEST_CASE("a writer in another process is named by its number, and lets go in the end") {
    const temporary_folder folder;
    const auto where = place_in(folder);
    other_writer other(where);
    REQUIRE(refusal(where).find("by process " + std::to_string(other.process()) + ",") != std::string::npos);
    other.finish();
    REQUIRE(trace::file_sink::open(where));
}

TEST_CASE("the lock of a killed process does not count") {
    const temporary_folder folder;
    const auto where = place_in(folder);
    other_writer other(where);
    other.kill();
    REQUIRE(std::filesystem::exists(where.lock_path()));
    auto opened = trace::file_sink::open(where);
    REQUIRE(opened);
    REQUIRE(bytes_of(where.lock_path()) == std::to_string(::getpid()) + "\n");
    opened.value().reset();
    REQUIRE_FALSE(std::filesystem::exists(where.lock_path()));
}

TEST_CASE("other sessions of the same folder are free") {
    const temporary_folder folder;
    auto where = place_in(folder);
    const auto first = trace::file_sink::open(where);
    where.session_id = "t";
    REQUIRE(first);
    REQUIRE(trace::file_sink::open(where));
}

TEST_CASE("a lock file that says nothing still locks") {
    const temporary_folder folder;
    const auto where = place_in(folder);
    const auto first = trace::file_sink::open(where);
    write_bytes(where.lock_path(), "");
    REQUIRE(refusal(where).find("by another process,") != std::string::npos);
}
