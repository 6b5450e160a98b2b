// SPDX-License-Identifier: BSL-1.0

#include "providers/scratch.hpp"
#include "support/catch.hpp"

#include <thalweg/providers/detail/line_file.hpp>

#include <map>
#include <thread>

using namespace thalweg::testing;
using thalweg::providers::detail::line_file;

TEST_CASE("lines that many writers append at the same time are whole, and none is missing") {
    const scratch folder;
    const std::string path = folder.path("lines");
    constexpr int writers = 4;
    constexpr int lines = 100;
    {
        std::vector<std::thread> all;
        for (int n = 0; n < writers; ++n) {
            all.emplace_back([&path, n] {
                line_file file(path, line_file::start::append);
                const std::string line(static_cast<std::size_t>(5000 + n), static_cast<char>('a' + n));
                for (int i = 0; i < lines; ++i)
                    static_cast<void>(file.append(line));
            });
        }
        for (std::thread& each : all)
            each.join();
    }
    std::map<std::string, int> seen;
    for (const std::string& line : lines_of(path))
        ++seen[line];
    REQUIRE(seen.size() == writers);
    for (const auto& [line, count] : seen)
        REQUIRE(count == lines);
}

TEST_CASE("a file that cannot be written says so") {
    line_file full("/dev/full", line_file::start::append);
    const auto done = full.append("x");
    REQUIRE_FALSE(done);
    REQUIRE(done.error().code() == std::errc::no_space_on_device);
    REQUIRE(done.error().message() == "/dev/full cannot be written: No space left on device");
}
