// SPDX-License-Identifier: BSL-1.0

// Kills a process in the middle of a traced session, again and again, and goes on with what is left:
// every record that was shown is in the trace, the trace is in order, the resumed context is
// legal, the lock of the dead process holds nobody, and the session goes on.
//
//     kill_test           the test; the last line is `N passed, N failed`
//     kill_test DIR SEED  one process of a session in DIR, for ever
//     kill_test DIR SEED once  the same for one run
//
// The seeds say when a process is killed: behind how many lines of its output. It works on meanwhile, so that
// the place differs from time to time; what is asked of it holds at every place.

#include <thalweg/engine/resume.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/complaints.hpp>
#include <thalweg/testing/context_checker.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/testing/seed.hpp>
#include <thalweg/trace/check.hpp>
#include <thalweg/trace/file_sink.hpp>
#include <thalweg/trace/reader.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace thalweg;

constexpr std::string_view session_id = "session-2030-01-01-00-00-00-00000001";

trace::session_file first_file(const std::string& folder) {
    return {folder, "2030-01-01", std::string(session_id), 1};
}

// The process that is killed
// ------------------------------------------------------------------------------------------------------

providers::scripted_answer some_answer(testing::seed& draw) {
    providers::scripted_answer made = providers::answer();
    if (draw.chance(20)) made = std::move(made).wait(std::chrono::milliseconds(draw.below(3)));
    made = std::move(made).thinking("it ", "flows ").text("down ", std::string(draw.below(3'000), 'x'));
    for (std::size_t calls = draw.below(3); calls > 0; --calls)
        made = std::move(made).call("c", "work");
    if (draw.chance(10)) made = std::move(made).ends(model_outcome::failed("simulated"));
    return made;
}

providers::scripted_answer some_summary() {
    return providers::answer().text("[summary]all of it[/summary]");
}

/// Answers for ever; whoever asks for a summary gets one.
class endless_model {
public:
    explicit endless_model(testing::seed draw) : draw_(draw) {}
    [[nodiscard]] stream<delta, model_outcome> generate(model_request request) {
        const bool is_summary = request.last_text() == "Sum up.";
        script_.add(is_summary ? some_summary() : some_answer(draw_));
        return script_.generate(std::move(request));
    }

private:
    testing::seed draw_;
    testing::scripted_model script_;
};

bool print_line(const std::string& line) {
    const std::string whole = line + '\n';
    return ::write(STDOUT_FILENO, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());
}

task<int> work(session<endless_model&, testing::scripted_tools&>& chat, bool once) {
    int status = 0;
    do {
        run_options options;
        options.approve = allow_all;
        options.max_turns = 6;
        auto run = chat.run("go on", options);
        while (auto m = co_await run.next()) {
            if (m->is_recordable() && !print_line(to_json(*m))) co_return 4;
        }
        if (run.result().how() == run_outcome::end::busy) co_return 5;
        for (const std::string& sentence : testing::take_complaints()) {
            std::fprintf(stderr, "%s\n", sentence.c_str());
            status = 3;
        }
    } while (!once && status == 0);
    co_return status;
}

int be_killed(const std::string& folder, std::uint64_t from, bool once) {
    testing::seed draw(from);
    std::optional<resumed_state> before;
    trace::session_file where = first_file(folder);
    if (const auto newest = trace::newest_file(folder, session_id)) {
        where = newest.value();
        auto file = trace::reader::open(where.path());
        if (!file) return 6;
        std::vector<message> records;
        for (trace::record& each : trace::read_all(file.value()).records)
            records.push_back(std::move(each.content));
        before = resume(records);
    }
    trace::file_sink_options about;
    if (before) about.head = before->head;
    auto sink = trace::file_sink::open(where, std::move(about));
    if (!sink) {
        std::fprintf(stderr, "%s\n", sink.error().message().c_str());
        return 7;
    }
    if (before && before->context_closed) sink.value()->rotate();

    endless_model model(draw.fork());
    testing::scripted_tools tools{{"work", testing::after(std::chrono::milliseconds(draw.below(2)), "done")}};
    session_options options;
    options.trace = sink.value().get();
    options.retry.base = std::chrono::milliseconds(1);
    options.meta.emplace().session_id = text(session_id);
    options.compaction.emplace().prompt = "Sum up.";
    options.compaction->max_session_turns = 5;
    session<endless_model&, testing::scripted_tools&> chat(model, tools, std::move(options));
    if (before) {
        const auto restored = chat.restore(std::move(*before));
        if (!restored) return 8;
    }
    loop on;
    return on.run(work(chat, once));
}

// The process that kills
// ----------------------------------------------------------------------------------------------------------

class victim {
public:
    victim(const char* program, const std::string& folder, std::uint64_t from, bool once) {
        int ends[2];
        if (::pipe(ends) != 0) return;
        const std::string seed = std::to_string(from);
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(ends[1], STDOUT_FILENO);
            ::close(ends[0]);
            ::close(ends[1]);
            ::execl(program, program, folder.c_str(), seed.c_str(), once ? "once" : nullptr, nullptr);
            ::_exit(127);
        }
        ::close(ends[1]);
        out_ = ends[0];
    }
    victim(const victim&) = delete;
    ~victim() {
        if (out_ >= 0) ::close(out_);
    }

    /// Reads until there are `lines` lines, or the end.
    void read_lines(std::size_t lines) {
        while (shown_.size() < lines && read_some()) {}
    }
    /// The rest of what it has said, and its status as waitpid() gives it.
    int finish(bool kill) {
        if (process_ <= 0) return -1;
        if (kill) ::kill(process_, SIGKILL);
        while (read_some()) {}
        int status = -1;
        ::waitpid(process_, &status, 0);
        return status;
    }
    /// Whole lines.
    [[nodiscard]] const std::vector<std::string>& shown() const noexcept { return shown_; }

private:
    bool read_some() {
        char bytes[4096];
        const ssize_t got = ::read(out_, bytes, sizeof bytes);
        if (got <= 0) return false;
        rest_.append(bytes, static_cast<std::size_t>(got));
        for (std::size_t at = rest_.find('\n'); at != std::string::npos; at = rest_.find('\n')) {
            shown_.push_back(rest_.substr(0, at));
            rest_.erase(0, at + 1);
        }
        return true;
    }

    pid_t process_ = -1;
    int out_ = -1;
    std::string rest_;
    std::vector<std::string> shown_;
};

class examiner {
public:
    explicit examiner(std::string folder) : folder_(std::move(folder)) {}

    /// What is wrong with the trace after a process has died; empty if nothing is.
    std::string look(const std::vector<std::string>& shown) {
        for (const std::string& line : shown)
            shown_.insert(line);
        std::set<std::string> recorded;
        std::vector<message> newest;
        for (trace::session_file file = first_file(folder_); std::filesystem::exists(file.path());
             ++file.index) {
            auto in = trace::reader::open(file.path());
            if (!in) return in.error().message();
            newest.clear();
            for (trace::record& each : trace::read_all(in.value()).records) {
                recorded.insert(to_json(each.content));
                newest.push_back(std::move(each.content));
            }
            const auto report = trace::check_file(file.path());
            if (!report) return report.error().message();
            for (const trace::finding& each : report.value().findings) {
                if (each.how == trace::severity::fault) return trace::describe(report.value(), each);
            }
        }
        for (const std::string& line : shown_) {
            if (!recorded.contains(line)) return "shown, but not recorded: " + line;
        }
        const resumed_state state = resume(newest);
        const std::string fault = testing::context_fault(state.history, state.carry_over);
        return fault.empty() ? fault : "the resumed context: " + fault;
    }

private:
    std::string folder_;
    std::set<std::string> shown_;
};

int failed = 0;
int passed = 0;

void judge(const std::string& what, const std::string& fault) {
    ++(fault.empty() ? passed : failed);
    if (!fault.empty()) std::printf("%s: %s\n", what.c_str(), fault.substr(0, 600).c_str());
}

void kill_one_session(const char* program, const std::string& folder, std::uint64_t from) {
    constexpr int kills = 8;
    testing::seed draw(from);
    examiner trace(folder);
    for (int i = 1; i <= kills; ++i) {
        const std::string what = "session " + std::to_string(from) + ", kill " + std::to_string(i);
        victim process(program, folder, draw.next(), false);
        process.read_lines(draw.below(80));
        const int status = process.finish(true);
        const bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        judge(what, was_killed ? trace.look(process.shown())
                               : "it ended by itself with status " + std::to_string(status));
    }
    victim last(program, folder, draw.next(), true);
    const int status = last.finish(false);
    std::string fault;
    if (status != 0) fault = "a run after the last kill ends with status " + std::to_string(status);
    if (fault.empty() && last.shown().empty()) fault = "a run after the last kill says nothing";
    if (fault.empty()) fault = trace.look(last.shown());
    judge("session " + std::to_string(from) + ", going on", fault);
}

int kill_all(const char* program) {
    constexpr std::uint64_t sessions = 5;
    std::string folder = (std::filesystem::temp_directory_path() / "thalweg-kill-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    for (std::uint64_t i = 1; i <= sessions; ++i)
        kill_one_session(program, folder + "/" + std::to_string(i), i);
    if (failed == 0)
        std::filesystem::remove_all(folder);
    else
        std::printf("the traces are in %s\n", folder.c_str());
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** words) {
    if (count < 3) return kill_all("/proc/self/exe");
    return be_killed(words[1], std::strtoull(words[2], nullptr, 10), count > 3);
}
