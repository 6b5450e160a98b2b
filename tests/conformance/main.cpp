// SPDX-License-Identifier: BSL-1.0

// RUNNER DIR [--only CATEGORY] [--self-test]
//
// Plays every scenario of a folder and compares. One line per scenario that fails; the last line counts.
// With --self-test each expectation is also made wrong in many ways, and every wrong one must be noticed.

#include "expect.hpp"
#include "player.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace conformance;

struct arguments {
    std::string folder;
    std::string only;
    bool self_test = false;
};

std::optional<arguments> parse(int argc, char** argv) {
    arguments given;
    for (int n = 1; n < argc; ++n) {
        const std::string word = argv[n];
        if (word == "--self-test") {
            given.self_test = true;
        } else if (word == "--only" && n + 1 < argc) {
            given.only = argv[++n];
        } else if (!word.starts_with("-") && given.folder.empty()) {
            given.folder = word;
        } else {
            return std::nullopt;
        }
    }
    if (given.folder.empty()) return std::nullopt;
    return given;
}

struct tally {
    int passed = 0;
    int failed = 0;
    std::size_t mutants = 0;
};

/// What is wrong with a scenario, or empty.
std::string judge(const scenario& s, bool self_test, tally& t) {
    const observation o = play(s);
    if (auto wrong = difference(s.expect(), o.seen)) return *wrong;
    if (!o.checker.empty()) return "the stream checker objects:\n" + o.checker;
    if (!self_test) return {};
    for (const mutant& m : mutants(s.expect())) {
        ++t.mutants;
        if (!difference(m.expect, o.seen)) return "a wrong expectation was not noticed: " + m.what;
    }
    return {};
}

} // namespace

int main(int argc, char** argv) {
    const auto given = parse(argc, argv);
    if (!given) {
        std::fprintf(stderr, "usage: %s DIR [--only CATEGORY] [--self-test]\n", argv[0]);
        return 2;
    }
    std::vector<scenario> all;
    try {
        all = load_folder(given->folder);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
        return 2;
    }
    tally t;
    for (const scenario& s : all) {
        if (!given->only.empty() && s.category != given->only) continue;
        std::string wrong;
        try {
            wrong = judge(s, given->self_test, t);
        } catch (const std::exception& e) {
            wrong = e.what();
        }
        if (wrong.empty()) {
            ++t.passed;
            std::printf("passed %s\n", s.name.c_str());
        } else {
            ++t.failed;
            std::printf("FAILED %s: %s\n", s.name.c_str(), wrong.c_str());
        }
    }
    if (given->self_test) std::printf("%zu wrong expectations tried\n", t.mutants);
    if (t.passed + t.failed == 0) {
        std::fprintf(stderr, "error: no scenario of category '%s' in %s\n", given->only.c_str(),
                     given->folder.c_str());
        return 2;
    }
    std::printf("%d passed, %d failed\n", t.passed, t.failed);
    return t.failed == 0 ? 0 : 1;
}
