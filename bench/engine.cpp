// SPDX-License-Identifier: BSL-1.0

// bench-engine: what a session adds to the bare merge. A model that never waits gives an answer in 16-byte
// pieces; a consumer reads the run to its end. An item is one message of the stream.

#include "harness.hpp"

#include <thalweg/agent/agent.hpp>
#include <thalweg/agent/agent_view.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/async/merge.hpp>
#include <thalweg/async/scope.hpp>
#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/trace/file_sink.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <unistd.h>
#include <vector>

namespace thalweg::bench {
namespace {

constexpr unsigned many = 10'000; // sessions on one loop

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "bench-engine: %s\n", what.c_str());
    std::exit(1);
}

/// Answers with `pieces` pieces of text, a new block after every `block` of them.
class fountain {
public:
    fountain(std::uint64_t pieces, std::uint64_t block) noexcept : pieces_(pieces), block_(block) {}

    stream<delta, model_outcome> generate(model_request) {
        std::uint64_t in_block = 0;
        for (std::uint64_t n = 0; n < pieces_; ++n) {
            if (in_block++ == block_) {
                in_block = 1;
                co_yield delta::end();
            }
            co_yield delta::text(text("sixteen bytes!! "));
        }
        co_return model_outcome::completed();
    }

private:
    std::uint64_t pieces_;
    std::uint64_t block_;
};

/// Never answers.
struct silence {
    stream<delta, model_outcome> generate(model_request) {
        co_await stop_requested();
        co_return model_outcome::aborted();
    }
};

class scratch_folder {
public:
    scratch_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "thalweg-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) fail("cannot make a folder for the trace");
        path_ = name;
    }
    scratch_folder(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file() const { return (path_ / "trace.jsonl").string(); }

private:
    std::filesystem::path path_;
};

// One session, and the merge it stands on
// ----------------------------------------------------------------------------------------------------

task<> pour(merge<message>::producer to, std::uint64_t messages) {
    co_await yield();
    for (std::uint64_t n = 0; n < messages; ++n)
        co_await to.emplace(message::partial_text(frame::delta, text("sixteen bytes!! ")));
}

task<measurement> bare_merge(std::uint64_t messages) {
    merge<message> point;
    scope work(co_await this_coroutine());
    work.spawn(pour(point.attach(), messages));
    std::uint64_t seen = 0;
    const meter time;
    while (auto m = co_await point.next())
        ++seen;
    const measurement taken = time.stop(seen);
    co_await work.join();
    if (seen != messages) fail("the merge lost messages");
    co_return taken;
}

enum class tracing { none, memory, file };

task<measurement> one_session(std::uint64_t pieces, std::uint64_t block, tracing how) {
    const scratch_folder folder;
    trace::memory_sink memory;
    std::unique_ptr<trace::file_sink> file;
    session_options options;
    if (how == tracing::memory) options.trace = &memory;
    if (how == tracing::file) {
        auto opened = trace::file_sink::open(folder.file());
        if (!opened) fail(opened.error().message());
        file = std::move(opened.value());
        options.trace = file.get();
    }
    session chat(fountain(pieces, block), none, std::move(options));
    auto run = chat.run("go");
    std::uint64_t seen = 0;
    const meter time;
    while (auto m = co_await run.next())
        ++seen;
    const measurement taken = time.stop(seen);
    const std::uint64_t blocks = (pieces + block - 1) / block;
    if (!run.result().ok() || seen != pieces + 3 * blocks + 3) fail("the run has another number of messages");
    co_return taken;
}

// The second view of the same run
// ---------------------------------------------------------------------------------------------------

/// Every piece gives one update, and each update one call of a plain listener.
struct plain_listener {
    std::uint64_t updates = 0;
    void operator()(const agent_event& e) {
        if (e.kind() == agent_event::type::message_update) ++updates;
    }
};

enum class showing { facts, agent_view };

task<measurement> one_session_with_facts(std::uint64_t pieces, std::uint64_t block, showing what) {
    session chat(fountain(pieces, block), none);
    run_options options;
    options.facts = true;
    auto run = chat.run("go", options);
    agent_view view;
    agent_state state;
    plain_listener listener;
    std::uint64_t seen = 0;
    const meter time;
    while (auto m = co_await run.next()) {
        ++seen;
        if (what == showing::facts) continue;
        for (const agent_event& e : view.feed(*m)) {
            state.apply(e);
            listener(e);
        }
    }
    const measurement taken = time.stop(seen);
    const bool is_whole = what == showing::facts || listener.updates >= pieces;
    if (!run.result().ok() || !is_whole) fail("the run has another number of messages");
    co_return taken;
}

task<measurement> one_agent(std::uint64_t pieces, std::uint64_t block) {
    agent talker(fountain(pieces, block), none);
    plain_listener listener;
    auto told = talker.subscribe(std::ref(listener));
    auto run = talker.run("go");
    std::uint64_t seen = 0;
    const meter time;
    while (auto m = co_await run.next())
        ++seen;
    const measurement taken = time.stop(seen);
    if (!run.result().ok() || listener.updates < pieces) fail("the run has another number of messages");
    co_return taken;
}

