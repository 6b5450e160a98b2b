// SPDX-License-Identifier: BSL-1.0

// bench-trace: records of about 200 bytes into a trace file, all that became ready together in one write, or
// one write for each.

#include "harness.hpp"

#include <thalweg/async/loop.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/trace/file_sink.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <unistd.h>

namespace thalweg::bench {
namespace {

constexpr std::size_t ready_together = 64;

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "bench-trace: %s\n", what.c_str());
    std::exit(1);
}

// A folder of this run, removed when it ends.
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

std::uint64_t lines_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return static_cast<std::uint64_t>(
        std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

task<measurement> write_records(std::uint64_t records, std::size_t batch) {
    const scratch_folder folder;
    auto opened = trace::file_sink::open(folder.file());
    if (!opened) fail(opened.error().message());
    const std::string text(70, 'x'); // about 200 bytes with the members around it
    std::vector<message> ready;
    for (std::size_t n = 0; n < ready_together; ++n) {
        message record = message::user_text(text);
        record.stamp(1'764'500'000'000 + static_cast<std::int64_t>(n));
        ready.push_back(std::move(record));
    }
    const std::span<const message> all(ready);
    const std::uint64_t rounds = std::max<std::uint64_t>(records / ready_together, 1);

    const meter time;
    for (std::uint64_t round = 0; round < rounds; ++round)
        for (std::size_t at = 0; at < all.size(); at += batch) {
            auto written = co_await opened.value()->write(all.subspan(at, batch));
            if (!written) fail(written.error().message());
        }
    const measurement taken = time.stop(rounds * ready_together);
    if (lines_of(folder.file()) != rounds * ready_together)
        fail("the trace has not as many lines as records");
    co_return taken;
}

contender writer(const char* name, std::size_t batch, unsigned fraction) {
    return {.name = name,
            .run =
                [batch](std::uint64_t records) {
                    loop here;
                    return here.run(write_records(records, batch));
                },
            .fraction = fraction};
}

} // namespace
} // namespace thalweg::bench

int main(int argc, char** argv) {
    using namespace thalweg::bench;
    options chosen = parse_options(argc, argv,
                                   "bench-trace: records into a trace file; an item is one record");
    if (chosen.items == options().items) chosen.items = 200'000;
    std::vector<group> groups;
    groups.push_back({.table = "200-byte records",
                      .mode = "write",
                      .contenders = {writer("one write each", 1, 4),
                                     writer("thalweg (64 ready together)", ready_together, 1),
                                     writer("thalweg (8 ready together)", 8, 1)}});
    if (chosen.list) {
        list_groups(groups);
        return 0;
    }
    if (!chosen.once.empty()) return run_once(groups, chosen);

    report done;
    done.bench = "trace";
    done.item = "record";
    done.where = look_at_machine();
    run_groups(groups, chosen, done);
    print_table(done);
    return write_files(done, chosen) ? 0 : 1;
}