// Many sessions
// --------------------------------------------------------------------------------------------------------------

using streaming_session = session<fountain, environments::no_tools>;

task<> read(streaming_session& of, std::uint64_t& seen) {
    auto run = of.run("go");
    while (auto m = co_await run.next())
        ++seen;
    if (!run.result().ok()) fail("a run failed: " + run.result().why());
}

task<measurement> sessions_at_once(std::uint64_t pieces, unsigned sessions) {
    const std::uint64_t each = std::max<std::uint64_t>(pieces / sessions, 1);
    std::vector<std::unique_ptr<streaming_session>> all;
    for (unsigned n = 0; n < sessions; ++n)
        all.push_back(std::make_unique<streaming_session>(fountain(each, each), none));
    std::uint64_t seen = 0;
    scope readers(co_await this_coroutine());
    const meter time;
    for (auto& one : all)
        readers.spawn(read(*one, seen));
    co_await readers.join();
    co_return time.stop(seen);
}

// Memory
// ---------------------------------------------------------------------------------------------------------------------

idle_memory rested(const char* name, std::uint64_t pieces) {
    loop here;
    std::vector<std::unique_ptr<streaming_session>> all;
    all.reserve(many);
    const std::size_t before = heap_bytes();
    for (unsigned n = 0; n < many; ++n) {
        all.push_back(std::make_unique<streaming_session>(fountain(pieces, 8), none));
        std::uint64_t seen = 0;
        if (pieces > 0) here.run(read(*all.back(), seen));
    }
    return {.contender = name, .producers = many, .bytes = static_cast<double>(heap_bytes() - before) / many};
}

task<idle_memory> waiting() {
    using one = session<silence, environments::no_tools>;
    struct open_run {
        open_run() : chat(silence{}, none), run(chat.run("go")) {}
        one chat;
        stream<message, run_outcome> run;
    };
    std::vector<std::unique_ptr<open_run>> all;
    all.reserve(many);
    const std::size_t before = heap_bytes();
    for (unsigned n = 0; n < many; ++n) {
        all.push_back(std::make_unique<open_run>());
        auto first = co_await all.back()->run.next();
        if (!first || first->kind() != kind::request_begin) fail("a run did not begin");
    }
    co_return idle_memory{.contender = "session, its model has not answered yet",
                          .producers = many,
                          .bytes = static_cast<double>(heap_bytes() - before) / many};
}

// ---------------------------------------------------------------------------------------------------------------------

template <class... Given>
contender make(const char* name, task<measurement> (*run)(std::uint64_t, Given...), Given... given) {
    return {.name = name, .run = [run, given...](std::uint64_t messages) {
                loop here;
                return here.run(run(messages, given...));
            }};
}

std::vector<group> groups() {
    constexpr std::uint64_t long_block = 10'000;
    std::vector<group> all;
    for (const std::uint64_t block : {long_block, std::uint64_t(8)}) {
        all.push_back({.table = "one session",
                       .mode = block == 8 ? "blocks of 8 pieces" : "blocks of 10000 pieces",
                       .contenders = {make("merge alone", bare_merge),
                                      make("session", one_session, block, tracing::none),
                                      make("session, trace in memory", one_session, block, tracing::memory),
                                      make("session, trace on a file", one_session, block, tracing::file)}});
    }
    for (const std::uint64_t block : {long_block, std::uint64_t(8)}) {
        all.push_back(
            {.table = "agent view of one run",
             .mode = block == 8 ? "blocks of 8 pieces" : "blocks of 10000 pieces",
             .contenders = {make("session with facts", one_session_with_facts, block, showing::facts),
                            make("session, agent view and a listener", one_session_with_facts, block,
                                 showing::agent_view),
                            make("agent with a listener", one_agent, block)}});
    }
    all.push_back(
        {.table = "sessions on one loop",
         .mode = "streaming at once",
         .contenders = {make("1 session", sessions_at_once, 1U), make("100 sessions", sessions_at_once, 100U),
                        make("10000 sessions", sessions_at_once, many)}});
    return all;
}

} // namespace
} // namespace thalweg::bench

int main(int argc, char** argv) {
    using namespace thalweg::bench;
    options chosen = parse_options(argc, argv,
                                   "bench-engine: a session on the merge; an item is one message");
    if (chosen.items == options().items) chosen.items = 4'000'000; // 400 for each of many sessions
    const std::vector<group> all = groups();
    if (chosen.list) {
        list_groups(all);
        return 0;
    }
    if (!chosen.once.empty()) return run_once(all, chosen);

    report done;
    done.bench = "engine";
    done.item = "message";
    done.where = look_at_machine();
    run_groups(all, chosen, done);
    if (chosen.tables.empty() && chosen.modes.empty() && chosen.only.empty()) {
        done.idle.push_back(rested("session, new", 0));
        done.idle.push_back(rested("session, one short answer behind it", 8));
        thalweg::loop here;
        done.idle.push_back(here.run(waiting()));
    }
    print_table(done);
    return write_files(done, chosen) ? 0 : 1;
}
